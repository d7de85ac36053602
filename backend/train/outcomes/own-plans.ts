import { type RewardOptions, rewardOf } from '../grpo/reward.ts';
import { mean } from '../statistics/statistics.ts';
import type { Outcome } from './outcome.ts';

/** With fewer, what is usual is not known. */
const FEWEST = 8;
/** The mean of a kind of question is drawn towards that of all as if so many plans had the mean of all. */
const DRAWN = 4;
/** Rewards that differ by less than this are equal up to rounding. */
const SAME = 1e-9;

export interface OwnPlan {
  readonly outcome: Outcome;
  /** In standard deviations. */
  readonly advantage: number;
}

/**
 * What plans that the learner sampled itself are worth: the reward above what is usual for questions of their kind. There is one plan for most
 * questions, so no group has a mean. Empty where they are too few, or all worth the same.
 */
export function ownPlans(outcomes: readonly Outcome[], options: RewardOptions): readonly OwnPlan[] {
  const rewarded = outcomes.map((outcome) => ({ outcome, reward: rewardOf(outcome.judged, options) ?? 0 }));
  if (rewarded.length < FEWEST) return [];
  const usual = mean(rewarded.map(({ reward }) => reward));
  const baselines = new Map([...Map.groupBy(rewarded, ({ outcome }) => outcome.kind)].map(([kind, group]) =>
    [kind, (group.reduce((sum, { reward }) => sum + reward, 0) + DRAWN * usual) / (group.length + DRAWN)]));
  const above = rewarded.map(({ outcome, reward }) => ({ outcome, above: reward - (baselines.get(outcome.kind) ?? usual) }));
  const deviation = Math.sqrt(mean(above.map((one) => one.above ** 2)));
  if (deviation < SAME) return [];
  return above.map((one) => ({ outcome: one.outcome, advantage: one.above / deviation }));
}
