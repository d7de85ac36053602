import type { TestChange, TestStatus } from './verdict.ts';

/* What became of tests, in one way for the panel, the Test Explorer, the command line and the next round. */

/**
 * How a test changed. A test that passed before and now fails, is missing or does not run is `broken`. A `newly-failing` test did not run
 * before. A `flaky` test does not count, nor one that is `left-out`. A `not-run` test ran neither before nor after.
 */
export type ChangeKind = 'mended' | 'broken' | 'newly-failing' | 'still-failing' | 'added' | 'flaky' | 'left-out' | 'kept' | 'not-run';

type Compared = Pick<TestChange, 'before' | 'after' | 'flaky' | 'leftOut'>;

export function changeKind({ before, after, flaky, leftOut }: Compared): ChangeKind {
  if (leftOut) return 'left-out';
  if (flaky) return 'flaky';
  if (before === 'failed') return after === 'passed' ? 'mended' : 'still-failing';
  if (before === 'passed') return after === 'passed' ? 'kept' : 'broken';
  if (after === 'failed') return 'newly-failing';
  return after === 'passed' ? 'added' : 'not-run';
}

/** Whether the test counts at all, for the change or against it. */
export const counts = ({ flaky, leftOut }: Pick<TestChange, 'flaky' | 'leftOut'>): boolean => !flaky && !leftOut;

/** Whether the test counts against the change. */
export function isRed(test: Compared): boolean {
  const kind = changeKind(test);
  return kind === 'broken' || kind === 'newly-failing' || kind === 'still-failing';
}

const ran = (status: TestStatus): boolean => status === 'passed' || status === 'failed';

interface PassCount {
  readonly passed: number;
  readonly passedBefore: number;
  readonly total: number;
}

/** Passing tests after and before the change, and the total: all tests that count and ran before or after. */
export function passCount(tests: readonly TestChange[]): PassCount {
  const counted = tests.filter((test) => counts(test) && (ran(test.before) || ran(test.after)));
  const passing = (when: 'before' | 'after'): number => counted.filter((test) => test[when] === 'passed').length;
  return { passed: passing('after'), passedBefore: passing('before'), total: counted.length };
}

/** Tests that passed before the change and no longer pass. */
export function brokenCount(tests: readonly TestChange[]): number {
  return tests.filter((test) => changeKind(test) === 'broken').length;
}
