import { isDeepStrictEqual } from 'node:util';
import type { BaseTests, BaseTestsParts } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId } from './judge/judge.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import type { FileEdit } from './patch/patch.ts';
import { endAlike, testsReached, withTheOthers, type AskedOfTests } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import type { TestReport } from './runners/test-report.ts';

/* Whether the tests notice what a base's edits change: what a candidate for a task is asked before it is judged. */

export type Noticing =
  | { readonly state: 'noticed' }
  /** `reason`: one sentence. */
  | { readonly state: 'unnoticed'; readonly reason: string }
  /** The base gave no result. */
  | { readonly state: 'unusable'; readonly reason: string };

/** An edit may make a loop endless. Tests that take so much longer than without it are stopped, as mutation testing does. */
const SLOWER = 10;
const SLOWER_BY_MS = 30_000;

/**
 * Runs the tests that the edits reach, then all of them, and stops as soon as none notices the edits. What was run counts among the two runs of
 * `BaseTests.before`. Undefined if the workspace itself gives no result. Throws an error of the machine, or the signal's reason.
 */
export async function notices(parts: BaseTestsParts, tests: BaseTests, edits: readonly FileEdit[]): Promise<Noticing | undefined> {
  const whole = await tests.ofWorkspace().catch(unusable);
  if (whole instanceof UnusableRunError) return undefined;
  const timeoutMs = SLOWER_BY_MS + SLOWER * (whole.durationMs ?? 0);
  const asked = { whole, edits: [], changed: edits.map(({ path }) => path), ids: [], changes: edits };
  const reached = await testsReached(parts, tests, asked);
  if (reached?.only?.length === 0) return { state: 'unnoticed', reason: 'No test reaches it.' };
  const some = reached && (await resultsOfReached(parts, tests, { asked, reached, edits, timeoutMs }));
  if (some && !isWorse(whole, some.report)) return { state: 'unnoticed', reason: 'None of the tests that reach it notices it.' };
  const all = await tests.firstRun(timeoutMs).catch(unusable);
  if (all instanceof UnusableRunError) return { state: 'unusable', reason: `The tests could not be run before the change: ${all.message}` };
  if (!isWorse(whole, all.report)) return { state: 'unnoticed', reason: 'No test notices it.' };
  // The run of the reached tests is as good as a second one of all, if the others, which ended alike in two runs of the workspace, did so now.
  const others = ({ results }: TestReport): ReadonlyMap<string, string> =>
    new Map(results.filter(({ id }) => !reached?.covers(id) && !whole.flaky.has(id)).map(({ id, status }) => [id, status]));
  if (some && isDeepStrictEqual(others(all.report), others(whole.report)) && (await endAlike(parts, tests, asked, reached)))
    await tests.settleBefore(all, { ...all, report: some.report, flaky: whole.flaky });
  return { state: 'noticed' };
}

/** The results of the reached tests with the edits, with those of all others as they are without. Undefined if they say nothing. */
async function resultsOfReached(
  parts: BaseTestsParts, tests: BaseTests,
  { asked, reached, edits, timeoutMs }: { readonly asked: AskedOfTests; readonly reached: ReachedTests; readonly edits: readonly FileEdit[]; readonly timeoutMs: number },
): Promise<BaseRun | undefined> {
  // Files of tests are the same for many edits. Which tests call one function has to be tried for it alone, and only if they notice it.
  if (!reached.only && !(await endAlike(parts, tests, asked, reached))) return undefined;
  const some = await tests.someOf(reached, edits, timeoutMs).catch(unusable);
  return some instanceof UnusableRunError ? undefined : { ...some, report: withTheOthers(some.report, asked.whole.report, reached) };
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
