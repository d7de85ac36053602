import type { BaseTests, BaseTestsParts } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId } from './judge/judge.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import type { FileEdit } from './patch/patch.ts';
import { MOST_OF_THE_TIME, reachedTests, type ReachedTests } from './reach/reached-tests.ts';
import type { TestReport } from './runners/test-report.ts';

/* The tests that a change reaches run ahead of all others where these take long. What they say against a change holds; they never prove it. */

const LONG_SUITE_MS = 5_000;
const pays = (wholeMs: number, aloneMs: number): boolean => wholeMs >= LONG_SUITE_MS && aloneMs <= wholeMs * MOST_OF_THE_TIME;

/** What is asked of the tests of one state of the project. */
interface Asked {
  /** All tests in this state: the workspace with `edits`. */
  readonly whole: BaseRun;
  readonly edits: readonly FileEdit[];
  readonly changed: readonly string[];
  /** Tests that run in any case. */
  readonly ids: readonly string[];
}

/**
 * The tests to run first, or undefined. They have been run by themselves on the code as it is: they end as among all tests, and take at most
 * half the time. Throws an error of the machine, or the signal's reason.
 */
export async function testsToRunFirst(
  { copies, paysToRunFirst = pays }: BaseTestsParts, tests: BaseTests, { whole, edits, changed, ids }: Asked,
): Promise<ReachedTests | undefined> {
  const { report, durationMs = 0, flaky } = whole;
  if (!paysToRunFirst(durationMs, 0)) return undefined;
  const { snapshot, chosen } = tests;
  const reached = await copies.onFiles(snapshot, (files) => reachedTests({ report, changed, ids, chosen, files }));
  if (!reached) return undefined;
  const alone = await tests.someOf(reached.command, edits).catch(unusable);
  if (alone?.durationMs === undefined || !paysToRunFirst(durationMs, alone.durationMs)) return undefined;
  const results = byId(alone.report);
  // A test may need what another one leaves behind.
  const isAlike = report.results.every(({ id, status }) => !reached.covers(id) || flaky.has(id) || results.get(id)?.status === status);
  return isAlike ? reached : undefined;
}

/** The results of some tests, with those of all others as they were before. */
export function withTheOthers(some: TestReport, before: TestReport, { covers }: ReachedTests): TestReport {
  return { results: [...some.results.filter(({ id }) => covers(id)), ...before.results.filter(({ id }) => !covers(id))] };
}

function unusable(error: unknown): undefined {
  if (!(error instanceof UnusableRunError)) throw error;
}
