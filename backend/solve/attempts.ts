import { spentIn, type RoundView, type RunSnapshot } from '../protocol/run-snapshot.ts';
import { isRed } from '../protocol/test-changes.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import type { Plan } from '../workflow/plan.ts';
import { answerText, rankOf } from './round.ts';

/*
 * Attempts of one run: their order, and which of them is offered. docs/decisions/0025 has the reasons.
 */

/** The rounds that have a plan, in the order in which they are tried: begun ones first, then by the estimate; unknown costs last. */
export function cheapestFirst(run: RunSnapshot, attempts: number, estimateOf?: (run: RunSnapshot, round: number, plan: Plan) => WorkEstimate): number[] {
  const planned = run.rounds.slice(0, attempts).flatMap((view) => (view.plan && !view.failure ? [{ view, plan: view.plan }] : []));
  return planned
    .map(({ view, plan }) => ({
      round: view.index,
      isBegun: view.steps.some(({ attempt, output }) => attempt !== undefined || output !== undefined),
      usd: estimateOf?.(run, view.index, plan).usd?.high ?? Infinity,
    }))
    .toSorted((a, b) => Number(b.isBegun) - Number(a.isBegun) || (a.usd === b.usd ? 0 : a.usd - b.usd))
    .map(({ round }) => round);
}

/** The attempt that is offered: verified before passing, then by the score of the tests, then with the fewest failing tests, then the cheapest. */
export function bestAttempt(rounds: readonly RoundView[]): RoundView | undefined {
  const red = ({ verdict }: RoundView): number => verdict?.tests.filter(isRed).length ?? Infinity;
  const [best] = rounds.filter((round) => round.answer && answerText(round) !== undefined).toSorted((a, b) => {
    const failing = red(a) === red(b) ? 0 : red(a) - red(b);
    return rankOf(b) - rankOf(a) || failing || spentIn(a).usd - spentIn(b).usd;
  });
  return best;
}
