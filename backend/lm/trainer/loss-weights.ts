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
  readonly tokens: number;
  readonly advantage: number;
  /** Of each token: under the policy that the ratio is relative to, as the trainer has it, and as the sampler has it. See `policyLoss`. */
  readonly oldLogprobs?: readonly number[] | undefined;
  readonly samplerLogprobs?: readonly number[] | undefined;
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
  const { tokens, advantage, oldLogprobs, samplerLogprobs, referenceLogprobs } = completion;
  const share = shareOfToken(type, tokens, batch);
  const all = (value: number): number[] => new Array<number>(tokens).fill(value);
  return {
    ...(oldLogprobs && { oldLogprobs }),
    ...(samplerLogprobs && { samplerLogprobs }),
    advantages: all(advantage),
    surrogateWeights: all(share),
    ...(divergence !== 0 && referenceLogprobs && { referenceLogprobs, divergenceWeights: all(share * divergence) }),
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
