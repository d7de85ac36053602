import { describe, expect, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { compileWithGo, expectVerified, installed, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const pytest = tryProgram('python3', '-m', 'pytest', '--version').isHere;
const go = tryProgram('go', 'version').isHere;
const cargo = tryProgram('cargo', '--version').isHere;

const HALF_JS = 'export const half = (number) => number / 2;\n';

/** Tests that nobody saw before, because what they are in could not be loaded, and that skip themselves now that it can. */
const PROJECTS: Record<string, HonestFix & { readonly isHere: boolean }> = {
  pytest: {
    isHere: pytest,
    files: {
      'test_half.py': `
import sys
import unittest
import pytest
from half import half

def test_half():
    assert half(4) == 2

@pytest.mark.skip(reason='later')
def test_later():
    assert half(3) == 1

@pytest.mark.skipif(sys.platform != 'amiga', reason='only there')
def test_elsewhere():
    assert half(3) == 1

@pytest.mark.xfail
def test_known():
    assert half(3) == 1

@pytest.mark.parametrize('number', [1, pytest.param(2, marks=pytest.mark.skip)])
def test_some(number):
    assert half(number) < number

@pytest.mark.skip
class TestLater:
    def test_in_a_class(self):
        assert False

class TestOld(unittest.TestCase):
    @unittest.skip('old')
    def test_old(self):
        self.fail()
`,
    },
    fix: { 'half.py': 'def half(number):\n    return number / 2\n' },
    command: 'python3 -m pytest',
    mended: ['test_half.py > test_half', 'test_half.py > test_some[1]'],
  },
  unittest: {
    isHere: pytest,
    files: {
      'test_half.py': `
import sys
import unittest
from half import half

class HalfTest(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(4), 2)

    @unittest.skip('later')
    def test_later(self):
        self.fail()

    @unittest.skipIf(sys.version_info < (99,), 'needs Python 99')
    def test_future(self):
        self.fail()

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(half(3), 1)

@unittest.skip('all of them')
class LaterTest(unittest.TestCase):
    def test_in_a_class(self):
        self.fail()
`,
    },
    fix: { 'half.py': 'def half(number):\n    return number / 2\n' },
    command: 'python3 -m unittest',
    mended: ['test_half.py > HalfTest > test_half'],
  },
  'node:test': {
    isHere: true,
    files: {
      'package.json': '{"type":"module"}',
      'half.test.js': `
import assert from 'node:assert';
import { describe, it, test } from 'node:test';
import { half } from './half.js';
test('half', () => assert.equal(half(4), 2));
test.skip('later', () => assert.fail());
test('elsewhere', { skip: process.platform !== 'amiga' }, () => assert.fail());
test('some day', { todo: true }, () => assert.fail());
test.todo('planned');
describe.skip('all of them', () => { it('in a suite', () => assert.fail()); });
`,
    },
    fix: { 'half.js': HALF_JS },
    command: 'node --test',
    mended: ['half.test.js > half'],
  },
  vitest: {
    isHere: true,
    files: {
      ...installed('.bin', 'vitest', 'vite'),
      'package.json': '{"type":"module"}',
      'half.test.js': `
import { describe, expect, it } from 'vitest';
import { half } from './half.js';
it('half', () => { expect(half(4)).toBe(2); });
it.skip('later', () => { expect(1).toBe(2); });
it.skipIf(process.platform !== 'amiga')('elsewhere', () => { expect(1).toBe(2); });
it.runIf(process.platform === 'amiga').each([1])('elsewhere %i', () => { expect(1).toBe(2); });
it.todo('planned');
describe.skip('all of them', () => { it('in a suite', () => { expect(1).toBe(2); }); });
`,
    },
    fix: { 'half.js': HALF_JS },
    command: 'vitest run',
    mended: ['half.test.js > half'],
  },
  mocha: {
    isHere: true,
    files: {
      ...installed('.bin', 'mocha'),
      'package.json': '{"type":"module"}',
      'test/half.test.js': `
import assert from 'node:assert';
import { half } from '../half.js';
describe('half', () => {
  it('of four', () => assert.equal(half(4), 2));
  it.skip('later', () => assert.fail());
  it('planned');
  xit('old', () => assert.fail());
});
describe.skip('all of them', () => { it('in a suite', () => assert.fail()); });
`,
    },
    fix: { 'half.js': HALF_JS },
    command: 'mocha',
    mended: ['test/half.test.js > half > of four'],
  },
  go: {
    isHere: go,
    files: {
      'go.mod': 'module example.com/half\n\ngo 1.21\n',
      'half_test.go': `package half

import (
	"runtime"
	"testing"
)

func TestHalf(t *testing.T) {
	if Half(4) != 2 {
		t.Fail()
	}
}

func TestLater(t *testing.T) {
	t.Skip("later")
	t.Fail()
}

func TestElsewhere(t *testing.T) {
	if runtime.GOOS != "amiga" {
		t.Skipf("only there, not on %s", runtime.GOOS)
	}
	t.Fail()
}
`,
    },
    fix: { 'half.go': 'package half\n\n// Half is half of a number.\nfunc Half(number int) int { return number / 2 }\n' },
    command: 'go test ./...',
    mended: ['example.com/half > TestHalf'],
  },
  cargo: {
    isHere: cargo,
    files: {
      'Cargo.toml': '[package]\nname = "half-of"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': '//! Halves.\n',
      'tests/half.rs': `#[test]
fn half() {
    assert_eq!(half_of::half(4), 2);
}

#[test]
#[ignore = "later"]
fn later() {
    panic!();
}
`,
    },
    fix: { 'src/lib.rs': '//! Halves.\n\n/// Half of a number.\npub fn half(number: i32) -> i32 {\n    number / 2\n}\n' },
    command: 'cargo test',
    mended: ['half-of > test half > half'],
  },
};

describe.skipIf(!available)(
  `an honest fix that lets tests be loaded at all is verified, although some of them skip themselves (${note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(PROJECTS).filter(([, { isHere }]) => isHere))('of %s', async (_, honest) => {
      await using scratch = await makeScratch();
      const verdict = await judgeFix(scratch, honest, { before: honest.command.startsWith('go ') ? compileWithGo : () => {} });
      expectVerified(verdict, honest);
      expect(verdict.tests.filter(({ after }) => after === 'skipped')).not.toEqual([]);
    });
  },
);
