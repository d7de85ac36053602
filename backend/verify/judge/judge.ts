import { clip } from '../../common/clip.ts';
import { counted } from '../../common/counted.ts';
import { listed } from '../../common/listed.ts';
import { heldBack } from './held-back.ts';
import { NO_NETWORK } from './not-installed.ts';
import { BROKEN_RUN, ID_SEPARATOR, type TestReport, type TestResult } from '../runners/test-report.ts';
import type { TestChange, TestStatus, Verdict } from '../../protocol/verdict.ts';

/** Characters of an error's last line in a reason. */
const MAX_LAST_LINE = 200;
/** And of names of tests. */
const MAX_NAMED = 300;

export type Judgement = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'>;

/** A run of the tests, or the combined result of several runs of the same code. */
export interface JudgedRun {
  readonly report: TestReport;
  /** Null if the command did not end by itself. */
  readonly exitCode: number | null;
  /** The end of what the command printed. It tells why a command fails whose tests pass. */
  readonly said?: string;
}

export interface JudgeOptions {
  /** Ids of tests that do not count. */
  readonly flaky?: ReadonlySet<string>;
  /** Ids of tests that do not count, because they failed before and a person left them out; with a file that could not be loaded, its tests. */
  readonly leftOut?: ReadonlySet<string> | undefined;
  /** Ids of the tests that must pass: the fail-to-pass tests. By default, all that failed before. */
  readonly targets?: readonly string[];
  /** Ids of tests that are skipped in their source. */
  readonly declaredSkips?: ReadonlySet<string>;
}

/** Whether a report proves anything: a test ran, or something failed. */
export function hasEvidence(report: TestReport): boolean {
  return report.results.some(({ kind, status }) => (kind === 'test' && status !== 'skipped') || status === 'failed');
}

/** Tests and containers that failed and are not flaky. */
export function failingResults(before: TestReport, flaky: ReadonlySet<string> = new Set()): readonly TestResult[] {
  return before.results.filter(({ id, status }) => status === 'failed' && !flaky.has(id));
}

/**
 * Compares the tests before and after a patch. Verified: there is a fail-to-pass test, all fail-to-pass and pass-to-pass tests pass, no
 * other test starts to fail, and the exit code agrees. A skipped or missing test does not pass. With `targets`, these are the
 * fail-to-pass tests, and other tests that failed before may still fail.
 *
 * A file or suite may fail by itself, because it cannot be loaded. Then its tests are hidden: those that appear after the patch count as
 * fail-to-pass, unless their source skips them. A file or suite may also fail around tests that ran, in their teardown. It counts as
 * fail-to-pass, too, and passes if it ends well with tests in it. A package without tests passes if it can be built.
 *
 * The score is the fail-to-pass rate times the pass-to-pass rate, and 0 if the exit code contradicts it.
 */
