import { mean, weightedMean } from '../statistics/statistics.ts';
import { rewardOf, type RewardOptions, type RolloutOutcome } from './reward.ts';

/*
 * Plans are sampled for nothing and carried out for money. Where only some are carried out, what outcomes so far say of a plan stands in for its
 * verdict, and the verdicts on those that are carried out correct it: each counts the more, the less likely it was to be carried out. Whatever was
 * expected, estimates have the right mean; the better it was expected, the less they vary. This is the doubly robust estimator of M. Dudík,
 * J. Langford and L. Li, "Doubly Robust Policy Evaluation and Learning" (2011), where the odds are our own choice and known exactly.
 */

/** What was expected of a valid plan before it was decided whether to carry it out. */
export interface Expectation {
  /** How likely its answer is right. */
  readonly chance: number;
  /** How likely it was to be carried out. */
  readonly odds: number;
}

export interface ExpectedPlan {
  /** Undefined where it was not carried out. */
  readonly outcome: RolloutOutcome | undefined;
  /** Undefined for a text that is no plan: its reward is known for nothing. */
  readonly expected?: Expectation | undefined;
}

export interface ExpectedRewards {
  /** One per plan of each group. */
  readonly rewards: readonly (readonly number[])[];
  /** The standard deviation of rewards within a group, as far as is known: that of what is expected, with that of outcomes round it. */
  readonly deviation: number;
  /** The mean square of what rewards were off what was expected; undefined where nothing was judged. */
  readonly error: number | undefined;
}

/** The rewards of a step's plans, estimated where they were not carried out. */
export function expectedRewards(groups: readonly (readonly ExpectedPlan[])[], options: RewardOptions): ExpectedRewards {
  const plans = groups.map((group) => group.map((plan) => guessOf(plan, options)));
  const judged = plans.flat().flatMap(({ off, odds }) => (off === undefined ? [] : [{ off, weight: 1 / odds }]));
  // What all plans of the step were off by says nothing of one beside another.
  const shift = weightedMean(judged, ({ off }) => off, ({ weight }) => weight);
  const rewards = plans.map((group) => group.map(({ isPlan, usual, off, odds }) =>
    (isPlan ? usual + shift + (off === undefined ? 0 : (off - shift) / odds) : INVALID)));
  const variances = plans.map((group) => {
    const middle = mean(group.map(({ usual }) => usual));
    return mean(group.map(({ usual, spread }) => (usual - middle) ** 2 + spread));
  });
  return { rewards, deviation: Math.sqrt(mean(variances)), error: judged.length === 0 ? undefined : mean(judged.map(({ off }) => off ** 2)) };
}

interface Guess {
  readonly isPlan: boolean;
  /** The reward that is expected, the variance of rewards round it, and what the reward was above it. */
  readonly usual: number;
  readonly spread: number;
  readonly off: number | undefined;
  readonly odds: number;
}

/** As `rewardOf` has it. */
const [INVALID, WRONG, RIGHT] = [0, 0.5, 1];

function guessOf({ outcome, expected }: ExpectedPlan, options: RewardOptions): Guess {
  if (!expected) return { isPlan: false, usual: INVALID, spread: 0, off: undefined, odds: 1 };
  const { chance, odds } = expected;
  const usual = WRONG + (RIGHT - WRONG) * chance;
  const reward = outcome && rewardOf(outcome, options);
  return { isPlan: true, usual, spread: (RIGHT - WRONG) ** 2 * chance * (1 - chance), off: reward === undefined ? undefined : reward - usual, odds };
}
