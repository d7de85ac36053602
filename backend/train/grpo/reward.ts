/** What came of one sampled plan. */
export type RolloutOutcome =
  /** No plan could be read, a text that was cut off included. */
  | { readonly kind: 'unparseable' }
  /** The plan ran, and its answer was judged. */
  | { readonly kind: 'judged'; readonly verified: boolean; readonly score: number; readonly costUsd: number }
  /** A worker, the sandbox or the machine failed: nothing is known of the plan. */
  | { readonly kind: 'infrastructure' };

export interface RewardOptions {
  /** What a readable plan is judged by: whether its answer was verified, or the share of tests mended and kept. */
  readonly judgedBy: 'verified' | 'score';
  /** What a dollar takes off. */
  readonly costWeight: number;
}

/** The strict verdict and no price, as the paper has it (arXiv 2512.04388 §4.1). */
export const REWARD_DEFAULTS: RewardOptions = { judgedBy: 'verified', costWeight: 0 };

/**
 * The paper's reward: 0 for what is no plan, 0.5 for a plan whose answer is wrong, 1 for one whose answer is right; between these by the
 * graded score, if asked for. Undefined where nothing is known: that is never a reward.
 */
export function rewardOf(outcome: RolloutOutcome, { judgedBy, costWeight }: RewardOptions = REWARD_DEFAULTS): number | undefined {
  if (outcome.kind === 'infrastructure') return undefined;
  if (outcome.kind === 'unparseable') return 0;
  const right = judgedBy === 'verified' ? Number(outcome.verified) : outcome.score;
  return 0.5 + 0.5 * right - costWeight * outcome.costUsd;
}
