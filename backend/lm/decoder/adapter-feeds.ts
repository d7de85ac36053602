import { PROJECTIONS, projectionSize } from '../adapter/projections.ts';
import type { Adapter } from '../adapter/read-adapter.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type Feeds, float32s } from '../graph/session.ts';
import { adapterInput } from './weights.ts';

/** An adapter as the inputs of a run. Projections that it does not change get matrices of rank 0, as does a run without an adapter. */
export class AdapterFeeds {
  readonly #config: DecoderConfig;
  #last: { readonly adapter: Adapter | undefined; readonly feeds: Feeds } | undefined;

  constructor(config: DecoderConfig) {
    this.#config = config;
  }

  /** The feeds of the last adapter are kept, because each chunk of a generation needs them. */
  of(adapter: Adapter | undefined): Feeds {
    if (this.#last?.adapter !== adapter || !this.#last) this.#last = { adapter, feeds: this.#make(adapter) };
    return this.#last.feeds;
  }

  #make(adapter: Adapter | undefined): Feeds {
    const feeds: Record<string, Feeds[string]> = {};
    for (let layer = 0; layer < this.#config.layers; layer += 1) {
      for (const projection of PROJECTIONS) {
        const size = projectionSize(this.#config, projection);
        const pair = adapter?.layers[layer]?.get(projection);
        const rank = pair ? (adapter?.rank ?? 0) : 0;
        const scaling = adapter?.scaling ?? 1;
        feeds[adapterInput(layer, projection, 'a')] = float32s([rank, size.in], pair?.a ?? []);
        feeds[adapterInput(layer, projection, 'b')] = float32s([size.out, rank], pair?.b.map((value) => value * scaling) ?? []);
      }
    }
    return feeds;
  }
}
