import { counted } from '../../common/counted.ts';
import { ID_SEPARATOR, type TestResult } from '../runners/test-report.ts';
import type { BaseRun } from './base-run-cache.ts';
import { failingResults, type Judgement } from './judge.ts';

/*
 * Tests that failed before a change and that a person leaves out. They count as flaky ones do, neither for the change nor against it: what is
 * left is judged as in a project that does not have them. Who wrote the change has no say in it: which tests failed is known from the base.
 */

/** Which tests are left out if they failed before: all of them, or those of these ids. */
export type LeaveOut = 'failed before' | readonly string[];

export interface LeavingOut {
  readonly leaveOut?: LeaveOut | undefined;
  /** Ids of tests that must pass: none of them is left out. */
  readonly targets?: readonly string[];
}

/** The base with what is left out among what does not count. */
export function withLeftOut(before: BaseRun, { leaveOut, targets = [] }: LeavingOut): BaseRun {
  if (leaveOut === undefined) return before;
  const named = leaveOut === 'failed before' ? undefined : new Set(leaveOut);
  const isNamed = (id: string): boolean => (named === undefined || named.has(id)) && !targets.includes(id);
  const red = failingResults(before.report, before.flaky);
  const leftOut = new Set(red.filter((one) => redInside(one, red).some(({ id }) => isNamed(id))).map(({ id }) => id));
  return leftOut.size === 0 ? before : { ...before, flaky: new Set([...before.flaky, ...leftOut]), leftOut };
}

/** What fails in a file or suite, for which it may fail as well; otherwise the one itself. */
function redInside(one: TestResult, red: readonly TestResult[]): readonly TestResult[] {
  const inside = one.kind === 'container' ? red.filter(({ id }) => isInside(id, one.id)) : [];
  return inside.length > 0 ? inside : [one];
}

/** How many tests are left out, and files and suites that fail by themselves. */
export function leftOutCount({ leftOut = new Set() }: Pick<BaseRun, 'leftOut'>): number {
  const ids = [...leftOut];
  return ids.filter((id) => !ids.some((other) => isInside(other, id))).length;
}

/** The judgement, with the number of what it is without. */
export function tellingLeftOut(before: Pick<BaseRun, 'leftOut'>, judged: Judgement): Judgement {
  const count = leftOutCount(before);
  return count === 0 ? judged : { ...judged, reason: `${judged.reason} ${counted(count, 'test')} failed before and ${count === 1 ? 'was' : 'were'} left out.` };
}

const isInside = (id: string, container: string): boolean => id.startsWith(container + ID_SEPARATOR);
