import type { BaseTests, BaseTestsParts } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId } from './judge/judge.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import type { FileEdit } from './patch/patch.ts';
import { MOST_OF_THE_TIME, coveredTests, reachedTests, type ReachedTests } from './reach/reached-tests.ts';
import type { TestReport } from './runners/test-report.ts';

/* The tests that a change reaches run ahead of all others where these take long. What they say against a change holds; they never prove it. */

const LONG_SUITE_MS = 5_000;
const pays = (wholeMs: number, aloneMs: number): boolean => wholeMs >= LONG_SUITE_MS && aloneMs <= wholeMs * MOST_OF_THE_TIME;

/** What is asked of the tests of one state of the project. */
export interface AskedOfTests {
  /** All tests in this state: the workspace with `edits`. */
  readonly whole: BaseRun;
  readonly edits: readonly FileEdit[];
  readonly changed: readonly string[];
  /** Tests that run in any case. */
  readonly ids: readonly string[];
  /** What is changed of the workspace in all. A run of its tests then tells which of them call it; that run pays where many changes are judged. */
  readonly changes?: readonly FileEdit[];
}

/** The tests to run first, or undefined: they end as among all tests, and take less time. Throws an error of the machine, or the signal's reason. */
export async function testsToRunFirst(parts: BaseTestsParts, tests: BaseTests, asked: AskedOfTests): Promise<ReachedTests | undefined> {
  const reached = await testsReached(parts, tests, asked);
  return reached && (await endAlike(parts, tests, asked, reached)) ? reached : undefined;
}

/**
 * The tests that a change reaches, if it pays to run them first: as coverage tells, or else imports. There may be none. Throws an error of the machine,
 * or the signal's reason.
 */
export async function testsReached(
  { copies, paysToRunFirst = pays }: BaseTestsParts, tests: BaseTests, { whole: { report, durationMs = 0 }, changed, ids, changes }: AskedOfTests,
): Promise<ReachedTests | undefined> {
  const paysAtAll = paysToRunFirst(durationMs, 0);
  const { snapshot, chosen } = tests;
  // That no test calls it saves all runs, however short they are.
  const coverage = changes && (paysAtAll || ids.length === 0) ? await tests.coverage() : undefined;
  const covered = changes && coverage && coveredTests({ report, ids, chosen, edits: changes, coverage });
  if (covered?.only?.length === 0) return covered;
  if (!paysAtAll) return undefined;
  return covered ?? (await copies.onFiles(snapshot, (files) => reachedTests({ report, changed, ids, chosen, files })));
}

/**
 * Whether these tests end by themselves as among all tests, in at most half the time, in the state of the project that is asked about. They have
 * been run by themselves then. Throws an error of the machine, or the signal's reason.
 */
export async function endAlike(
  { paysToRunFirst = pays }: BaseTestsParts, tests: BaseTests, { whole: { report, durationMs = 0, flaky }, edits }: AskedOfTests, reached: ReachedTests,
): Promise<boolean> {
  const alone = await tests.someOf(reached, edits).catch(unusable);
  if (alone?.durationMs === undefined || !paysToRunFirst(durationMs, alone.durationMs)) return false;
  const results = byId(alone.report);
  // A test may need what another one leaves behind.
  return report.results.every(({ id, status }) => !reached.covers(id) || flaky.has(id) || results.get(id)?.status === status);
}

/** The results of some tests, with those of all others as they were before. */
export function withTheOthers(some: TestReport, before: TestReport, { covers }: ReachedTests): TestReport {
  return { results: [...some.results.filter(({ id }) => covers(id)), ...before.results.filter(({ id }) => !covers(id))] };
}

function unusable(error: unknown): undefined {
  if (!(error instanceof UnusableRunError)) throw error;
}
