import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import type { ComputeType } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, and, cast, less, lessOrEqual, multiply, subtract, where } from '../graph/ops/arithmetic.ts';
import { range } from '../graph/ops/indexing.ts';
import { matmul, swapLast } from '../graph/ops/linear.ts';
import { groupedQueryAttention, rotary, softmax } from '../graph/ops/neural.ts';
import { concat, slice, sliceRest, transpose } from '../graph/ops/pieces.ts';
import { expand, reshape } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';
import type { Decoder, Projected } from './decoder.ts';

/*
 * Four forms of causal grouped-query attention. Query heads that share a key are handled as more queries of that key, so that no key or
 * value is repeated. Rows of a batch are padded on the right, where causal attention never looks.
 */

/** Added to a masked score: its attention weight becomes exactly 0. */
const HIDDEN = -1e30;

/** Keys (rotated) and values of a layer's tokens: [batch, keyValueHeads, length, headSize] each. */
export interface KeyValue {
  readonly key: Tensor;
  readonly value: Tensor;
}

/** The sizes of a batch of rows that begin at position 0. */
export interface Rows {
  readonly batch: Dimension;
  readonly length: Dimension;
}

export interface PromptRows extends Rows {
  /**
   * int32[]: the length again, as an input of the graph, for the fused kernel. It reads the number on the host. On CUDA a length that is computed
   * in the graph is copied there, and onnxruntime 1.30 does not wait for the copy: seen on an H100 as a length of 0 and an illegal memory access.
   */
  readonly total: Tensor;
}

/** The result of attention, [.., heads, headSize] in the order of the tokens, and the KV cache for later tokens. */
export interface Attended {
  readonly output: Tensor;
  readonly cache: KeyValue;
}

/** Causal attention over whole rows, by the fastest kernel of the device. */
export const promptAttention = (g: Graph, decoder: Decoder, projected: Projected, rows: PromptRows): Attended =>
  (decoder.weights.hasFusedAttention(projected.sight.window) ? fusedCausalAttention : causalAttention)(g, decoder, projected, rows);

/** Causal attention by onnxruntime's kernel, which holds no [length, length] scores. It has no gradient, and no float32 on CUDA. */
export function fusedCausalAttention(g: Graph, { config }: Decoder, { query, key, value, sight }: Projected, { batch, length, total }: PromptRows): Attended {
  const { attentionHeads: heads, keyValueHeads, headSize } = config;
  const side = (x: Tensor, count: number): Tensor => reshape(g, x, [batch, length, count * headSize]);
  const last = g.once(`last of ${batch} ${length}`, () => expand(g, add(g, cast(g, g.size(String(length)), 'int32'), g.scalar('int32', -1)), [batch]));
  const { output, ...cache } = groupedQueryAttention(
    g,
    { query: side(query, heads), key: side(key, keyValueHeads), value: side(value, keyValueHeads) },
    { lastIndex: last, total, ...sight.rotation },
    { heads, keyValueHeads, batch, length, window: sight.window, scale: config.scoreFactor },
  );
  return { output, cache };
}

/** Causal attention made of plain operations, which every device has and which have gradients. */
export function causalAttention(g: Graph, { config }: Decoder, projected: Projected, { batch, length }: Rows): Attended {
  const { attentionHeads, keyValueHeads, headSize } = config;
  const { rotation, window } = projected.sight;
  const group = attentionHeads / keyValueHeads;
  const positions = g.once(`positions ${batch} ${length}`, () => expand(g, reshape(g, range(g, length), [1, length]), [batch, length]));
  const heads = (x: Tensor, count: number): Tensor => transpose(g, reshape(g, x, [batch, length, count, headSize]), [0, 2, 1, 3]);
  const rotated = (x: Tensor): Tensor => rotary(g, x, positions, rotation.cosine, rotation.sine);
  const query = scaled(g, rotated(heads(projected.query, attentionHeads)), config);
  const key = rotated(heads(projected.key, keyValueHeads));
  const value = heads(projected.value, keyValueHeads);

  const queries = reshape(g, query, [batch, keyValueHeads, `${group}*${length}`, headSize]);
  const scores = reshape(g, matmul(g, queries, swapLast(g, key)), [batch, keyValueHeads, group, length, length]);
  const weights = softmax(g, add(g, scores, causalMask(g, length, scores, window)));
  const attended = matmul(g, reshape(g, weights, [batch, keyValueHeads, `${group}*${length}`, length]), value);
  const output = transpose(g, reshape(g, attended, [batch, attentionHeads, length, headSize]), [0, 2, 1, 3]);
  return { output, cache: { key, value } };
}

