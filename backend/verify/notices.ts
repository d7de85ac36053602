import { isDeepStrictEqual } from 'node:util';
import type { BaseTests, BaseTestsParts } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId } from './judge/judge.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import type { FileEdit } from './patch/patch.ts';
import { testsToRunFirst, withTheOthers } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import type { TestReport } from './runners/test-report.ts';

/* Whether the tests notice what a base's edits change: what a candidate for a task is asked before it is judged. */

/** What the tests say of a base. */
export interface Noticing {
  readonly isNoticed: boolean;
  /** Whether all tests were run, not only those that the edits reach. */
  readonly byAll: boolean;
  /** Why the base gave no result: then it is neither. */
  readonly problem?: string;
}

/** An edit may make a loop endless. Tests that take so much longer than without it are stopped; as mutation testing does. */
const SLOWER = 10;
const SLOWER_BY_MS = 30_000;

/**
 * Runs the tests that the edits reach, then all of them, and stops as soon as none notices the edits. What was run counts among the two runs of
 * `BaseTests.before`. Undefined if the workspace itself gives no result. Throws an error of the machine, or the signal's reason.
 */
export async function notices(parts: BaseTestsParts, tests: BaseTests, edits: readonly FileEdit[]): Promise<Noticing | undefined> {
  const whole = await tests.ofWorkspace().catch(unusable);
  if (!whole || whole instanceof UnusableRunError) return undefined;
  const timeoutMs = SLOWER_BY_MS + SLOWER * (whole.durationMs ?? 0);
  const reached = await testsToRunFirst(parts, tests, { whole, edits: [], changed: edits.map(({ path }) => path), ids: [] });
  const some = reached && (await tests.someOf(reached.command, edits, timeoutMs).catch(unusable));
  if (reached && some && !(some instanceof UnusableRunError) && !isWorse(whole, withTheOthers(some.report, whole.report, reached))) return { isNoticed: false, byAll: false };
  const all = await tests.firstRun(timeoutMs).catch(unusable);
  if (all instanceof UnusableRunError) return { isNoticed: false, byAll: true, problem: all.message };
  if (!isWorse(whole, all.report)) return { isNoticed: false, byAll: true };
  if (reached && some && !(some instanceof UnusableRunError)) await settle(tests, { whole, reached, some, all });
  return { isNoticed: true, byAll: true };
}

/**
 * The run of the reached tests is as good as a second one of all, if the others, which ended alike in two runs of the workspace, ended so
 * with the edits, too.
 */
async function settle(
  tests: BaseTests, { whole, reached, some, all }: { readonly whole: BaseRun; readonly reached: ReachedTests; readonly some: BaseRun; readonly all: BaseRun },
): Promise<void> {
  const second = { ...all, report: withTheOthers(some.report, whole.report, reached), flaky: whole.flaky };
  const others = ({ results }: TestReport): ReadonlyMap<string, string> =>
    new Map(results.filter(({ id }) => !reached.covers(id) && !whole.flaky.has(id)).map(({ id, status }) => [id, status]));
  if (isDeepStrictEqual(others(all.report), others(whole.report))) await tests.settleBefore(all, second);
}

/** Whether a test that passes in the workspace does not pass any more. */
function isWorse({ report: { results }, flaky }: BaseRun, after: TestReport): boolean {
  const now = byId(after);
  return results.some(({ id, kind, status }) => kind === 'test' && status === 'passed' && !flaky.has(id) && now.get(id)?.status !== 'passed');
}

function unusable(error: unknown): UnusableRunError {
  if (error instanceof UnusableRunError) return error;
  throw error;
}
