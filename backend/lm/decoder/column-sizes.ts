import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { Graph, type Tensor } from '../graph/graph.ts';
import { multiply } from '../graph/ops/arithmetic.ts';
import { sum } from '../graph/ops/shape.ts';
import { Session } from '../graph/session.ts';
import type { QuantizedTensor } from '../quantize/quantized-tensor.ts';
import { Decoder, rotaryTables } from './decoder.ts';
import { scoreTokens, scoringInputs } from './scoring.ts';
import { scoringFeeds } from './scoring-run.ts';
import { DecoderWeights, type ProductForm } from './weights.ts';

/** Tokens that are read as one text. */
const WINDOW = 256;

/** What an unused column counts, as a part of what one counts on average. */
const UNUSED = 0.01;

export interface Reading {
  readonly threads?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * For each quantised weight [out, in], how large the numbers are that it is multiplied with while the model reads `texts`: the sums of their
 * squares over all tokens, float32[in], which are 1 on average. Runs on the CPU, with the quantised weights.
 * @throws the signal's reason when it aborts, between two windows
 */
export async function columnSizes(
  checkpoint: Checkpoint, quantized: ReadonlyMap<string, QuantizedTensor>, texts: readonly (readonly number[])[], { threads, signal }: Reading,
): Promise<ReadonlyMap<string, Float32Array>> {
  const { config } = checkpoint;
  const g = new Graph();
  const weights = new WatchedWeights(g, checkpoint, { device: 'cpu', compute: 'float32', adapters: false, quantized });
  const decoder = new Decoder(config, weights, rotaryTables(g, config, WINDOW, 'float32'));
  const scores = scoreTokens(g, decoder, scoringInputs(g));
  const names = [...weights.sizes.keys()].filter((name) => quantized.has(name));
  const session = await Session.open(g, { scores, ...Object.fromEntries(weights.sizes) }, { device: 'cpu', threads, repackWeights: true });
  const total = new Map<string, Float32Array>();
  try {
    for (const sequence of texts.flatMap(windows)) {
      signal?.throwIfAborted();
      const feeds = scoringFeeds({ sequences: [sequence], promptLengths: [sequence.length - 1] }, config, WINDOW);
      const sizes = await session.run(feeds!, names);
      for (const name of names) {
        const data = sizes[name]!.data as Float32Array;
        total.set(name, total.get(name)?.map((size, column) => size + data[column]!) ?? data);
      }
    }
  } finally {
    await session.close();
  }
  return new Map([...total].map(([name, sizes]) => [name, withoutZeros(sizes)]));
}

/** A column that these texts do not use counts a little, because others may. */
function withoutZeros(sizes: Float32Array): Float32Array {
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return sizes.map((size) => (mean > 0 ? size / mean + UNUSED : 1));
}

/** Knows the size of what each product takes in. */
class WatchedWeights extends DecoderWeights {
  readonly sizes = new Map<string, Tensor>();

  override product(g: Graph, x: Tensor, name: string, form: ProductForm, bias?: Tensor): Tensor {
    // The output layer is in the body of a loop, and has 8 bits anyway.
    if (!g.parent) this.sizes.set(name, sum(g, multiply(g, x, x), [0]));
    return super.product(g, x, name, form, bias);
  }
}

/** A window has a token to read and one to score at least. */
function windows(tokens: readonly number[]): readonly (readonly number[])[] {
  const all = Array.from({ length: Math.ceil(tokens.length / WINDOW) }, (_, index) => tokens.slice(index * WINDOW, (index + 1) * WINDOW));
  return all.filter(({ length }) => length > 1);
}
