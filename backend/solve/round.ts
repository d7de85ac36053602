import type { PastRound } from '../conductor/prompt-input.ts';
import { renderPlan } from '../conductor/render-plan.ts';
import type { Asks, RunEventOf } from '../protocol/run-events.ts';
import { answerText, rankOf } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import { isRed } from '../protocol/test-changes.ts';
import { isVerified, passesOnly } from '../protocol/verdict-facts.ts';
import { feedbackOn } from '../verify/feedback.ts';
import { isPathOfTest } from '../verify/files/protected-paths.ts';
import { isBuiltOn } from './follow-up/build-on.ts';
import { isCutOff } from './returned-answer.ts';

/*
 * What follows from a finished round: the feedback for the next one, whether there is a next one, and the outcome of the run.
 */

/** What has to come back. Without a folder there is nothing to change: code is an answer then. */
export function wantedOf({ asks, request }: Pick<RunSnapshot, 'asks' | 'request'>): Asks['wants'] | undefined {
  return asks?.wants === 'change' && request.workspace === undefined ? 'code' : asks?.wants;
}

/** Whether nothing but tests is wanted. */
export const asksForTestsAlone = ({ asks }: Pick<RunSnapshot, 'asks'>): boolean => asks?.kind === 'tests';

/** Whether new tests are wanted, maybe beside another change: then an answer may add some. */
export const asksForTests = (run: Pick<RunSnapshot, 'asks'>): boolean => asksForTestsAlone(run) || run.asks?.tests === true;

/** Whether an answer may add tests, alone or beside another change: it is asked for some, or builds on an answer that added some. */
export function newTestsIn(run: Pick<RunSnapshot, 'asks' | 'earlier'>): 'alone' | 'beside' | undefined {
  if (asksForTestsAlone(run)) return 'alone';
  const buildsOnTests = isBuiltOn(run) && run.earlier?.change?.edits.some(({ path }) => isPathOfTest(path)) === true;
  return asksForTests(run) || buildsOnTests ? 'beside' : undefined;
}

export const mayAddTests = (run: Pick<RunSnapshot, 'asks' | 'earlier'>): boolean => newTestsIn(run) !== undefined;

/** A round as the Conductor sees it in the next one. */
export function pastRound(round: RoundView, wants?: Asks['wants']): PastRound {
  // What was carried out is what the answer and the feedback are about.
  const planText = (round.planEdited ?? round.localTry) && round.plan ? renderPlan(round.plan) : (round.planText ?? '');
  return {
    planText, answer: answerText(round) ?? '',
    ...(round.localTry && { mayKeep: false }),
    feedback: [...(round.localTry ? [LOCAL_TRY] : []), feedbackOf(round, wants), ...standInsOf(round), ...stopsOf(round), ...(round.planEdited ? ['The programmer changed your plan before it was carried out: above is the changed one.'] : [])].join('\n'),
  };
}

const LOCAL_TRY = 'You did not write this plan: a worker that costs nothing was tried alone first, and its answer was not verified.';

/** Who stood in for whom, in the Conductor's numbers and without what servers said. It may then name others. */
function standInsOf({ steps }: RoundView): string[] {
  return steps.flatMap(({ index, worker, handedOn = [], state }) => (state === 'completed' && handedOn.length > 0
    ? [`Step ${index} was done by worker ${worker}, because ${handedOn.map((before) => `worker ${before.worker} failed (${before.failure.kind})`).join(' and ')}.`]
    : []));
}

/** What a person did to the steps, so that the next plan knows why one of them has little. */
function stopsOf({ steps }: RoundView): string[] {
  return steps.flatMap(({ index, finishReason }) => (finishReason === 'stopped' ? [`Step ${index} was stopped by the person before it was done.`] : []));
}

/** The result of the project's tests for the round's answer, in words. */
export function feedbackOf(round: RoundView, wants?: Asks['wants']): string {
  const { verdict, answer } = round;
  const refused = [
    ...(answer?.refused ?? []).map(({ path, reason, isUnreadable }) => `${isUnreadable ? 'Not readable' : 'Refused'}: ${path}: ${reason}`),
    ...(answer?.leftOut ?? []).map(({ path, reason }) => `Left out: ${path}: ${reason}`),
  ];
  if (!verdict) return [whyUntested(round, wants), ...refused].join('\n');
  return feedbackOn(verdict, refused);
}