/** The sizes and inputs of rows that continue prompts. Rows of the same prompt are adjacent. */
export interface Continuations {
  /** The number of prompts, of rows of each prompt, and of all rows (the product). */
  readonly prompts: Dimension;
  readonly samples: Dimension;
  readonly rows: Dimension;
  /** The lengths of the longest prompt and the longest row. */
  readonly promptLength: Dimension;
  readonly length: Dimension;
  /** 0 or HIDDEN: [prompts, 1, 1, promptLength]. */
  readonly promptMask: Tensor;
  /** int64[rows, length]. */
  readonly positions: Tensor;
}

/** Each row attends to its prompt, `prefix`, and to its own earlier tokens. Differentiable. Returns [rows, length, heads, headSize]. */
export function continuationAttention(
  g: Graph, { config }: Decoder, projected: Projected, prefix: KeyValue,
  { prompts, samples, rows, promptLength, length, promptMask, positions }: Continuations,
): Tensor {
  const { attentionHeads, keyValueHeads, headSize } = config;
  const { rotation, window } = projected.sight;
  const group = attentionHeads / keyValueHeads;
  const queries = `${group}*${length}`;
  const heads = (x: Tensor, count: number): Tensor => transpose(g, reshape(g, x, [rows, length, count, headSize]), [0, 2, 1, 3]);
  const rotated = (x: Tensor): Tensor => rotary(g, x, positions, rotation.cosine, rotation.sine);
  const key = rotated(heads(projected.key, keyValueHeads));
  const value = heads(projected.value, keyValueHeads);
  const query = scaled(g, rotated(heads(projected.query, attentionHeads)), config);

  // Regrouped by prompt, all rows of a prompt are queries of the same keys.
  const own = reshape(g, query, [rows, keyValueHeads, queries, headSize]);
  const byPrompt = (x: Tensor, last: Dimension): Tensor =>
    reshape(g, swapSamples(g, x, [prompts, samples, keyValueHeads, queries, last]), [prompts, keyValueHeads, `${samples}*${queries}`, last]);
  const byRow = (x: Tensor, last: Dimension): Tensor =>
    reshape(g, swapSamples(g, x, [prompts, keyValueHeads, samples, queries, last]), [rows, keyValueHeads, queries, last]);
  const seen = byRow(add(g, matmul(g, byPrompt(own, headSize), swapLast(g, prefix.key)), promptMask), promptLength);
  const byToken = [rows, keyValueHeads, group, length, promptLength];
  const ofPrompt = window === undefined
    ? seen
    : reshape(g, add(g, reshape(g, seen, byToken), farMask(g, positions, byToken, seen, window)), [rows, keyValueHeads, queries, promptLength]);
  const within = reshape(g, matmul(g, own, swapLast(g, key)), [rows, keyValueHeads, group, length, length]);
  const ofRow = reshape(g, add(g, within, causalMask(g, length, within, window)), [rows, keyValueHeads, queries, length]);
  const weights = softmax(g, concat(g, [ofPrompt, ofRow], -1, `${promptLength}+${length}`));

  const fromPrompt = byRow(matmul(g, byPrompt(slice(g, weights, -1, 0, promptLength), promptLength), prefix.value), headSize);
  const fromRow = matmul(g, sliceRest(g, weights, -1, g.size(String(promptLength)), length), value);
  const attended = reshape(g, add(g, fromPrompt, fromRow), [rows, attentionHeads, length, headSize]);
  return transpose(g, attended, [0, 2, 1, 3]);
}

/** [length, length]: 0 on and below the diagonal as far as the window goes, HIDDEN elsewhere. Built once per graph. */
function causalMask(g: Graph, length: Dimension, like: Tensor, window?: number): Tensor {
  return g.once(`causal ${length} ${like.element} ${window}`, () => {
    const places = range(g, length);
    const [keys, queries] = [reshape(g, places, [1, length]), reshape(g, places, [length, 1])];
    const before = lessOrEqual(g, keys, queries);
    return hiddenUnless(g, window === undefined ? before : and(g, before, isNear(g, queries, keys, window)), like);
  });
}

/** 0 where a prompt's token is in the window of the token at int64 positions[rows, length], HIDDEN elsewhere. `shape` is that of the scores. */
function farMask(g: Graph, positions: Tensor, [rows, , , length, promptLength]: readonly Dimension[], like: Tensor, window: number): Tensor {
  return g.once(`far ${rows} ${length} ${promptLength} ${like.element} ${window}`, () => {
    const keys = range(g, promptLength!);
    return hiddenUnless(g, isNear(g, reshape(g, positions, [rows!, 1, 1, length!, 1]), keys, window), like);
  });
}

/** Whether the places of keys are in the window of those of queries. */
const isNear = (g: Graph, queries: Tensor, keys: Tensor, window: number): Tensor => less(g, subtract(g, queries, keys), g.scalar('int64', window));

const hiddenUnless = (g: Graph, seen: Tensor, like: Tensor): Tensor => where(g, seen, g.scalar(like.element, 0), g.scalar(like.element, HIDDEN));

