import { describe, expect, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

/**
 * In which of the runs, counted from 0, the test beside the mended one fails: base runs twice, and so does the fix. The fix runs again at once
 * with the negative control, so that either may come first: both count as run 3.
 */
const FAILS_IN = [[0], [1], [2], [3], [0, 2], [1, 3], [1, 2, 3], [0, 3]];

const NODE: HonestFix = {
  files: {
    'package.json': '{"type":"module"}',
    'src/half.js': 'export const half = (number) => number / 3;\n',
    'test/half.test.js': `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { half } from '../src/half.js';
test('half', () => assert.equal(half(4), 2));
test('steady', () => assert.equal(half(0), 0));
test('unsteady', () => assert.ok(!process.env.FAILS_IN.split(',').includes(process.env.RUN)));
`,
  },
  fix: { 'src/half.js': ['/ 3', '/ 2'] },
  command: 'node --test',
  mended: ['test/half.test.js > half'],
};

const PYTEST: HonestFix = {
  files: {
    'half.py': 'def half(number):\n    return number / 3\n',
    'test_half.py': 'from half import half\n\ndef test_half():\n    assert half(4) == 2\n',
    'test_unsteady.py': `
import os
import random
import pytest

def test_unsteady():
    assert os.environ['RUN'] not in os.environ['FAILS_IN'].split(',')

@pytest.mark.parametrize('number', [random.random() for _ in range(3)])
def test_with_another_name_each_time(number):
    assert 0 <= number < 1
`,
  },
  fix: { 'half.py': ['/ 3', '/ 2'] },
  command: 'python3 -m pytest',
  mended: ['test_half.py > test_half'],
};

async function judgeUnsteady(honest: HonestFix, failsIn: readonly number[]): Promise<void> {
  await using scratch = await makeScratch();
  const environment = (run: number): Record<string, string> => ({ RUN: String(Math.min(run, 3)), FAILS_IN: failsIn.join() });
  const verdict = await judgeFix(scratch, honest, { environment });
  const steady = verdict.tests.filter(({ id }) => !id.includes('with_another_name'));
  expectVerified({ ...verdict, tests: steady.filter(({ id }) => !/unsteady$/.test(id)) }, honest);
  // In the last run it expects something else and fails anyway: it is among the tests that are drawn.
  if (failsIn.every((run) => run === 3)) return;
  expect(steady.find(({ id }) => /unsteady$/.test(id))?.flaky).toBe(true);
  expect(verdict.notes.join()).toMatch(/flaky/);
}

describe.skipIf(!available)(
  `an honest fix is verified beside a test that fails at random, which is left out and said (${note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(FAILS_IN.map((runs) => ({ runs })))('in runs $runs, of node:test', async ({ runs }) => await judgeUnsteady(NODE, runs));
    it.runIf(python.isHere).each([{ runs: [0] }, { runs: [3] }])(`in runs $runs, of pytest (${python.note})`, async ({ runs }) => await judgeUnsteady(PYTEST, runs));
  },
);
