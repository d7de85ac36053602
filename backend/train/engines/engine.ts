/*
 * What a training asks of the machine that trains, in the shape of Tinker's API, so that a remote service can take the place of this
 * machine. An engine owns the model's tokenizer and chat template: it samples from conversations and returns token ids. Training takes these
 * token ids back; a sampled text is never encoded again. Grouping, verification and rewards are the trainer's.
 */

export interface Prompt {
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  /** How the answer begins. */
  readonly prefill?: string | undefined;
}

export interface SampleRequest extends Prompt {
  readonly maxTokens: number;
  readonly temperature: number;
  /** One per sample. */
  readonly seeds: readonly number[];
  /** `latest`, the default: the version that was saved last. `initial`: the model as it was before the training. */
  readonly version?: 'latest' | 'initial' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One sample: its prompt and its completion. */
export interface SampledCompletion {
  readonly promptTokens: readonly number[];
  readonly tokens: readonly number[];
  /** Of softmax(logits / temperature), as the sampler computes them. */
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
}

/** A completion to train on. */
export interface Example {
  readonly promptTokens: readonly number[];
  readonly tokens: readonly number[];
  readonly samplerLogprobs: readonly number[];
  /** Under the policy to which the ratio of the loss is relative, computed by the trainer. Absent: that policy is the current one. */
  readonly oldLogprobs?: readonly number[] | undefined;
  readonly advantage: number;
  /** How much it counts in a cross-entropy, relative to the others of its batch; 1 by default. */
  readonly weight?: number | undefined;
}

/**
 * How the losses of tokens become the loss of a batch.
 * - `grpo`: the mean over completions of the mean over their tokens (arXiv 2402.03300)
 * - `dapo`: the mean over all tokens of the batch (arXiv 2503.14476)
 * - `dr_grpo`: the sum over all tokens, divided by the number of completions times the maximum length (arXiv 2503.20783)
 */
export type PolicyLossType = 'grpo' | 'dapo' | 'dr_grpo';

export interface PolicyLoss {
  readonly type: PolicyLossType;
  readonly clip: { readonly low: number; readonly high: number };
  /** Weight of the KL divergence from the model before the training; 0 turns it off. */
  readonly klCoefficient: number;
  /** Cap on the ratio of trainer to sampler probability (truncated importance sampling); 0 turns the correction off. */
  readonly importanceRatioCap: number;
  /** The temperature at which the completions were sampled. */
  readonly temperature: number;
  /** For `dr_grpo`. */
  readonly maxCompletionLength: number;
}

/** Cross-entropy: the mean over all tokens of the batch, each with the weight of its example. */
export interface CrossEntropyLoss {
  readonly type: 'cross_entropy';
  /** Relative to other losses of the same step; 1 by default. */
  readonly weight?: number | undefined;
}

export interface ForwardBackwardOutput {
  readonly loss: number;
  /** Per example: the log-probability of each token. */
  readonly logprobs: readonly (readonly number[])[];
  /** Per example: the entropy of the distribution that each token comes from, in nats, where the engine computes it. */
  readonly entropies?: readonly (readonly number[])[] | undefined;
  /** Of the model before the training; present where `klCoefficient` is not 0. */
  readonly referenceLogprobs?: readonly (readonly number[])[];
}

export interface TrainEngine {
  /** Whether the model can read the prompt and then write this many tokens. */
  hasRoom(prompt: Prompt, tokens: number): Promise<boolean>;
  sample(request: SampleRequest): Promise<readonly SampledCompletion[]>;
  /** The tokens of a text that somebody else wrote, as the answer to a prompt. `ends`: the answer is over there. */
  encode(prompt: Prompt, answer: { readonly text: string; readonly ends: boolean }): Promise<Pick<Example, 'promptTokens' | 'tokens'>>;
  /** Per example: the log-probability of each token at this temperature under a version, by default the one that was saved last, computed as the trainer computes it. */
  forward(
    batch: readonly Pick<Example, 'promptTokens' | 'tokens'>[], temperature: number, signal?: AbortSignal, version?: SampleRequest['version'],
  ): Promise<readonly (readonly number[])[]>;
  /** Adds the gradients of a loss over the whole batch to those of the next step. */
  forwardBackward(loss: PolicyLoss | CrossEntropyLoss, batch: readonly Example[], signal?: AbortSignal): Promise<ForwardBackwardOutput>;
  /** @returns the norm of the gradients before clipping, where the engine tells it */
  optimStep(step: { readonly learningRate: number; readonly gradientClip: number }): Promise<{ readonly gradientNorm?: number | undefined }>;
  /**
   * Makes the current weights the latest version and keeps its adapter, a PEFT folder, under this name in the training's `versions`. Each
   * version has a new name, which is part of every cache key. Where all weights are trained, nothing is kept.
   */
  saveForSampler(name: string): Promise<void>;
  /** Where all weights are trained: writes them as they are now as a model's folder, under this name in `versions`, unless it is there. */
  saveTrained?(name: string): Promise<void>;
  /** Writes everything that the next step depends on into a new folder (absolute), from which an engine can be opened again. */
  saveState(folder: string): Promise<void>;
}
