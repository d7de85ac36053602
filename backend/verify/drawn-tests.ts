import { secretDice } from './control/dice.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId, isInside, type JudgedRun } from './judge/judge.ts';
import type { ChosenRunner } from './runners/choose-runner.ts';
import type { TestReport } from './runners/test-report.ts';

/*
 * Tests that passed before, held against a patch. Code that shares a process with its tests can hide that it breaks one of them: it silences what compares
 * for the length of that test. So in the second run with the patch, some of these tests expect something else, and each has to fail. For all other tests
 * that run is what it would be anyway, and no run is added.
 */

/** A test that fails takes longer than one that passes, and may wait for something. */
const MOST = 20;

/** Ids of some tests that passed before, drawn anew each time. None where tests are compiled together, since one that does not compile would hide all. */
export function drawnTests({ report, flaky }: Pick<BaseRun, 'report' | 'flaky'>, { runner }: Pick<ChosenRunner, 'runner'>): readonly string[] {
  if (runner.idRoot !== 'file' || runner.provesAtMost !== undefined) return [];
  const left = report.results.filter(({ id, kind, status }) => kind === 'test' && status === 'passed' && !flaky.has(id)).map(({ id }) => id);
  const drawn: string[] = [];
  while (left.length > 0 && drawn.length < MOST) drawn.push(...left.splice(secretDice(left.length), 1));
  return drawn;
}

/** How long such a run may take, from how long the tests took before: beyond that it is given up. */
export const limitOfDrawn = ({ durationMs }: Pick<BaseRun, 'durationMs'>): number | undefined => (durationMs === undefined ? undefined : 3 * durationMs + 10_000);

/** A run in which `altered` tests expect something else, as if they did not: they, and the suites around them, end as in the run `as`. */
export function unaltered(run: JudgedRun, as: JudgedRun, altered: ReadonlySet<string>): JudgedRun {
  const known = byId(as.report);
  const isAround = (id: string): boolean => [...altered].some((inner) => inner === id || isInside(inner, id));
  const results = run.report.results.map((result) => (isAround(result.id) ? (known.get(result.id) ?? result) : result));
  const isRed = run.report.results.some(({ id, status }) => status === 'failed' && altered.has(id));
  return isRed ? { ...as, report: { ...run.report, results } } : { ...run, report: { ...run.report, results } };
}

/** Which of these tests passed. */
export function passing({ results }: TestReport, ids: ReadonlySet<string>): readonly string[] {
  return results.filter(({ id, status }) => status === 'passed' && ids.has(id)).map(({ id }) => id);
}