function whyUntested(round: RoundView, wants: Asks['wants'] | undefined): string {
  if (changesNothing(round) && !isWhole(round, wants)) return notWhole(round);
  if (changesNothing(round) && wants === 'change') return NO_CHANGE;
  return 'The answer was not tested: it changes no file that tests could judge.';
}

const NO_CHANGE = 'The question asks for a change, but the answer changes no file.';
const CUT_OFF = 'The answer is not complete: it was cut off before its end.';
const STOPPED = 'The answer is not complete: its step was stopped before its end.';

const changesNothing = ({ answer }: RoundView): boolean => answer?.edits.length === 0 && answer.refused.length === 0;

const notWhole = ({ answer, steps }: RoundView): string => (answer && steps[answer.step]?.finishReason === 'stopped' ? STOPPED : CUT_OFF);

/** Whether the answer was written to its end. Words may well end in a block of code that is not closed. */
function isWhole(round: RoundView, wants: Asks['wants'] | undefined): boolean {
  const { finishReason = 'stop' } = (round.answer && round.steps[round.answer.step]) ?? {};
  const text = answerText(round) ?? '';
  return finishReason === 'stop' && text.trim() !== '' && (wants === 'words' || !isCutOff({ text, finishReason }));
}

/** Whether the answer is complete without a change, because the question asks for none. */
function isAnswered(round: RoundView, wants: Asks['wants'] | undefined): boolean {
  return wants !== undefined && wants !== 'change' && changesNothing(round) && isWhole(round, wants);
}

/**
 * Whether another round could help. Without a verdict it can, unless the question asks for no change: the Conductor may revise the answer
 * or keep it. If the tests could not run or prove nothing, no other answer changes that.
 * @param wants what the question asks for; undefined for a run of an earlier version
 */
export function worthAnotherRound(round: RoundView, wants?: Asks['wants']): boolean {
  const { verdict, answer } = round;
  if (!verdict) return !isAnswered(round, wants);
  if (isVerified(verdict) || passesOnly(verdict) || verdict.outcome === 'infrastructure') return false;
  return (answer?.refused.length ?? 0) > 0 || verdict.outcome === 'failed' || verdict.tests.some(isRed);
}

/** The round whose answer is offered: the best one by the tests, and the later one of equals. */
export function bestRound(rounds: readonly RoundView[]): RoundView | undefined {
  const answered = rounds.filter((round) => answerText(round) !== undefined);
  return answered.reduce<RoundView | undefined>(
    (best, round) => (best && rankOf(best) > rankOf(round) ? best : round), undefined,
  );
}

const ANSWERED = {
  words: 'The question asks for words, and the answer changes no file.',
  code: 'The question asks for code that stands alone, and the answer changes no file.',
  any: 'The answer changes no file, so there was nothing to test.',
};

type Conclusion = Pick<RunEventOf<'run.completed'>, 'outcome' | 'message'>;

/**
 * The outcome of a run that offers this round's answer. It is `verified` only after a green test run.
 * @param wants what the question asks for; undefined for a run of an earlier version
 */
export function conclusionOf(round: RoundView, wants?: Asks['wants']): Conclusion {
  const { verdict, answer } = round;
  if (verdict && isVerified(verdict)) return { outcome: 'verified', message: verdict.reason };
  if (verdict && passesOnly(verdict)) return { outcome: 'passes', message: verdict.reason };
  if (!verdict) {
    const refused = answer?.refused[0];
    if (refused) return { outcome: 'not-verified', message: `The answer's change to ${refused.path} ${refused.isUnreadable ? 'could not be read' : 'was refused'}: ${refused.reason}` };
    if (answer?.edits.length) return { outcome: 'unchecked', message: 'There was no test to run.' };
    if (isAnswered(round, wants)) return { outcome: 'answered', message: ANSWERED[wants as keyof typeof ANSWERED] };
    if (wants === 'change') return { outcome: 'not-verified', message: isWhole(round, wants) ? NO_CHANGE : notWhole(round) };
    return { outcome: 'unchecked', message: isWhole(round, wants) ? 'The answer changes no file, so there was nothing to test.' : notWhole(round) };
  }
  const nothingLearned = verdict.outcome === 'infrastructure' || (verdict.outcome === 'refused' && !worthAnotherRound(round));
  return { outcome: nothingLearned ? 'unchecked' : 'not-verified', message: verdict.reason };
}
