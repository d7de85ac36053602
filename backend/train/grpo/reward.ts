/** The outcome of one sampled plan. */
export type RolloutOutcome =
  /** The text is not a valid plan; truncated texts are not. */
  | { readonly kind: 'unparseable' }
  /** The plan ran and its answer was judged. `passes`: the tests pass, but it is not shown that they would notice a wrong answer. */
  | {
      readonly kind: 'judged';
      readonly verified: boolean;
      readonly passes?: boolean;
      readonly score: number;
      readonly costUsd: number;
      /** Of its workers, where they are known. */
      readonly tokens?: number | undefined;
    }
  /** A worker, the sandbox or the machine failed: the plan's worth is unknown. */
  | { readonly kind: 'infrastructure' };

type Judged = Extract<RolloutOutcome, { readonly kind: 'judged' }>;

export interface RewardOptions {
  /** What rewards a valid plan: the verdict on its answer, or the graded score (the share of fail-to-pass and pass-to-pass tests). */
  readonly judgedBy: 'verified' | 'score';
  /** What an answer counts as that passes without being verified: a way to green tests that cannot be told from an answer must not pay. */
  readonly passes: 'wrong' | 'right';
  /** Reward subtracted per dollar. */
  readonly costWeight: number;
}

/** The strict verdict without a cost term, as in the paper (arXiv 2512.04388 §4.1). */
export const REWARD_DEFAULTS: RewardOptions = { judgedBy: 'verified', passes: 'wrong', costWeight: 0 };

/**
 * The paper's reward: 0 for an invalid plan, 0.5 for a plan whose answer is wrong, 1 for a plan whose answer is right. With `score` the
 * reward lies between 0.5 and 1. Undefined where the outcome is unknown.
 */
export function rewardOf(outcome: RolloutOutcome, options: RewardOptions = REWARD_DEFAULTS): number | undefined {
  if (outcome.kind === 'infrastructure') return undefined;
  if (outcome.kind === 'unparseable') return 0;
  return 0.5 + 0.5 * rightnessOf(outcome, options) - options.costWeight * outcome.costUsd;
}

function rightnessOf({ verified, passes, score }: Judged, options: RewardOptions): number {
  if (passes) return options.passes === 'right' ? 1 : 0;
  return options.judgedBy === 'verified' ? Number(verified) : score;
}
