import { ID_SEPARATOR, type TestReport, type TestResult } from './test-report.ts';
import type { TestChange, TestStatus, Verdict } from './verdict.ts';

export type Judgement = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'>;

/** Whether a report holds anything that can prove something: a test that ran, or a failure. */
export function hasEvidence(report: TestReport): boolean {
  return report.results.some(({ kind, status }) => (kind === 'test' && status !== 'skipped') || status === 'failed');
}

export function brokenTests(before: TestReport): readonly TestResult[] {
  return before.results.filter(({ status }) => status === 'failed');
}

/**
 * Compares the tests before and after a patch. Verified: at least one test failed before, all of those pass now, every test that
 * passed still does, nothing else fails, and the command ended with 0. A skipped or missing test is not a passing one.
 *
 * A file or suite that failed by itself (it could not be loaded) hides its tests: those that appear in it after the patch count
 * as having failed before. Score: share of broken tests mended times share of passing tests kept, and 0 where the command's own
 * end contradicts it.
 */
export function judge(before: TestReport, after: TestReport, exitCode: number | null): Judgement {
  const beforeById = byId(before);
  const afterById = byId(after);
  const brokenContainers = brokenTests(before).filter(({ kind }) => kind === 'container');

  const changes: TestChange[] = [];
  let broken = 0;
  let mended = 0;
  let working = 0;
  let kept = 0;
  let newFailures = 0;
  for (const id of new Set([...beforeById.keys(), ...afterById.keys()])) {
    const [old, now] = [beforeById.get(id), afterById.get(id)];
    const isContainer = (now ?? old)?.kind === 'container';
    // A container is listed where it failed by itself and no test inside it stands for it.
    if (isContainer && (old?.status !== 'failed' || hasTestInside(after, id)) && now?.status !== 'failed') continue;
    const change = changeOf(id, old, now, isContainer);
    changes.push(change);
    const wasBroken =
      change.before === 'failed' || (old === undefined && brokenContainers.some((container) => isInside(id, container.id)));
    if (wasBroken) {
      broken += 1;
      if (change.after === 'passed') mended += 1;
    } else if (change.before === 'passed') {
      working += 1;
      if (change.after === 'passed') kept += 1;
    }
    if (change.after === 'failed' && !wasBroken && change.before !== 'passed') newFailures += 1;
  }

  const score = (broken === 0 ? 0 : mended / broken) * (working === 0 ? 1 : kept / working);
  const failed = (reason: string, failedScore = 0): Judgement => ({
    verified: false,
    score: failedScore,
    outcome: 'failed',
    reason,
    tests: changes,
  });
  if (broken === 0) return failed('No test failed before the change.');
  if (mended < broken)
    return failed(`Of ${counted(broken, 'test')} that failed before, ${broken - mended} still did not pass.`, score);
  if (kept < working)
    return failed(`Of ${counted(working, 'test')} that passed before, ${working - kept} did not pass any more.`, score);
  if (newFailures > 0) return failed(`${counted(newFailures, 'test')} failed that had not failed before.`);
  const ending = exitCode === null ? 'by a signal' : `with exit code ${exitCode}`;
  if (exitCode !== 0) return failed(`Every test passed, but the command ended ${ending}.`);
  const reason = `${counted(broken, 'test')} that failed before passed, and ${counted(working, 'test')} that passed still did.`;
  return { verified: true, score: 1, outcome: 'verified', reason, tests: changes };
}

function changeOf(id: string, old: TestResult | undefined, now: TestResult | undefined, isContainer: boolean): TestChange {
  // A container that passes has proven nothing: with no test inside it is as good as missing.
  const status = (result: TestResult | undefined): TestStatus =>
    result === undefined || (isContainer && result.status === 'passed') ? 'missing' : result.status;
  return {
    id,
    before: status(old),
    after: status(now),
    ...(now?.status === 'failed' && now.message !== undefined && { message: now.message }),
    ...(now?.durationMs !== undefined && { durationMs: now.durationMs }),
  };
}

function byId(report: TestReport): ReadonlyMap<string, TestResult> {
  return new Map(report.results.map((result) => [result.id, result]));
}

const isInside = (id: string, container: string): boolean => id.startsWith(container + ID_SEPARATOR);

function hasTestInside(report: TestReport, container: string): boolean {
  return report.results.some(({ id, kind }) => kind === 'test' && isInside(id, container));
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
