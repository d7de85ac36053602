import type { TokenWeights } from '../decoder/gradient-run.ts';

/**
 * How the losses of tokens are averaged to the loss of a batch.
 * - `grpo`: the mean over completions of the mean over their tokens (arXiv 2402.03300)
 * - `dapo`: the mean over all tokens of the batch (arXiv 2503.14476)
 * - `dr_grpo`: the sum over all tokens, divided by the number of completions times the maximum completion length (arXiv 2503.20783)
 */
export const LOSS_TYPES = ['grpo', 'dapo', 'dr_grpo'] as const;
export type LossType = (typeof LOSS_TYPES)[number];

/** The size of the whole batch, not of a micro-batch. Masked completions are not counted. */
export interface BatchSize {
  readonly completions: number;
  readonly tokens: number;
  /** For `dr_grpo`. */
  readonly maxCompletionLength: number;
}

export interface CompletionToWeigh {
  readonly tokens: number;
  readonly advantage: number;
  /** Log-probabilities of each token under the old policy, computed by the trainer and by the sampler. See `policyLoss`. */
  readonly oldLogprobs?: readonly number[] | undefined;
  readonly samplerLogprobs?: readonly number[] | undefined;
  /** Under the model without its adapter; needed if `klCoefficient` is not 0. */
  readonly referenceLogprobs?: readonly number[] | undefined;
}

export interface LossOptions {
  readonly type: LossType;
  /** Weight of the KL divergence from the model without its adapter; 0 turns it off. */
  readonly klCoefficient?: number | undefined;
}

/** The inputs of `policyLoss` for the tokens of a completion. */
export function lossWeights(completion: CompletionToWeigh, { type, klCoefficient = 0 }: LossOptions, batch: BatchSize): Partial<TokenWeights> {
  const { tokens, advantage, oldLogprobs, samplerLogprobs, referenceLogprobs } = completion;
  const share = shareOfToken(type, tokens, batch);
  const all = (value: number): number[] => new Array<number>(tokens).fill(value);
  return {
    ...(oldLogprobs && { oldLogprobs }),
    ...(samplerLogprobs && { samplerLogprobs }),
    advantages: all(advantage),
    surrogateWeights: all(share),
    ...(klCoefficient !== 0 && referenceLogprobs && { referenceLogprobs, klWeights: all(share * klCoefficient) }),
  };
}

/** For cross entropy: the mean negative log-probability over all tokens of the batch. */
export function crossEntropyWeights(tokens: number, batch: Pick<BatchSize, 'tokens'>): Partial<TokenWeights> {
  return { crossEntropyWeights: new Array<number>(tokens).fill(1 / batch.tokens) };
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
