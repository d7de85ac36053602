import { counted } from '../../common/counted.ts';
import { ID_SEPARATOR, type TestReport, type TestResult } from '../runners/test-report.ts';
import type { TestChange, TestStatus, Verdict } from '../../protocol/verdict.ts';

export type Judgement = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'>;

/** A run of the tests, or what several runs of the same code settled on. */
export interface JudgedRun {
  readonly report: TestReport;
  /** Null if the command was ended by a signal. */
  readonly exitCode: number | null;
}

export interface JudgeOptions {
  /** Ids of tests that count neither for nor against. */
  readonly flaky?: ReadonlySet<string>;
  /** Ids of the tests that have to pass; without them, all that failed before. */
  readonly targets?: readonly string[];
  /** Ids of tests that say in their own source that they are skipped. */
  readonly declaredSkips?: ReadonlySet<string>;
}

/** Whether a report holds anything that can prove something: a test that ran, or a failure. */
export function hasEvidence(report: TestReport): boolean {
  return report.results.some(({ kind, status }) => (kind === 'test' && status !== 'skipped') || status === 'failed');
}

/** Tests and containers that failed and are not flaky. */
export function brokenTests(before: TestReport, flaky: ReadonlySet<string> = new Set()): readonly TestResult[] {
  return before.results.filter(({ id, status }) => status === 'failed' && !flaky.has(id));
}

/**
 * Compares the tests before and after a patch. Verified: at least one test failed before, all of those pass now, every test that
 * passed before still does, nothing else fails, and the command's end does not contradict that. A skipped or missing test is not a
 * passing one. With targets they take the place of the tests that failed before, of which the others may go on failing.
 *
 * A file or suite that failed by itself (it could not be loaded) hides its tests: those that appear in it after the patch count
 * as having failed before, but for those that declare themselves skipped. One that failed around tests that ran (when they were torn
 * down) is mended where it ends well with tests in it. Score: share of broken tests mended times share of passing
 * tests kept, and 0 where the command's own end contradicts it.
 */
export function judge(before: TestReport, { report: after, exitCode }: JudgedRun, options: JudgeOptions = {}): Judgement {
  const { flaky = new Set(), targets, declaredSkips = new Set() } = options;
  const beforeById = byId(before);
  const afterById = byId(after);
  const brokenContainers = brokenTests(before, flaky).filter(({ kind }) => kind === 'container');
  const isTarget = targets && new Set(targets);

  const changes: TestChange[] = [];
  let broken = 0;
  let mended = 0;
  let working = 0;
  let kept = 0;
  let mendedAround = 0;
  let newFailures = 0;
  let toleratedFailures = 0;
  for (const id of new Set([...beforeById.keys(), ...afterById.keys(), ...(targets ?? [])])) {
    const [old, now] = [beforeById.get(id), afterById.get(id)];
    const isContainer = (now ?? old)?.kind === 'container';
    const isFlaky = flaky.has(id);
    // A container is listed where it failed by itself and no test inside it stands for it.
    if (isContainer && (old?.status !== 'failed' || hasTestInside(after, id)) && now?.status !== 'failed') {
      if (old?.status === 'failed' && !isTarget && !isFlaky && failedAround(before, id)) mendedAround += 1;
      continue;
    }
    const change = changeOf(id, old, now, { isContainer, isFlaky });
    changes.push(change);
    const wasBroken = change.before === 'failed' || isNewIn(brokenContainers, id, old);
    if (isFlaky || (wasBroken && isTarget !== undefined && !isTarget.has(id))) {
      if (change.after === 'failed') toleratedFailures += 1;
    } else if (isTarget ? isTarget.has(id) : wasBroken) {
      if (old === undefined && change.after === 'skipped' && declaredSkips.has(id)) continue;
      broken += 1;
      if (change.after === 'passed') mended += 1;
    } else if (change.before === 'passed') {
      working += 1;
      if (change.after === 'passed') kept += 1;
    } else if (change.after === 'failed') newFailures += 1;
  }

  const wrong = broken + mendedAround;
  const score = (wrong === 0 ? 0 : (mended + mendedAround) / wrong) * (working === 0 ? 1 : kept / working);
  const failed = (reason: string, failedScore = 0): Judgement => ({
    verified: false,
    score: failedScore,
    outcome: 'failed',
    reason,
    tests: changes,
  });
  if (wrong === 0) return failed('No test failed before the change.');
  const wanted = isTarget ? `Of ${counted(broken, 'named test')}` : `Of ${counted(broken, 'test')} that failed before`;
  if (mended < broken) return failed(`${wanted}, ${broken - mended} ${isTarget ? 'did' : 'still did'} not pass.`, score);
  if (kept < working)
    return failed(`Of ${counted(working, 'test')} that passed before, ${working - kept} did not pass any more.`, score);
  if (newFailures > 0) return failed(`${counted(newFailures, 'test')} failed that had not failed before.`);
  const ending = exitCode === null ? 'by a signal' : `with exit code ${exitCode}`;
  if (exitCode === null || (exitCode !== 0 && toleratedFailures === 0))
    return failed(`Every test passed, but the command ended ${ending}.`);
  const mendedOnes = isTarget ? `${counted(broken, 'named test')} passed` : `${counted(broken, 'test')} that failed before passed`;
  const what = broken > 0 ? mendedOnes : 'What failed around tests that passed does no longer';
  const reason = `${what}, and ${counted(working, 'test')} that passed still did.`;
  return { verified: true, score: 1, outcome: 'verified', reason, tests: changes };
}

