import { onlyFailedBefore } from '../protocol/failed-before.ts';
import type { RunEventOf } from '../protocol/run-events.ts';
import { isLastAnswer, undecidedRound } from '../protocol/run-facts.ts';
import type { FailedBefore, RunRequest } from '../protocol/run-request.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import { isRed } from '../protocol/test-changes.ts';
import type { LeavingOut } from '../verify/judge/left-out.ts';
import { RunRefusedError } from './errors.ts';

/*
 * What a person says of tests that fail before any change: whether an answer has to mend them cannot be read from a question. The run waits
 * for it in the journal alone, as it does with a plan, and pays for nothing meanwhile.
 */

/** What a person decided about the tests for which alone an answer fails. */
export type VerdictDecision = RunEventOf<'verdict.decided'>;

/** Which tests judge the answers of a run, and which are left out. */
export function judgedBy(run: Pick<RunSnapshot, 'request' | 'rounds' | 'leftOut'>): LeavingOut {
  const { tests, failedBefore } = run.request;
  const named = [...(run.leftOut ?? []), ...leftOutIn(run)];
  const leaveOut = failedBefore === 'leave-out' ? 'failed before' : named.length > 0 ? named : undefined;
  return { ...(tests && { targets: tests }), ...(leaveOut && { leaveOut }) };
}

/** The tests that a person left out of the verdicts of this run. */
const leftOutIn = ({ rounds }: Pick<RunSnapshot, 'rounds'>): string[] => rounds.flatMap(({ failedBefore }) => (failedBefore?.state === 'leave-out' ? failedBefore.tests : []));

/** The tests of which a person is to say whether they must pass; none where nobody is asked, or has said so. */
export function testsToAskOf(run: Pick<RunSnapshot, 'request' | 'rounds'>, round: RoundView): string[] {
  const { request, rounds } = run;
  const { verdict, failedBefore } = round;
  const mustPass = request.tests !== undefined || rounds.some((other) => other.failedBefore?.state === 'must-pass');
  if (request.failedBefore !== 'ask' || mustPass || !verdict) return [];
  const red = onlyFailedBefore(verdict);
  const { tests: asked = [], state } = failedBefore ?? {};
  // What was said of them is not asked again, whatever the verdict makes of it.
  if (red.length === 0 || (state === 'leave-out' && red.every((id) => asked.includes(id)))) return [];
  return isSeenTwice(run, round, red) || isLastAnswer(run, round.index) ? [...new Set([...asked, ...red])] : [];
}

/**
 * Whether another answer leaves these tests red, too. One wrong answer to a question about a red test looks like a right answer beside a test
 * that has nothing to do with it; after two that change nothing about it, a person is asked before a third is paid.
 */
const isSeenTwice = ({ rounds }: Pick<RunSnapshot, 'rounds'>, { index }: RoundView, red: readonly string[]): boolean =>
  rounds.some(({ index: other, verdict }) => other !== index && red.every((id) => verdict?.tests.some((test) => test.id === id && isRed(test))));

/** What was said of these tests at another answer of the run, and holds for this one as well. */
export function saidOf(run: Pick<RunSnapshot, 'rounds'>, tests: readonly string[]): FailedBefore | undefined {
  const leftOut = new Set(leftOutIn(run));
  return tests.every((id) => leftOut.has(id)) ? 'leave-out' : undefined;
}

/** Whether what a person said in earlier runs holds for a question, which says nothing else. */
export const followsEarlier = ({ tests, failedBefore }: Pick<RunRequest, 'tests' | 'failedBefore'>): boolean => !tests && (failedBefore ?? 'ask') === 'ask';

/** What a person said of the tests that the run waits with. @throws RunRefusedError */
export function verdictDecision(run: RunSnapshot, { round, failedBefore }: { readonly round: number; readonly failedBefore: FailedBefore }): VerdictDecision[] {
  const waiting = undecidedRound(run);
  if (waiting?.index !== round || !waiting.failedBefore) throw new RunRefusedError(`No verdict of run "${run.runId}" waits for you: it was decided about, or the run is over.`);
  return [{ type: 'verdict.decided', round, tests: [...waiting.failedBefore.tests], failedBefore }];
}
