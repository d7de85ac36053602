export interface AdvantageOptions {
  /** `group`: by the standard deviation of the group, as GRPO has it; `none`: centred alone, as Dr. GRPO (arXiv 2503.20783) has it. */
  readonly scale: 'group' | 'none';
}

/** GRPO's (arXiv 2402.03300), which the paper uses. */
export const ADVANTAGE_DEFAULTS: AdvantageOptions = { scale: 'group' };

/** Added to the standard deviation: TRL's (1.13, `GRPOTrainer`). */
const EPSILON = 1e-4;

/** Rewards nearer to each other than this are the same: sums of floating-point numbers. */
const SAME = 1e-9;

export interface GroupAdvantages {
  /** One a rollout; 0 where its reward is not known. */
  readonly advantages: readonly number[];
  /** Of the known rewards; the deviation is the sample's (n − 1). 0 where none is known. */
  readonly mean: number;
  readonly deviation: number;
  /** No two known rewards differ: there is nothing to learn from the group. */
  readonly isFlat: boolean;
}

/** How much better each rollout of a group was than the group. Undefined rewards count for nothing, in the mean neither. */
export function groupAdvantages(rewards: readonly (number | undefined)[], { scale }: AdvantageOptions = ADVANTAGE_DEFAULTS): GroupAdvantages {
  const known = rewards.filter((reward) => reward !== undefined);
  const mean = known.length === 0 ? 0 : known.reduce((a, b) => a + b, 0) / known.length;
  const squares = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const deviation = known.length < 2 ? 0 : Math.sqrt(squares / (known.length - 1));
  const isFlat = deviation < SAME;
  const divisor = scale === 'group' ? deviation + EPSILON : 1;
  return { advantages: rewards.map((reward) => (reward === undefined || isFlat ? 0 : (reward - mean) / divisor)), mean, deviation, isFlat };
}
