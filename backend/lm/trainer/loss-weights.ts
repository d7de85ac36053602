import type { TokenWeights } from '../decoder/training-run.ts';

/**
 * How the losses of tokens become the loss of a batch.
 * - `grpo`: the mean over completions of the mean over their tokens (arXiv 2402.03300)
 * - `dapo`: the mean over all tokens of the batch (arXiv 2503.14476)
 * - `dr_grpo`: the sum over all tokens by the number of completions times the longest that one may be (arXiv 2503.20783)
 */
export const LOSS_TYPES = ['grpo', 'dapo', 'dr_grpo'] as const;
export type LossType = (typeof LOSS_TYPES)[number];

/** A batch as a whole, of which each micro-batch is a part: counted are the completions that are not masked. */
export interface BatchSize {
  readonly completions: number;
  readonly tokens: number;
  /** For `dr_grpo`. */
  readonly maxCompletionLength: number;
}

export interface CompletionToWeigh {
  /** Of each token under the policy that sampled, as the trainer has them. */
  readonly oldLogprobs: readonly number[];
  readonly advantage: number;
  /** Of the trainer's to the sampler's probability of each token; all 1 where absent. See `truncatedImportance`. */
  readonly importance?: readonly number[] | undefined;
  /** Under the model without its adapter; needed where the divergence counts. */
  readonly referenceLogprobs?: readonly number[] | undefined;
}

export interface LossOptions {
  readonly type: LossType;
  /** How much the divergence from the model without its adapter counts; 0 for not at all. */
  readonly divergence?: number | undefined;
}

/** What `policyLoss` is to be given for the tokens of a completion. */
export function lossWeights(completion: CompletionToWeigh, { type, divergence = 0 }: LossOptions, batch: BatchSize): Partial<TokenWeights> {
  const { oldLogprobs, advantage, importance, referenceLogprobs } = completion;
  const count = oldLogprobs.length;
  const share = shareOfToken(type, count, batch);
  return {
    oldLogprobs,
    advantages: new Array<number>(count).fill(advantage),
    surrogateWeights: oldLogprobs.map((_, token) => share * (importance?.[token] ?? 1)),
    ...(divergence !== 0 && referenceLogprobs && { referenceLogprobs, divergenceWeights: new Array<number>(count).fill(share * divergence) }),
  };
}

/** The same for imitation: the mean over all tokens of the batch of their negative log-probability. */
export function imitationWeights(tokens: number, batch: Pick<BatchSize, 'tokens'>): Partial<TokenWeights> {
  return { likelihoodWeights: new Array<number>(tokens).fill(1 / batch.tokens) };
}

function shareOfToken(type: LossType, tokens: number, batch: BatchSize): number {
  switch (type) {
    case 'grpo':
      return 1 / (batch.completions * tokens);
    case 'dapo':
      return 1 / batch.tokens;
    case 'dr_grpo':
      return 1 / (batch.completions * batch.maxCompletionLength);
  }
}

/**
 * How much likelier each token was to the trainer than to the sampler, which rounds otherwise, at most `limit`: what corrects for the
 * difference, token by token (Yao et al., "Your efficient RL framework secretly brings you off-policy RL training", 2025).
 */
export function truncatedImportance(trainer: readonly number[], sampler: readonly number[], limit: number): number[] {
  return trainer.map((logprob, token) => Math.min(limit, Math.exp(logprob - (sampler[token] as number))));
}
