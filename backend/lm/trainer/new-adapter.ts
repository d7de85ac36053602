import type { LoraPair } from '../adapter/read-adapter.ts';
import { PROJECTIONS, type Projection, projectionSize } from '../adapter/projections.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { uniform } from '../decoder/noise.ts';

export interface NewAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly projections: readonly Projection[];
  readonly seed: number;
}

type Layers = readonly ReadonlyMap<Projection, LoraPair>[];

/**
 * A new adapter, initialised like PEFT's: `b` is 0, so that it does not change the model yet, and `a` is uniform within ±1/√in (Kaiming's
 * bound for a = √5). The same seed gives the same adapter.
 */
export function newAdapterLayers(config: DecoderConfig, { rank, projections, seed }: NewAdapter): Layers {
  let drawn = 0;
  return Array.from({ length: config.layers }, () => new Map(
    PROJECTIONS.filter((projection) => projections.includes(projection)).map((projection): [Projection, LoraPair] => {
      const size = projectionSize(config, projection);
      const bound = 1 / Math.sqrt(size.in);
      const a = Float32Array.from({ length: rank * size.in }, () => bound * (2 * uniform(seed, drawn++) - 1));
      return [projection, { a, b: new Float32Array(size.out * rank) }];
    }),
  ));
}
