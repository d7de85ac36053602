import type { FinishReason, ModelReply } from '../workers/model.ts';

/** A worker as the Conductor is told of it: its ordinal is its position in the pool. Names are withheld, so that none is favoured. */
export interface PoolEntry {
  readonly description?: string | undefined;
}

/** What happened in an earlier round, for the Conductor to revise. */
export interface PastRound {
  /** The Conductor's own text of that round. */
  readonly planText: string;
  readonly answer: string;
  /** What the project's tests said, or why they could not say anything. */
  readonly feedback: string;
}

export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  /** One seed a sample; a policy that cannot seed ignores them. */
  readonly seeds?: readonly number[] | undefined;
  readonly maxTokens: number;
  /** Decode only texts that parse as a plan; a policy that cannot ignores it. */
  readonly constrained?: boolean | undefined;
}

export interface PolicyRequest {
  readonly question: string;
  readonly context: string;
  readonly pool: readonly PoolEntry[];
  readonly rounds: readonly PastRound[];
  /** Why an earlier text of the same round was no plan; absent at the first try. */
  readonly rejection?: { readonly text: string; readonly message: string } | undefined;
  readonly n: number;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  readonly onText: (sample: number, text: string) => void;
}

/** Which model wrote a plan, and in which version. */
export interface PolicyIdentity {
  readonly model: string;
  readonly adapterVersion?: string | undefined;
  readonly promptVersion: string;
}

export interface PolicySample {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: ModelReply['usage'];
  readonly policy: PolicyIdentity;
  /** The seed and the device of a model of this machine. */
  readonly sampled?: ModelReply['sampled'];
  readonly promptTokenIds?: readonly number[] | undefined;
  readonly tokenIds?: readonly number[] | undefined;
  /** Of logits divided by the temperature, before top-p and masks: what the importance ratio of training needs. */
  readonly logprobs?: readonly number[] | undefined;
}

/** Whoever plays the Conductor. */
export interface Policy {
  readonly identity: PolicyIdentity;
  /** `n` texts for one prompt. Parsing them is the caller's. */
  sample(request: PolicyRequest): Promise<PolicySample[]>;
}