export function judge(before: TestReport, { report: after, exitCode, said = '' }: JudgedRun, options: JudgeOptions = {}): Judgement {
  const { flaky = new Set(), leftOut = new Set(), targets, declaredSkips = new Set() } = options;
  const beforeById = byId(before);
  const afterById = byId(after);
  const failingContainers = failingResults(before, new Set([...flaky, ...leftOut])).filter(({ kind }) => kind === 'container');
  const leftOutContainers = failingResults(before).filter(({ id, kind }) => kind === 'container' && leftOut.has(id) && !hasTestInside(before, id));
  const isTarget = targets && new Set(targets);

  const changes: TestChange[] = [];
  const failToPass = { total: 0, passed: 0 };
  const passToPass = { total: 0, passed: 0 };
  const notLoaded: TestResult[] = [];
  const stillRed: string[] = [];
  let recoveredContainers = 0;
  let isBuiltAgain = false;
  let newFailures = 0;
  let toleratedFailures = 0;
  for (const id of new Set([...beforeById.keys(), ...afterById.keys(), ...(targets ?? [])])) {
    const [old, now] = [beforeById.get(id), afterById.get(id)];
    const isContainer = (now ?? old)?.kind === 'container';
    const isLeftOut = leftOut.has(id) || isNewIn(leftOutContainers, id, old);
    const isFlaky = flaky.has(id) && !isLeftOut;
    if (isContainer && (now?.isEmpty || (old?.hidesAll && now === undefined && hasTest(after)))) {
      if (old?.status === 'failed' && !isTarget && !isFlaky && !isLeftOut) isBuiltAgain = true;
      continue;
    }
    // A container is listed only if it failed by itself and no test in it failed.
    if (isContainer && (old?.status !== 'failed' || hasTestInside(after, id)) && now?.status !== 'failed') {
      if (old?.status === 'failed' && !isTarget && !isFlaky && !isLeftOut && failedAround(before, id)) recoveredContainers += 1;
      continue;
    }
    const change = changeOf(id, old, now, { isContainer, isFlaky, isLeftOut });
    changes.push(change);
    const failedBefore = change.before === 'failed' || isNewIn(failingContainers, id, old);
    if (isFlaky || isLeftOut || (failedBefore && isTarget !== undefined && !isTarget.has(id))) {
      if (change.after === 'failed') toleratedFailures += 1;
    } else if (isTarget ? isTarget.has(id) : failedBefore) {
      if (old === undefined && change.after === 'skipped' && declaredSkips.has(id)) continue;
      failToPass.total += 1;
      if (change.after === 'passed') failToPass.passed += 1;
      else stillRed.push(id);
      if (change.after !== 'passed' && isContainer && now?.status === 'failed' && !hasTestInside(before, id) && !hasTestInside(after, id)) notLoaded.push(now);
    } else if (change.before === 'passed') {
      passToPass.total += 1;
      if (change.after === 'passed') passToPass.passed += 1;
    } else if (change.after === 'failed') newFailures += 1;
  }

  // What is built counts by its tests, where there are some.
  if (isBuiltAgain && failToPass.total === 0) recoveredContainers += 1;
  const failures = failToPass.total + recoveredContainers;
  const failToPassRate = failures === 0 ? 0 : (failToPass.passed + recoveredContainers) / failures;
  const score = failToPassRate * (passToPass.total === 0 ? 1 : passToPass.passed / passToPass.total);
  const failed = (reason: string, failedScore = 0): Judgement => ({
    verified: false,
    score: failedScore,
    outcome: 'failed',
    reason,
    tests: changes,
  });
  const unbuilt = after.results.find(({ hidesAll, status }) => hidesAll && status === 'failed');
  if (unbuilt) {
    const isAsBefore = beforeById.get(unbuilt.id)?.status === 'failed';
    const build = `The project ${isAsBefore ? 'could be built neither before the change nor with it' : 'cannot be built with the change'}`;
    const run = `The tests ${isAsBefore ? 'came to their end neither before the change nor with it' : 'do not come to their end with the change'}`;
    return failed(`${unbuilt.id === BROKEN_RUN ? run : build}${toldError(unbuilt)}.`);
  }
  if (failures === 0) return failed('No test failed before the change.');
  const wanted = isTarget ? `Of ${counted(failToPass.total, 'named test')}` : `Of ${counted(failToPass.total, 'test')} that failed before`;
  const missing = failToPass.total - failToPass.passed;
  if (missing > 0 && missing === notLoaded.length) return failed(notLoadedText(notLoaded, after), score);
  const regressions = passToPass.total - passToPass.passed;
  const mayBeRight = !isTarget && failToPass.passed > 0 && regressions === 0 && newFailures === 0;
  const broke = regressions > 0 ? `, and ${counted(regressions, 'test')} that passed before did not pass any more.` : '.';
  const lack = heldBack(stillRed.map((id) => afterById.get(id)?.message ?? ''));
  if (missing > 0) return failed(`${wanted}, ${missing.toLocaleString('en')} ${isTarget ? 'did' : 'still did'} not pass${mayBeRight ? onlyRedAsBefore(stillRed) : broke}${lack}`, score);
  if (regressions > 0)
    return failed(`Of ${counted(passToPass.total, 'test')} that passed before, ${regressions.toLocaleString('en')} did not pass any more.`, score);
  if (newFailures > 0) return failed(`${counted(newFailures, 'test')} failed that had not failed before.`);
  const ending = exitCode === null ? 'did not end by itself' : `ended with exit code ${exitCode}`;
  if (exitCode === null || (exitCode !== 0 && toleratedFailures === 0)) {
    // What the machine lacks is no fault of the change.
    const lacking = said.indexOf(NO_NETWORK);
    const without = failed(`Every test passed, but the command ${ending}.${lacking < 0 ? said : ` ${said.slice(lacking)}`}`);
    return lacking < 0 ? without : { ...without, outcome: 'infrastructure' };
  }
  const passedNow = isTarget ? `${counted(failToPass.total, 'named test')} passed` : `${counted(failToPass.total, 'test')} that failed before passed`;
  const around = isBuiltAgain ? 'What could not be built can be built' : 'What failed around tests does not fail any more';
  const what = failToPass.total > 0 ? passedNow : around;
  const reason = `${what}, and ${counted(passToPass.total, 'test')} that passed still did.`;
  return { verified: true, score: 1, outcome: 'verified', reason, tests: changes };
}

