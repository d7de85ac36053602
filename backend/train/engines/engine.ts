import type { LossType } from '../../lm/trainer/loss-weights.ts';

/*
 * What a trainer asks of the machine that trains, in the shape of Tinker's API, so that a cluster can stand in for this machine: five verbs,
 * and token ids in and out. Grouping, verification and rewards stay with the trainer.
 */

/** Prompt and completion of one rollout. */
export interface SampledCompletion {
  readonly promptTokens: readonly number[];
  readonly tokens: readonly number[];
  /** Of softmax(logits / temperature), as the sampler has them. */
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
}

export interface SampleRequest {
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  /** How the answer begins. */
  readonly prefill?: string | undefined;
  readonly maxTokens: number;
  readonly temperature: number;
  /** One a sample. */
  readonly seeds: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** A completion, and how much better than its group it was. */
export interface Example {
  readonly promptTokens: readonly number[];
  readonly tokens: readonly number[];
  readonly samplerLogprobs: readonly number[];
  readonly advantage: number;
}

export interface PolicyLoss {
  readonly type: LossType;
  readonly clip: { readonly low: number; readonly high: number };
  /** How much the divergence from the model without its adapter counts. */
  readonly divergence: number;
  /** The most that a token may count for being likelier to the trainer than to the sampler; 0 for no such correction. */
  readonly importanceLimit: number;
  /** At which the completions were sampled. */
  readonly temperature: number;
  /** For `dr_grpo`. */
  readonly maxCompletionLength: number;
}

export interface Imitation {
  readonly type: 'cross_entropy';
  /** How much it counts beside other losses of the same step; 1 if not said. */
  readonly weight?: number | undefined;
}

export interface TrainedBatch {
  readonly loss: number;
  /** One list an example: of its tokens, and of the distributions they were drawn from, in nats. */
  readonly logprobs: readonly (readonly number[])[];
  readonly entropies: readonly (readonly number[])[];
  /** Under the model without its adapter, where the divergence counts. */
  readonly referenceLogprobs?: readonly (readonly number[])[];
}

export interface TrainEngine {
  /** Samples from the version that was saved last. */
  sample(request: SampleRequest): Promise<readonly SampledCompletion[]>;
  /** Adds the gradients of a loss over the whole batch to those of the step to come. */
  forwardBackward(loss: PolicyLoss | Imitation, batch: readonly Example[], signal?: AbortSignal): Promise<TrainedBatch>;
  optimStep(step: { readonly learningRate: number; readonly gradientClip: number }): Promise<{ readonly gradientNorm: number }>;
  /** Makes what was learned so far the version that is sampled from. The name is new for each version and part of every cache key. */
  saveForSampler(name: string): Promise<void>;
  /** As a PEFT folder (absolute), which must not be there yet. */
  exportAdapter(folder: string): Promise<void>;
  /** All that the next step depends on, into a new folder (absolute), from which an engine can be opened again. */
  saveState(folder: string): Promise<void>;
}
