import type { Outcome } from './outcome.ts';

export interface SplitOutcomes {
  readonly learned: readonly Outcome[];
  readonly heldOut: readonly Outcome[];
}

const HELD_OUT = 1 / 5;

/**
 * The newest fifth of the questions is held out with all outcomes of each: a question that was asked again would otherwise be learned and judged
 * by. @param outcomes oldest first
 */
export function splitOutcomes(outcomes: readonly Outcome[]): SplitOutcomes {
  // A question is as new as its newest outcome.
  const newest = new Map(outcomes.map(({ question, at }) => [question, at]));
  const questions = [...newest].sort(([, a], [, b]) => a - b).map(([question]) => question);
  const heldOut = new Set(questions.slice(questions.length - Math.ceil(questions.length * HELD_OUT)));
  return { learned: outcomes.filter(({ question }) => !heldOut.has(question)), heldOut: outcomes.filter(({ question }) => heldOut.has(question)) };
}
