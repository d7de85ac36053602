import type { Projection } from './projections.ts';

/** A low-rank change of one projection: its weight becomes `weight + scaling · b · a`. */
export interface LoraPair {
  /** `[rank, in]`, row-major. */
  readonly a: Float32Array;
  /** `[out, rank]`, row-major. */
  readonly b: Float32Array;
}

/** A LoRA adapter in memory. */
export interface Adapter {
  /** The folder's own name. */
  readonly name: string;
  /** Absolute path, as given. */
  readonly folder: string;
  readonly rank: number;
  /** `alpha / rank`, or `alpha / √rank` with rank-stabilised LoRA. */
  readonly scaling: number;
  /** The projections that have a pair in at least one layer, in the order of `PROJECTIONS`. */
  readonly targets: readonly Projection[];
  /** One map a decoder layer; a projection without a pair is unchanged there. */
  readonly layers: readonly ReadonlyMap<Projection, LoraPair>[];
  /** A hash of weights and configuration: part of every cache key. */
  readonly version: string;
}