/** The tests that a verdict rests on: those that had to be mended, or around which something had to be, and pass. */
export function mendedTests(before: TestReport, after: TestReport, { flaky = new Set(), targets }: JudgeOptions): readonly string[] {
  const beforeById = byId(before);
  const brokenContainers = brokenTests(before, flaky).filter(({ kind }) => kind === 'container');
  const failedAroundTests = brokenContainers.filter(({ id }) => failedAround(before, id));
  return after.results
    .filter(({ id, kind, status }) => {
      if (kind !== 'test' || status !== 'passed' || flaky.has(id)) return false;
      if (targets) return targets.includes(id);
      const old = beforeById.get(id);
      return old?.status === 'failed' || isNewIn(brokenContainers, id, old) || failedAroundTests.some((container) => isInside(id, container.id));
    })
    .map(({ id }) => id);
}

function changeOf(
  id: string,
  old: TestResult | undefined,
  now: TestResult | undefined,
  { isContainer, isFlaky }: { readonly isContainer: boolean; readonly isFlaky: boolean },
): TestChange {
  // A container that passes has proven nothing: with no test inside it is as good as missing.
  const status = (result: TestResult | undefined): TestStatus =>
    result === undefined || (isContainer && result.status === 'passed') ? 'missing' : result.status;
  return {
    id,
    before: status(old),
    after: status(now),
    ...(now?.status === 'failed' && now.message !== undefined && { message: now.message }),
    ...(isFlaky && { flaky: true }),
    ...(now?.durationMs !== undefined && { durationMs: now.durationMs }),
  };
}

export function byId(report: TestReport): ReadonlyMap<string, TestResult> {
  return new Map(report.results.map((result) => [result.id, result]));
}

const isInside = (id: string, container: string): boolean => id.startsWith(container + ID_SEPARATOR);

/** Whether a test was not there before because what holds it failed. */
function isNewIn(brokenContainers: readonly TestResult[], id: string, old: TestResult | undefined): boolean {
  return old === undefined && brokenContainers.some((container) => isInside(id, container.id));
}

function hasTestInside(report: TestReport, container: string): boolean {
  return report.results.some(({ id, kind }) => kind === 'test' && isInside(id, container));
}

/** Whether there were tests in a container that failed, and none of them stands for its failure. */
function failedAround(report: TestReport, container: string): boolean {
  const inside = report.results.filter(({ id, kind }) => kind === 'test' && isInside(id, container));
  return inside.length > 0 && inside.every(({ status }) => status !== 'failed');
}