const scaled = (g: Graph, query: Tensor, { headSize, scoreFactor = 1 / Math.sqrt(headSize) }: DecoderConfig): Tensor =>
  multiply(g, query, g.scalar(query.element, scoreFactor));

/** The sizes and inputs of a step, which adds one token to each row. */
export interface Step {
  /** The number of prompts, of samples of each prompt, and of rows (the product). */
  readonly prompts: Dimension;
  readonly samples: Dimension;
  readonly rows: Dimension;
  /** The length of the longest prompt, and the number of tokens after the prompt, including this one. */
  readonly length: string;
  readonly seen: Dimension;
  /** 0 or HIDDEN: [rows, 1, 1, length]. */
  readonly prefixMask: Tensor;
  /** int64[rows, 1]. */
  readonly positions: Tensor;
}

/**
 * Each row attends to the cache of its prompt, `prefix`, which all samples share and no step changes, and to its own `tail`, the tokens
 * after the prompt. A step copies only the tail, and reads a prompt's cache once for all samples. Returns the tail with the new token.
 */
export function sharedPrefixAttention(g: Graph, { config }: Decoder, projected: Projected, prefix: KeyValue, tail: KeyValue, step: Step): Attended {
  const { attentionHeads, keyValueHeads, headSize } = config;
  const { prompts, samples, rows, length, seen, prefixMask, positions } = step;
  const { rotation, window } = projected.sight;
  const group = attentionHeads / keyValueHeads;
  const queries = `${samples}*${group}`;
  const heads = (x: Tensor, count: number): Tensor => reshape(g, x, [rows, count, 1, headSize]);
  const rotated = (x: Tensor): Tensor => rotary(g, x, positions, rotation.cosine, rotation.sine);
  const cache: KeyValue = {
    key: concat(g, [tail.key, rotated(heads(projected.key, keyValueHeads))], 2, seen),
    value: concat(g, [tail.value, heads(projected.value, keyValueHeads)], 2, seen),
  };

  const query = scaled(g, rotated(heads(projected.query, attentionHeads)), config);
  const own = reshape(g, query, [rows, keyValueHeads, group, headSize]);
  const shared = reshape(g, swapSamples(g, own, [prompts, samples, keyValueHeads, group, headSize]), [prompts, keyValueHeads, queries, headSize]);
  const prefixScores = matmul(g, shared, swapLast(g, prefix.key));
  const byRow = reshape(g, swapSamples(g, prefixScores, [prompts, keyValueHeads, samples, group, length]), [rows, keyValueHeads, group, length]);
  const tailScores = matmul(g, own, swapLast(g, cache.key));
  const prompt = add(g, byRow, prefixMask);
  const far = (from: number): Tensor => g.onHost(() => farMask(g, positions, [rows, 1, 1, 1, length], prompt, from));
  const scores = window === undefined
    ? [prompt, tailScores]
    : [add(g, prompt, reshape(g, far(window), [rows, 1, 1, length])), add(g, tailScores, g.onHost(() => oldMask(g, seen, tailScores, window)))];
  const weights = softmax(g, concat(g, scores, -1, `${length}+${seen}`));

  const prefixWeights = swapSamples(g, slice(g, weights, -1, 0, length), [prompts, samples, keyValueHeads, group, length]);
  const fromPrefix = matmul(g, reshape(g, prefixWeights, [prompts, keyValueHeads, queries, length]), prefix.value);
  const split = reshape(g, swapSamples(g, fromPrefix, [prompts, keyValueHeads, samples, group, headSize]), [rows, keyValueHeads, group, headSize]);
  const fromTail = matmul(g, sliceRest(g, weights, -1, g.size(length), seen), cache.value);
  return { output: add(g, split, fromTail), cache };
}

/** [seen]: 0 for the last tokens as far as the window goes, HIDDEN for older ones. */
function oldMask(g: Graph, seen: Dimension, like: Tensor, window: number): Tensor {
  return g.once(`old ${seen} ${like.element} ${window}`, () => hiddenUnless(g, isNear(g, g.size(String(seen)), range(g, seen), window + 1), like));
}

/** Views `x` in a shape of five axes and swaps the second and the third. */
const swapSamples = (g: Graph, x: Tensor, shape: readonly Dimension[]): Tensor => transpose(g, reshape(g, x, shape), [0, 2, 1, 3, 4]);

/** Turns int64 lengths[batch] into a mask [batch, 1, 1, length]: 0 within a row's length, HIDDEN after it. */
export function lengthMask(g: Graph, lengths: Tensor, { batch, length }: Rows, compute: ComputeType): Tensor {
  const seen = less(g, reshape(g, range(g, length), [1, length]), reshape(g, lengths, [batch, 1]));
  const mask = where(g, seen, g.scalar('float32', 0), g.scalar('float32', HIDDEN));
  return reshape(g, cast(g, mask, compute), [batch, 1, 1, length]);
}
