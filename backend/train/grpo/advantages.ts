export interface AdvantageOptions {
  /** `group`: divided by the standard deviation of the group (GRPO). `none`: only centred (Dr. GRPO, arXiv 2503.20783). */
  readonly scale: 'group' | 'none';
}

/** GRPO (arXiv 2402.03300), as in the paper. */
export const ADVANTAGE_DEFAULTS: AdvantageOptions = { scale: 'group' };

/** Added to the standard deviation, as in TRL 1.13 (`GRPOTrainer`). */
const EPSILON = 1e-4;

/** Rewards that differ by less than this are equal up to rounding. */
const SAME = 1e-9;

export interface GroupAdvantages {
  /** One per rollout; 0 where its reward is unknown. */
  readonly advantages: readonly number[];
  /** Of the known rewards; the standard deviation is the sample's (n − 1). 0 where no reward is known. */
  readonly mean: number;
  readonly deviation: number;
  /** All known rewards are equal: the group teaches nothing. */
  readonly isFlat: boolean;
}

/** The advantage of each rollout over its group. Undefined rewards are ignored, also in the mean. */
export function groupAdvantages(rewards: readonly (number | undefined)[], { scale }: AdvantageOptions = ADVANTAGE_DEFAULTS): GroupAdvantages {
  const known = rewards.filter((reward) => reward !== undefined);
  const mean = known.length === 0 ? 0 : known.reduce((a, b) => a + b, 0) / known.length;
  const squares = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const deviation = known.length < 2 ? 0 : Math.sqrt(squares / (known.length - 1));
  const isFlat = deviation < SAME;
  const divisor = scale === 'group' ? deviation + EPSILON : 1;
  return { advantages: rewards.map((reward) => (reward === undefined || isFlat ? 0 : (reward - mean) / divisor)), mean, deviation, isFlat };
}

/**
 * Of estimated rewards. They are divided by the deviation that rewards of the whole step have within their groups: an estimate is far off now and then, and its
 * own group may have no deviation to measure that by.
 */
export function expectedAdvantages(rewards: readonly number[], deviation: number, { scale }: AdvantageOptions = ADVANTAGE_DEFAULTS): GroupAdvantages {
  const mean = rewards.reduce((a, b) => a + b, 0) / Math.max(1, rewards.length);
  const isFlat = rewards.every((reward) => Math.abs(reward - mean) < SAME);
  const divisor = scale === 'group' ? deviation + EPSILON : 1;
  return { advantages: rewards.map((reward) => (isFlat ? 0 : (reward - mean) / divisor)), mean, deviation, isFlat };
}
