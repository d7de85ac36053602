import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, cast, lessOrEqual, multiply, where } from '../graph/ops/arithmetic.ts';
import { range } from '../graph/ops/indexing.ts';
import { matmul, swapLast } from '../graph/ops/linear.ts';
import { softmax } from '../graph/ops/neural.ts';
import { concat, slice, transpose } from '../graph/ops/pieces.ts';
import { reshape } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';
import type { Heads } from './decoder.ts';

/*
 * Attention made of plain operations, which every device has and which have gradients. Query heads that share a key are handled as more
 * queries of that key, so that no key or value is repeated.
 */

/** Added to the score of what may not be seen: its weight becomes exactly 0. */
const HIDDEN = -1e30;

/** Every token sees itself and those before it in its row. Rows shorter than `length` are padded on the right. */
export function causalAttention(g: Graph, config: DecoderConfig, { query, key, value }: Heads, batch: Dimension, length: Dimension): Tensor {
  const { attentionHeads, keyValueHeads, headSize } = config;
  const group = attentionHeads / keyValueHeads;
  const grouped = reshape(g, scaled(g, query, headSize), [batch, keyValueHeads, `${group}*${length}`, headSize]);
  const scores = reshape(g, matmul(g, grouped, swapLast(g, key)), [batch, keyValueHeads, group, length, length]);
  const weights = softmax(g, add(g, scores, causalMask(g, length, scores)));
  const attended = matmul(g, reshape(g, weights, [batch, keyValueHeads, `${group}*${length}`, length]), value);
  return reshape(g, attended, [batch, attentionHeads, length, headSize]);
}

/** 0 where a column is not after its row, else HIDDEN: [length, length], built once a graph. */
function causalMask(g: Graph, length: Dimension, like: Tensor): Tensor {
  return g.once(`causal ${length} ${like.element}`, () => {
    const places = range(g, length);
    const seen = lessOrEqual(g, reshape(g, places, [1, length]), reshape(g, places, [length, 1]));
    return where(g, seen, g.scalar(like.element, 0), g.scalar(like.element, HIDDEN));
  });
}

const scaled = (g: Graph, query: Tensor, headSize: number): Tensor => multiply(g, query, g.scalar(query.element, 1 / Math.sqrt(headSize)));

/** What was computed of a layer's tokens: key and value [batch, keyValueHeads, length, headSize] each. */
export interface KeyValue {
  readonly key: Tensor;
  readonly value: Tensor;
}

export interface SharedPrefix {
  /** Sizes: how many prompts, samples of each, and rows (their product). */
  readonly prompts: Dimension;
  readonly samples: Dimension;
  readonly rows: Dimension;
  /** The longest prompt, and the places for new tokens. */
  readonly length: Dimension;
  readonly places: Dimension;
  /** 0 or HIDDEN: [rows, 1, 1, length] for the prompt's tokens, [places] for the new ones. */
  readonly prefixMask: Tensor;
  readonly tailMask: Tensor;
}

/**
 * One new token a row attends to its prompt, of which all samples of it share one cache that no step changes, and to the tokens that
 * came after, `tail`, each row its own. So a step copies only the tail, and a prompt's cache is read once for all its samples.
 */
export function sharedPrefixAttention(g: Graph, config: DecoderConfig, query: Tensor, prefix: KeyValue, tail: KeyValue, shape: SharedPrefix): Tensor {
  const { attentionHeads, keyValueHeads, headSize } = config;
  const { prompts, samples, rows, length, places, prefixMask, tailMask } = shape;
  const group = attentionHeads / keyValueHeads;
  const queries = `${samples}*${group}`;
  const own = reshape(g, scaled(g, query, headSize), [rows, keyValueHeads, group, headSize]);
  const shared = reshape(g, swapSamples(g, own, [prompts, samples, keyValueHeads, group, headSize]), [prompts, keyValueHeads, queries, headSize]);

  const prefixScores = matmul(g, shared, swapLast(g, prefix.key));
  const byRow = reshape(g, swapSamples(g, prefixScores, [prompts, keyValueHeads, samples, group, length]), [rows, keyValueHeads, group, length]);
  const tailScores = matmul(g, own, swapLast(g, tail.key));
  const scores = concat(g, [add(g, byRow, prefixMask), add(g, tailScores, tailMask)], -1, 'seen');
  const weights = softmax(g, scores);

  const prefixWeights = slice(g, weights, -1, 0, length);
  const tailWeights = slice(g, weights, -1, g.size(String(length)), places);
  const together = reshape(g, swapSamples(g, prefixWeights, [prompts, samples, keyValueHeads, group, length]), [prompts, keyValueHeads, queries, length]);
  const fromPrefix = matmul(g, together, prefix.value);
  const split = reshape(g, swapSamples(g, fromPrefix, [prompts, keyValueHeads, samples, group, headSize]), [rows, keyValueHeads, group, headSize]);
  return reshape(g, add(g, split, matmul(g, tailWeights, tail.value)), [rows, attentionHeads, 1, headSize]);
}

/** Views `x` in a shape of five axes and swaps the second and the third. */
const swapSamples = (g: Graph, x: Tensor, shape: readonly Dimension[]): Tensor => transpose(g, reshape(g, x, shape), [0, 2, 1, 3, 4]);

/** `old` with the one new key or value of each row, [rows, keyValueHeads, 1, headSize], at a place (bool[places, 1]). */
export const written = (g: Graph, old: Tensor, added: Tensor, place: Tensor): Tensor => where(g, place, added, old);

/** int64 lengths[batch] to 0 for the first so many places of a row, HIDDEN behind: [batch, 1, 1, length]. */
export function lengthMask(g: Graph, lengths: Tensor, batch: Dimension, length: Dimension, element: 'float32' | 'float16' | 'bfloat16'): Tensor {
  const last = reshape(g, lengths, [batch, 1]);
  const seen = lessOrEqual(g, add(g, reshape(g, range(g, length), [1, length]), g.scalar('int64', 1)), last);
  const mask = where(g, seen, g.scalar('float32', 0), g.scalar('float32', HIDDEN));
  return reshape(g, cast(g, mask, element), [batch, 1, 1, length]);
}

/** 0 up to and with a place (int64[]), HIDDEN behind: [places]. */
export function upToMask(g: Graph, place: Tensor, places: Dimension, element: 'float32' | 'float16' | 'bfloat16'): Tensor {
  const seen = lessOrEqual(g, range(g, places), place);
  return cast(g, where(g, seen, g.scalar('float32', 0), g.scalar('float32', HIDDEN)), element);
}
