import type { PastRound } from '../conductor/prompt-input.ts';
import type { RunEventOf } from '../protocol/run-events.ts';
import type { RoundView } from '../protocol/run-snapshot.ts';
import { changeKind, isRed } from '../protocol/test-changes.ts';
import type { TestChange } from '../protocol/verdict.ts';
import { isVerified } from '../protocol/verdict-facts.ts';

/*
 * What follows from a finished round: the feedback for the next one, whether there is a next one, and the outcome of the run.
 */

/** Feedback names at most this many tests: of more failures, the first ones show the cause. */
const MAX_TESTS = 20;
const MAX_NOTES = 5;

const isStillFailing = (test: TestChange): boolean => changeKind(test) === 'still-failing';

/** The output of the step that gives the round's answer. */
export function answerText({ answer, steps }: RoundView): string | undefined {
  return answer && steps[answer.step]?.output;
}

/** A round as the Conductor sees it in the next one. */
export function pastRound(round: RoundView): PastRound {
  return { planText: round.planText ?? '', answer: answerText(round) ?? '', feedback: feedbackOf(round) };
}

/** The result of the project's tests for the round's answer, in words. */
export function feedbackOf({ verdict, answer }: RoundView): string {
  const refused = (answer?.refused ?? []).map(({ path, reason }) => `Refused: ${path}: ${reason}`);
  if (!verdict) return ['The answer was not tested: it changes no file that tests could judge.', ...refused].join('\n');
  // Tests that the answer broke come before tests that it did not fix.
  const red = verdict.tests.filter(isRed).toSorted((a, b) => Number(isStillFailing(a)) - Number(isStillFailing(b)));
  const tests = red.slice(0, MAX_TESTS).map(({ id, before, after, message }) =>
    `- ${id}: ${before} before, ${after} after${message ? `\n  ${message.replaceAll('\n', '\n  ')}` : ''}`);
  return [
    `${VERDICTS[verdict.outcome]} ${verdict.reason}`,
    ...refused,
    ...tests,
    ...(red.length > MAX_TESTS ? [`- and ${red.length - MAX_TESTS} more`] : []),
    ...verdict.notes.slice(0, MAX_NOTES).map((note) => `Note: ${note}`),
  ].join('\n');
}

const VERDICTS = {
  verified: 'The project\'s tests pass.',
  failed: 'The project\'s tests do not pass with this answer.',
  refused: 'The answer was not tested.',
  infrastructure: 'The tests could not be run.',
} as const;

/**
 * Whether another round could help. Without a verdict it can: the Conductor may revise the answer or keep it. If the tests could not run
 * or prove nothing, no other answer changes that.
 */
export function worthAnotherRound({ verdict, answer }: RoundView): boolean {
  if (!verdict) return true;
  if (isVerified(verdict) || verdict.outcome === 'infrastructure') return false;
  return (answer?.refused.length ?? 0) > 0 || verdict.outcome === 'failed' || verdict.tests.some(isRed);
}

/** The round whose answer is offered: the best one by the tests, and the later one of equals. */
export function bestRound(rounds: readonly RoundView[]): RoundView | undefined {
  const answered = rounds.filter((round) => answerText(round) !== undefined);
  return answered.reduce<RoundView | undefined>(
    (best, round) => (best && rank(best) > rank(round) ? best : round), undefined,
  );
}

const rank = ({ verdict }: RoundView): number => (!verdict ? 0 : isVerified(verdict) ? 2 : verdict.score);

type Conclusion = Pick<RunEventOf<'run.completed'>, 'outcome' | 'message'>;

/** The outcome of a run that offers this round's answer. It is `verified` only after a green test run. */
export function conclusionOf(round: RoundView): Conclusion {
  const { verdict, answer } = round;
  if (verdict && isVerified(verdict)) return { outcome: 'verified', message: verdict.reason };
  if (!verdict) {
    const refused = answer?.refused[0];
    if (refused) return { outcome: 'not-verified', message: `The answer's change to ${refused.path} was refused: ${refused.reason}` };
    const message = answer?.edits.length ? 'There was no test to run.' : 'The answer changes no file, so there was nothing to test.';
    return { outcome: 'unchecked', message };
  }
  const nothingLearned = verdict.outcome === 'infrastructure' || (verdict.outcome === 'refused' && !worthAnotherRound(round));
  return { outcome: nothingLearned ? 'unchecked' : 'not-verified', message: verdict.reason };
}
