import { expect, it } from 'vitest';
import { verifyHint } from '../../backend/cli/verify-hint.ts';
import type { TestChange, TestStatus } from '../../backend/protocol/verdict.ts';

const change = (id: string, before: TestStatus, after: TestStatus, more: Partial<TestChange> = {}): TestChange => ({ id, before, after, ...more });
const mended = change('a.test.js > adds "two"', 'failed', 'passed');
const stillRed = change('b.test.js > time zone', 'failed', 'failed');
const failed = (tests: readonly TestChange[], chosen: { readonly test?: readonly string[]; readonly failedBefore?: string } = {}): string | undefined =>
  verifyHint({ outcome: 'failed', reason: 'Of 2 tests that failed before, 1 still did not pass.', notes: [], tests }, chosen);

it('names the tests that a change mends where the others were red before', () => {
  expect(failed([mended, stillRed, change('c', 'passed', 'passed')]))
    .toBe('To judge by the tests that the change mends, name them: --test \'a.test.js > adds "two"\'');
  expect(failed([...['1', '2', '3'].map((id) => change(id, 'failed', 'passed')), stillRed]))
    .toBe('To judge by the tests that the change mends, name them: --test \'1\' --test \'2\' --test \'3\'');
});

it('names the limit that a run of the tests has reached', () => {
  const stopped = { outcome: 'infrastructure', reason: 'The tests gave no result on the code as it is: The tests did not end within 300 s.', notes: [], tests: [] } as const;
  expect(verifyHint(stopped, {})).toBe('To give each run of the tests longer: --timeout SECONDS');
  expect(verifyHint(stopped, { timeout: '600' })).toBeUndefined();
});

it('says how to leave out the tests that failed before where the change mends none, or many', () => {
  const hint = 'To judge without the tests that failed before: --failed-before leave-out';
  expect(failed([stillRed, change('c', 'passed', 'passed')])).toBe(hint);
  // What it mends comes and goes.
  expect(failed([stillRed, change('a', 'failed', 'passed', { flaky: true })])).toBe(hint);
  // More than a person would type.
  expect(failed([...['1', '2', '3', '4'].map((id) => change(id, 'failed', 'passed')), stillRed])).toBe(hint);
});

it.each<[string, readonly TestChange[], { readonly test?: readonly string[]; readonly failedBefore?: string }?]>([
  ['the change breaks a test', [mended, stillRed, change('c', 'passed', 'failed')]],
  ['the change loses a test', [mended, stillRed, change('c', 'passed', 'missing')]],
  ['a new test fails', [mended, stillRed, change('c', 'missing', 'failed')]],
  ['it was said what becomes of them', [stillRed], { failedBefore: 'must-pass' }],
  ['nothing else is red', [mended]],
  ['tests were named', [mended, stillRed], { test: ['a'] }],
])('says nothing where %s', (_what, tests, chosen) => expect(failed(tests, chosen)).toBeUndefined());
