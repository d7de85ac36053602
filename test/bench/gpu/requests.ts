/* What is said between the benchmark and the processes that it measures: one JSON line for one JSON line, the first is `Loaded`. */

export interface Loaded {
  readonly version: string;
  readonly loadSeconds: number;
  readonly quantizeSeconds?: number;
  readonly weightsHeldBytes?: number;
}

export type Request =
  | {
    readonly kind: 'generate';
    readonly prompts: readonly (readonly number[])[];
    readonly samples: number;
    /** Nothing stops a row early. */
    readonly newTokens: number;
    /** Ours only; one chunk where absent. */
    readonly chunkTokens?: number;
    /** transformers only. */
    readonly cache?: 'dynamic' | 'static';
  }
  | { readonly kind: 'profile'; readonly prompts: readonly (readonly number[])[]; readonly newTokens: number }
  /** PyTorch only: how fast memory is copied and read. */
  | { readonly kind: 'bandwidth'; readonly bytes: number };

export interface Answer {
  readonly seconds: number;
  readonly tokens: number;
  readonly heldBytes?: number;
  /** Runs of onnxruntime, and what was handed in and out. */
  readonly runs?: number;
  readonly fedBytes?: number;
  readonly fetchedBytes?: number;
  readonly failure?: string;
}

export interface Bandwidth {
  readonly copyBytesPerSecond: number;
  readonly readBytesPerSecond: number;
}

export interface Profiled {
  /** Nodes that ran in every step, those that copy between the two memories, and those on the host. */
  readonly nodesInStep: number;
  readonly copiesInStep: number;
  readonly copiedBytesInStep: number;
  readonly onHostInStep: number;
  /** Time on the host's clock in one step: on a GPU that of handing work to it. */
  readonly byOperator: Readonly<Record<string, { readonly nodes: number; readonly microseconds: number }>>;
}
