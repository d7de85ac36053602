import { firstPlanned } from '../protocol/run-facts.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import type { Plan } from '../workflow/plan.ts';

/*
 * Attempts of one run: their order. `bestAttempt` says which of them is offered. docs/decisions/0025 has the reasons.
 */

/**
 * The rounds that have a plan, in the order in which they are tried: one of which a step is asked again, then begun ones, then by the estimate;
 * unknown costs last.
 */
export function cheapestFirst(run: RunSnapshot, attempts: number, estimateOf?: (run: RunSnapshot, round: number, plan: Plan) => WorkEstimate): number[] {
  const first = firstPlanned(run);
  const planned = run.rounds.slice(first, first + attempts).flatMap((view) => (view.plan && !view.failure ? [{ view, plan: view.plan }] : []));
  return planned
    .map(({ view, plan }) => ({
      round: view.index,
      isRetried: view.index === run.retried?.round,
      isBegun: view.steps.some(({ attempt, output }) => attempt !== undefined || output !== undefined),
      usd: estimateOf?.(run, view.index, plan).usd?.high ?? Infinity,
    }))
    .toSorted((a, b) => Number(b.isRetried) - Number(a.isRetried) || Number(b.isBegun) - Number(a.isBegun) || (a.usd === b.usd ? 0 : a.usd - b.usd))
    .map(({ round }) => round);
}