/** A project may have had a red test that nobody asks about. Only a person can tell. */
function onlyRedAsBefore(ids: readonly string[]): string {
  const named = clip(listed(ids), MAX_NAMED);
  const them = ids.length > 1 ? 'these tests have' : 'that test has';
  return `: ${named}. The change mends the others and breaks none, so it may be right if ${them} nothing to do with it.`;
}

/** The reason if all that still fails are files and suites that hold no test, since they could not be loaded. */
function notLoadedText(files: readonly TestResult[], after: TestReport): string {
  const [first] = files;
  const why = toldError(first);
  const others = files.length > 1 ? `, like ${counted(files.length - 1, 'other file or suite', 'other files or suites')},` : '';
  const none = hasEvidence({ results: after.results.filter(({ kind }) => kind === 'test') }) ? '' : ' No test ran.';
  return `${first?.id}${others} could be loaded neither before the change nor with it${why}.${none}`;
}

function toldError(result: TestResult | undefined): string {
  const message = result?.message?.trim().split('\n').at(-1)?.trim() ?? '';
  return message === '' ? '' : ` (${clip(message, MAX_LAST_LINE)})`;
}

/** The fail-to-pass tests that passed, and the tests that passed in a container that failed around them before. */
export function failToPassTests(before: TestReport, after: TestReport, { flaky = new Set(), targets }: JudgeOptions): readonly string[] {
  const beforeById = byId(before);
  const failingContainers = failingResults(before, flaky).filter(({ kind }) => kind === 'container');
  const failedAroundTests = failingContainers.filter(({ id }) => failedAround(before, id));
  return after.results
    .filter(({ id, kind, status }) => {
      if (kind !== 'test' || status !== 'passed' || flaky.has(id)) return false;
      if (targets) return targets.includes(id);
      const old = beforeById.get(id);
      return old?.status === 'failed' || isNewIn(failingContainers, id, old) || failedAroundTests.some((container) => isInside(id, container.id));
    })
    .map(({ id }) => id);
}

function changeOf(
  id: string,
  old: TestResult | undefined,
  now: TestResult | undefined,
  { isContainer, isFlaky, isLeftOut }: { readonly isContainer: boolean; readonly isFlaky: boolean; readonly isLeftOut: boolean },
): TestChange {
  // A container that passes proves nothing: without tests it counts as missing.
  const status = (result: TestResult | undefined): TestStatus =>
    result === undefined || (isContainer && result.status === 'passed') ? 'missing' : result.status;
  return {
    id,
    before: status(old),
    after: status(now),
    ...(now?.status === 'failed' && now.message !== undefined && { message: now.message }),
    ...(isFlaky && { flaky: true }),
    ...(isLeftOut && { leftOut: true }),
    ...(now?.durationMs !== undefined && { durationMs: now.durationMs }),
  };
}

export function byId(report: TestReport): ReadonlyMap<string, TestResult> {
  return new Map(report.results.map((result) => [result.id, result]));
}

export const isInside = (id: string, container: string): boolean => id.startsWith(container + ID_SEPARATOR);

/** Whether a test was missing before because its container failed. */
function isNewIn(failingContainers: readonly TestResult[], id: string, old: TestResult | undefined): boolean {
  return old === undefined && failingContainers.some((container) => container.hidesAll || isInside(id, container.id));
}

const hasTest = ({ results }: TestReport): boolean => results.some(({ kind, status }) => kind === 'test' && status !== 'skipped');

function hasTestInside(report: TestReport, container: string): boolean {
  return report.results.some(({ id, kind }) => kind === 'test' && isInside(id, container));
}

/** Whether a container failed although none of the tests in it did. */
function failedAround(report: TestReport, container: string): boolean {
  const inside = report.results.filter(({ id, kind }) => kind === 'test' && isInside(id, container));
  return inside.length > 0 && inside.every(({ status }) => status !== 'failed');
}
