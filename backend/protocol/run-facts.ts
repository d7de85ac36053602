import type { Tried } from './run-events.ts';
import type { RunRequest } from './run-request.ts';
import { isOver, type RoundView, type RunSnapshot, type Spent } from './run-snapshot.ts';
import { isRed } from './test-changes.ts';
import { isVerified, passesOnly } from './verdict-facts.ts';

/*
 * What the snapshot of a run says, without being part of it: the answer it offers, what a round cost, which rounds another one is told of.
 */

/**
 * What the tests say of the changes that a step reads, by their step: empty unless it reads two or more that were tried. The same
 * before the step begins and later.
 */
export function triedOf({ steps }: Pick<RoundView, 'steps'>, reads: readonly number[]): ReadonlyMap<number, Tried> {
  const tried = new Map(reads.flatMap((index) => {
    const result = steps[index]?.trial?.result;
    return result ? [[index, result] as const] : [];
  }));
  return tried.size >= 2 ? tried : new Map();
}

/** Active milliseconds of the run until `now` (milliseconds since 1970), or until its end. */
export function elapsedOf({ acceptedAt, updatedAt, pausedMs = 0, state }: RunSnapshot, now: number): number {
  return (isOver(state) ? updatedAt : now) - acceptedAt - pausedMs;
}

/** Whether the Conductor kept an answer although its tests failed. */
export function gaveUpIn({ rounds }: Pick<RunSnapshot, 'rounds'>, { index, kept }: Pick<RoundView, 'index' | 'kept'>): boolean {
  const verdict = rounds[index - 1]?.verdict;
  return kept && verdict !== undefined && !isVerified(verdict);
}

/**
 * The answer that the run offers: the text of the chosen round's last step. While none is chosen, of the best attempt, or of the last round
 * that has one.
 */
export function answerOf(run: RunSnapshot): { round: RoundView; text: string } | undefined {
  const candidates = run.answerRound === undefined ? [...run.rounds].reverse() : [run.rounds[run.answerRound]];
  const answered = candidates.filter((round) => round !== undefined && answerText(round) !== undefined) as RoundView[];
  const round = run.answerRound === undefined && hasAttempts(run) ? bestAttempt(answered) : answered[0];
  const text = round && answerText(round);
  return text === undefined ? undefined : { round: round as RoundView, text };
}

/** The output of the step that gives the round's answer. */
export function answerText({ answer, steps }: Pick<RoundView, 'answer' | 'steps'>): string | undefined {
  return answer && steps[answer.step]?.output;
}

/** How good an answer is by the tests: 3 if it is verified, 2 if its tests pass, and otherwise their score. */
export function rankOf({ verdict }: Pick<RoundView, 'verdict'>): number {
  if (!verdict) return 0;
  if (isVerified(verdict)) return 3;
  return passesOnly(verdict) ? 2 : verdict.score;
}

/**
 * The attempt that is offered: verified before passing, then by the score of the tests, then with the fewest failing tests, then one that
 * was paid for before the local try, then the cheapest, then the first.
 */
export function bestAttempt(rounds: readonly RoundView[]): RoundView | undefined {
  const red = ({ verdict }: RoundView): number => verdict?.tests.filter(isRed).length ?? Infinity;
  const [best] = rounds.filter((round) => answerText(round) !== undefined).toSorted((a, b) => {
    const failing = red(a) === red(b) ? 0 : red(a) - red(b);
    const free = Number(a.localTry !== undefined) - Number(b.localTry !== undefined);
    return rankOf(b) - rankOf(a) || failing || free || spentIn(a).usd - spentIn(b).usd || a.index - b.index;
  });
  return best;
}

/** The round whose plan the run waits with for a person. Of attempts, it may be any. */
export function heldRound({ state, rounds }: Pick<RunSnapshot, 'state' | 'rounds'>): RoundView | undefined {
  return state === 'waiting' ? rounds.find(({ review }) => review?.state === 'waiting') : undefined;
}

/** The round whose answer the run waits with, until a person says whether tests that failed before must pass. */
export function undecidedRound({ state, rounds }: Pick<RunSnapshot, 'state' | 'rounds'>): RoundView | undefined {
  return state === 'waiting' ? rounds.find(({ failedBefore }) => failedBefore?.state === 'waiting') : undefined;
}

/** Whether the rounds of a run are attempts, of which none revises another. */
export const hasAttempts = ({ request: { attempts } }: { readonly request: Pick<RunRequest, 'attempts'> }): boolean => attempts > 1;

/** The number of rounds before the first one that the Conductor plans: 1 behind the try of a worker that costs nothing. */
export const firstPlanned = ({ rounds }: Pick<RunSnapshot, 'rounds'>): number => (rounds[0]?.localTry ? 1 : 0);

/** Whether no answer is to come beside that of a round. An answer that changes nothing has no verdict, and none is to come. */
export function isLastAnswer(run: Pick<RunSnapshot, 'request' | 'rounds'>, round: number): boolean {
  const { request, rounds } = run;
  const all = firstPlanned(run) + (hasAttempts(run) ? request.attempts : request.rounds);
  return rounds.length === all && rounds.every(({ index, answer, failure }) => index === round || answer !== undefined || failure !== undefined);
}

/**
 * The rounds that a round is told of, oldest first; it revises the answer of the last one. Attempts are told of none but the local try. A try
 * without an answer says nothing.
 */
export function roundsBefore(run: { readonly request: Pick<RunRequest, 'attempts'>; readonly rounds: readonly RoundView[] }, round: number): readonly RoundView[] {
  const before = hasAttempts(run) ? Math.min(round, firstPlanned(run)) : round;
  return run.rounds.slice(0, before).filter(({ localTry, answer }) => !localTry || answer);
}

/** What a round cost: its plan and its steps. */
export function spentIn({ planSpent, steps }: Pick<RoundView, 'planSpent' | 'steps'>): Pick<Spent, 'usd' | 'unpricedTokens' | 'estimated'> {
  const paid = [...(planSpent ? [planSpent] : []), ...steps.map(({ spent }) => spent)];
  return {
    usd: paid.reduce((sum, one) => sum + one.usd, 0),
    unpricedTokens: paid.reduce((sum, one) => sum + one.unpricedTokens, 0),
    estimated: paid.some(({ estimated }) => estimated),
  };
}

/** Whether a finished run has a change that can be written into its project. */
export const hasChange = (run: RunSnapshot): boolean =>
  run.request.workspace !== undefined && isOver(run.state) && (answerOf(run)?.round.answer?.edits.length ?? 0) > 0;
