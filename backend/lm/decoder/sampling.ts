import type { Graph, Tensor } from '../graph/graph.ts';
import {
  add, and, cast, divide, equal, less, lessOrEqual, minimum, multiply, or, subtract, where,
} from '../graph/ops/arithmetic.ts';
import { branch } from '../graph/ops/control.ts';
import { gatherElements, range } from '../graph/ops/indexing.ts';
import { logSoftmax, softmax } from '../graph/ops/neural.ts';
import { concat, slice } from '../graph/ops/pieces.ts';
import { argmax, cumulativeSum, top } from '../graph/ops/reduction.ts';
import { expand, reshape, sum } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';

/*
 * Draws one token per row in the graph from one uniform number per row. The same number gives the same token regardless of the other rows.
 * Therefore sums are cumulative or in blocks: ReduceSum over a whole row adds in another order if there is only one row.
 */

export interface SamplingInputs {
  /** float32[rows, 1]. 0 takes the most likely token. */
  readonly temperature: Tensor;
  /** float32[rows, 1]: top-p. Keeps the smallest set of most likely tokens whose probabilities add up to at least this; 1 keeps all. */
  readonly topP: Tensor;
  /** int64[rows, 1]: top-k. Keeps this many of the most likely tokens; 0 keeps all. */
  readonly topK: Tensor;
  /** bool[]: whether top-p or top-k excludes tokens in any row. If not, tokens are not sorted. */
  readonly restricted: Tensor;
  /** float32[rows, 1], in [0, 1). */
  readonly draw: Tensor;
  /** bool[rows, vocabulary]. */
  readonly allowed: Tensor;
}

/** Top-p and top-k consider at most this many of the most likely tokens. A row with either never draws another token. */
export const LIKELIEST = 1024;

/**
 * Draws from float32 logits[rows, vocabulary]. `logprob` float32[rows, 1] is the log-probability under softmax(logits / temperature), or
 * softmax(logits) at temperature 0, before top-p, top-k and `allowed`. The importance ratio of training needs it.
 */
export function sampleToken(
  g: Graph,
  logits: Tensor,
  rows: Dimension,
  vocabulary: number,
  { temperature, topP, topK, restricted, draw, allowed }: SamplingInputs,
): { readonly token: Tensor; readonly logprob: Tensor } {
  const greedy = equal(g, temperature, g.scalar('float32', 0));
  const scaled = divide(g, logits, where(g, greedy, g.scalar('float32', 1), temperature));
  const logprobs = logSoftmax(g, scaled);
  const hidden = g.scalar('float32', HIDDEN);
  // Not exp(logprobs), which can be 0 for every token if all allowed tokens are very unlikely.
  const shares = withoutTraces(g, softmax(g, where(g, allowed, scaled, hidden)));

  const [drawn] = branch(
    g,
    restricted,
    (b) => [drawFromLikeliest(b, shares, rows, vocabulary, { topP, topK, draw })],
    (b) => [drawFromAll(b, shares, rows, vocabulary, draw)],
  );
  const likeliest = argmax(g, where(g, allowed, logits, hidden), -1);
  const token = where(g, greedy, likeliest, drawn!);
  return { token, logprob: gatherElements(g, logprobs, token, 1) };
}

/** Replaces the logit of a token that is not allowed. */
const HIDDEN = -1e30;

/** The smallest share that is drawn: the smallest normal number of float32. */
const SMALLEST_SHARE = 2 ** -126;

/**
 * Makes shares of almost nothing exactly 0. onnxruntime's softmax computes no exponential below exp(-88) on ARM, so that a hidden token keeps a
 * share near 1e-41, and a draw of 0 would take it.
 */
function withoutTraces(g: Graph, shares: Tensor): Tensor {
  return where(g, less(g, shares, g.scalar('float32', SMALLEST_SHARE)), g.scalar('float32', 0), shares);
}

/** Keeps a draw just below the total, so that rounding never passes the last token with a non-zero probability. */
const BELOW_ONE = 1 - 2e-7;

