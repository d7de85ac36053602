/** One batch of completions with all that an update needs to know: what every side of the comparison is given, as a JSON file. */
export interface Job {
  /** Absolute: a Hugging Face folder, and a PEFT folder with the adapter that all begin with. */
  readonly model: string;
  readonly adapter: string;
  readonly device: 'cpu' | 'cuda';
  readonly threads: number;
  /** Where ours keeps quantised weights. */
  readonly storage: string;
  /** All of the same length: [rows][length]. */
  readonly sequences: readonly (readonly number[])[];
  readonly promptTokens: number;
  /** Of the completions' tokens, as the policy that has sampled them had it: [rows][length − promptTokens]. */
  readonly oldLogprobs: readonly (readonly number[])[];
  /** One a row. */
  readonly advantages: readonly number[];
  readonly clip: { readonly low: number; readonly high: number };
  /** Rows that PyTorch takes forward and back at once. Ours takes as many as it does in the product. */
  readonly microBatch: number;
  readonly learningRate: number;
  readonly gradientClip: number;
  /** The first one is for warming up. */
  readonly updates: number;
}

/** What a side says, one JSON line each: one `loaded`, an `updated` for each update, one `ended`. */
export type SideLine =
  | { readonly kind: 'loaded'; readonly version: string; readonly seconds: number; readonly peakBytes: number }
  | { readonly kind: 'updated'; readonly loss: number; readonly gradientNorm: number; readonly seconds: number; readonly cpuSeconds: number }
  /** The peak since it was loaded. */
  | { readonly kind: 'ended'; readonly peakBytes: number };
