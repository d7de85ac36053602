import { byId, isInside, type JudgedRun } from './judge.ts';
import type { TestReport, TestResult } from '../runners/test-report.ts';

/**
 * Ids of tests that ended differently in two runs of the same code. One that failed, and is missing in the other run because its file broke off there, such as
 * at a limit of time, has not passed in either.
 */
export function differing(first: TestReport, second: TestReport): ReadonlySet<string> {
  const [a, b] = [byId(first), byId(second)];
  return new Set([...a.keys(), ...b.keys()].filter((id) => a.get(id)?.status !== b.get(id)?.status
    && !failsAndIsHidden(a.get(id), b.get(id), second) && !failsAndIsHidden(b.get(id), a.get(id), first)));
}

function failsAndIsHidden(one: TestResult | undefined, other: TestResult | undefined, { results }: TestReport): boolean {
  return one?.kind === 'test' && one.status === 'failed' && other === undefined
    && results.some(({ id, kind, status, hidesAll }) => kind === 'container' && status === 'failed' && (hidesAll || isInside(one.id, id)));
}

export interface SettledRuns extends JudgedRun {
  /** Ids of tests that passed in every run before the patch, and in one of two runs after it. */
  readonly flaky: ReadonlySet<string>;
}

/**
 * Combines two runs of the patched code. A test that passed before and passes in one of them is flaky. Any other counts by its worse run:
 * a fail-to-pass test must pass each time, or a patch could make a failing test a random one.
 */
export function settle(before: TestReport, first: JudgedRun, second: JudgedRun): SettledRuns {
  const beforeById = byId(before);
  const secondById = byId(second.report);
  const unstable = differing(first.report, second.report);
  const isFlaky = (id: string): boolean => unstable.has(id) && beforeById.get(id)?.status === 'passed';
  const worse = (result: TestResult): TestResult | undefined => {
    const other = secondById.get(result.id);
    if (!unstable.has(result.id) || result.status === 'failed') return result;
    if (other?.status === 'failed') return other;
    return isFlaky(result.id) || result.status !== 'passed' ? result : other;
  };
  const inFirst = byId(first.report);
  const results = [
    ...first.report.results.flatMap((result) => worse(result) ?? []),
    // A test that only the second run reports counts if it failed or is flaky.
    ...second.report.results.filter(({ id, status }) => !inFirst.has(id) && (status === 'failed' || isFlaky(id))),
  ];
  return { report: { results }, ...worseExit(first, second), flaky: new Set([...unstable].filter(isFlaky)) };
}

function worseExit(first: JudgedRun, second: JudgedRun): Pick<JudgedRun, 'exitCode' | 'said'> {
  const { exitCode, said } = first.exitCode !== null && (first.exitCode === 0 || second.exitCode === null) ? second : first;
  return { exitCode, ...(said !== undefined && { said }) };
}