/** The inverse cumulative distribution of float32 shares[rows, vocabulary], in two levels to keep sums and searches short. */
function drawFromAll(g: Graph, shares: Tensor, rows: Dimension, vocabulary: number, draw: Tensor): Tensor {
  const size = blockSize(vocabulary);
  const count = Math.ceil(vocabulary / size);
  const missing = count * size - vocabulary;
  const whole = missing === 0 ? shares : concat(g, [shares, expand(g, g.scalar('float32', 0), [rows, missing])], 1);
  const blocks = reshape(g, whole, [rows, count, size]);
  const blockTotals = sum(g, blocks, [2]);
  const outer = invert(g, blockTotals, rows, count, (total) => multiply(g, draw, total));
  const place = expand(g, reshape(g, outer.index, [rows, 1, 1]), [rows, 1, size]);
  const block = reshape(g, gatherElements(g, blocks, place, 1), [rows, size]);
  const inner = invert(g, block, rows, size, () => outer.rest);
  return add(g, multiply(g, outer.index, g.scalar('int64', size)), inner.index);
}

/** The most numbers that a processor adds in one instruction. The rounding of a sum depends on where in such a group it begins. */
const LANES = 16;

/**
 * Near the square root of the vocabulary. A divisor of the vocabulary needs no padding, but is used only if every row begins at the same
 * place in a group of LANES; otherwise a multiple of LANES.
 */
function blockSize(vocabulary: number): number {
  const root = Math.ceil(Math.sqrt(vocabulary));
  for (let size = root; vocabulary % LANES === 0 && size <= 4 * root; size += 1) if (vocabulary % size === 0) return size;
  return Math.ceil(root / LANES) * LANES;
}

/** The first index whose cumulative share exceeds a threshold, int64[rows, 1], and the threshold less the shares before that index. */
function invert(
  g: Graph, shares: Tensor, rows: Dimension, size: number, threshold: (total: Tensor) => Tensor,
): { readonly index: Tensor; readonly rest: Tensor } {
  const cumulated = cumulativeSum(g, shares, 1);
  const total = slice(g, cumulated, 1, size - 1, 1);
  const wanted = minimum(g, threshold(total), multiply(g, total, g.scalar('float32', BELOW_ONE)));
  const passed = lessOrEqual(g, cumulated, wanted);
  const index = sum(g, cast(g, passed, 'int64'), [1], { keep: true });
  // Taken from the same cumulative sum. Another sum could give a negative rest, and then a first token with probability 0 would be drawn.
  const cumulatedBefore = concat(g, [expand(g, g.scalar('float32', 0), [rows, 1]), cumulated], 1);
  const before = gatherElements(g, cumulatedBefore, index, 1);
  return { index: minimum(g, index, g.scalar('int64', size - 1)), rest: subtract(g, wanted, before) };
}

/** Draws from shares[rows, vocabulary], which add up to 1. Like transformers, applies top-k first and top-p to the rest. */
function drawFromLikeliest(
  g: Graph,
  shares: Tensor,
  rows: Dimension,
  vocabulary: number,
  { topP, topK, draw }: Pick<SamplingInputs, 'topP' | 'topK' | 'draw'>,
): Tensor {
  const count = Math.min(LIKELIEST, vocabulary);
  const [values, tokens] = top(g, shares, count);
  const zero = g.scalar('float32', 0);
  const everything = equal(g, topK, g.scalar('int64', 0));
  const rank = reshape(g, range(g, count), [1, count]);
  const withinK = where(g, or(g, everything, less(g, rank, topK)), values, zero);
  const cumulated = cumulativeSum(g, withinK, 1);
  const total = where(g, everything, g.scalar('float32', 1), slice(g, cumulated, 1, count - 1, 1));
  const better = subtract(g, cumulated, withinK);
  // The most likely token is always kept.
  const within = or(g, less(g, better, multiply(g, topP, total)), equal(g, expand(g, rank, [rows, count]), g.scalar('int64', 0)));
  const kept = where(g, and(g, within, less(g, zero, withinK)), withinK, zero);
  const { index } = invert(g, kept, rows, count, (keptTotal) => multiply(g, draw, keptTotal));
  return gatherElements(g, tokens, index, 1);
}
