import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { compileWithGo, expectHonest, installed, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version').isHere;
const go = tryProgram('go', 'version').isHere;

const OPEN_JS = `export const open = () => ({ size: 0, close() { throw new Error('not closed'); } });\n`;
const OPEN_FIX = { 'open.js': [`throw new Error('not closed');`, 'this.size = -1;'] } as const;
const OPEN_PY = 'class Store:\n    size = 0\n\n    def close(self):\n        raise RuntimeError("not closed")\n';
const OPEN_PY_FIX = { 'store.py': ['raise RuntimeError("not closed")', 'self.size = -1'] } as const;

/** All tests pass, but what is around them fails: when they are torn down, or later. */
const PROJECTS: Record<string, HonestFix & { readonly isHere: boolean }> = {
  'a class of unittest': {
    isHere: python,
    files: {
      'store.py': OPEN_PY,
      'test_store.py': `
import unittest
from store import Store

class StoreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = Store()

    @classmethod
    def tearDownClass(cls):
        cls.store.close()

    def test_size(self):
        self.assertEqual(self.store.size, 0)
`,
    },
    fix: OPEN_PY_FIX,
    command: 'python3 -m unittest',
    mended: [],
  },
  'a fixture of pytest': {
    isHere: python,
    files: {
      'store.py': OPEN_PY,
      'test_store.py': `
import pytest
from store import Store

@pytest.fixture(scope='module')
def store():
    store = Store()
    yield store
    store.close()

def test_size(store):
    assert store.size == 0

def test_size_again(store):
    assert store.size == 0
`,
    },
    fix: OPEN_PY_FIX,
    command: 'python3 -m pytest',
    // pytest has the last test that uses a fixture fail with it.
    mended: ['test_store.py > test_size_again'],
  },
  'a suite of node:test': {
    isHere: true,
    files: {
      'package.json': '{"type":"module"}',
      'open.js': OPEN_JS,
      'open.test.js': `
import assert from 'node:assert';
import { after, describe, it } from 'node:test';
import { open } from './open.js';
describe('store', () => {
  const store = open();
  after(() => store.close());
  it('is empty', () => assert.equal(store.size, 0));
});
`,
    },
    fix: OPEN_FIX,
    command: 'node --test',
    mended: [],
  },
  'a file of node:test, long after its tests': {
    isHere: true,
    files: {
      'package.json': '{"type":"module"}',
      'open.js': OPEN_JS,
      'open.test.js': `
import assert from 'node:assert';
import { test } from 'node:test';
import { open } from './open.js';
test('is empty', () => {
  const store = open();
  assert.equal(store.size, 0);
  setTimeout(() => store.close(), 10);
});
`,
    },
    fix: OPEN_FIX,
    command: 'node --test',
    mended: [],
  },
  'a suite of mocha': {
    isHere: true,
    files: {
      ...installed('.bin', 'mocha'),
      'package.json': '{"type":"module"}',
      'open.js': OPEN_JS,
      'test/open.test.js': `
import assert from 'node:assert';
import { open } from '../open.js';
describe('store', () => {
  const store = open();
  after(() => store.close());
  it('is empty', () => assert.equal(store.size, 0));
});
`,
    },
    fix: OPEN_FIX,
    command: 'mocha',
    mended: [],
  },
  'a suite of vitest': {
    isHere: true,
    files: {
      ...installed('.bin', 'vitest', 'vite'),
      'package.json': '{"type":"module"}',
      'open.js': OPEN_JS,
      'open.test.js': `
import { afterAll, describe, expect, it } from 'vitest';
import { open } from './open.js';
describe('store', () => {
  const store = open();
  afterAll(() => store.close());
  it('is empty', () => { expect(store.size).toBe(0); });
});
`,
    },
    fix: OPEN_FIX,
    command: 'vitest run',
    mended: [],
  },
  'a package of go': {
    isHere: go,
    files: {
      'go.mod': 'module example.com/store\n\ngo 1.21\n',
      'store.go': 'package store\n\n// Close closes.\nfunc Close() bool { return false }\n',
      'store_test.go': 'package store\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tcode := m.Run()\n\tif !Close() {\n\t\tcode = 1\n\t}\n\tos.Exit(code)\n}\n\nfunc TestSize(t *testing.T) {}\n',
    },
    fix: { 'store.go': ['return false', 'return true'] },
    command: 'go test ./...',
    mended: [],
    noControl: 'what failed is no test',
  },
};

describe.skipIf(!available)(`an honest fix of what fails around tests that pass is verified (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS).filter(([, { isHere }]) => isHere))('of %s', async (_, honest) => {
    await expectHonest(honest, { before: honest.command.startsWith('go ') ? compileWithGo : () => {} });
  });
});
