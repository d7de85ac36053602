/*
 * Block quantisation of weights in the layout of onnxruntime's `MatMulNBits`. A row is split into blocks of columns. Each block
 * has its own scale, so that a large weight reduces the precision of its block only.
 *
 *   weight ≈ (code − 2^(bits−1)) · scale        code in 0 … 2^bits − 1; the scale may be negative
 *
 * The zero point is onnxruntime's default. With a zero point for each block, 4 bits would be 5 % more exact on Gaussian weights
 * and 16 % on heavy tails (Student's t, 4 degrees of freedom), at the same speed on a CPU. But onnxruntime's fused CUDA kernels,
 * in the default build, support no zero points and only blocks of 32 (pull requests 32324 and 32721 of microsoft/onnxruntime),
 * and all devices use the same files.
 */

export type QuantizedBits = 4 | 8;

export interface BlockFormat {
  readonly bits: QuantizedBits;
  /** The number of weights that share a scale: a power of two, at least 16 (onnxruntime's rule). */
  readonly blockSize: number;
}

/** The block size with the fastest kernels on all devices. */
export const DEFAULT_BLOCK_SIZE = 32;

export interface QuantizedRows {
  /** [rows, blocks of a row, blockSize · bits / 8]. The first of two 4-bit codes is in the lower half of the byte. */
  readonly blocks: Uint8Array;
  /** [rows, blocks of a row] */
  readonly scales: Float32Array;
}

/** A weight is NaN or infinite. */
export class NonFiniteWeightError extends Error {
  override readonly name = 'NonFiniteWeightError';
  /** The row-major index of the weight in the given weights. */
  readonly index: number;

  constructor(index: number) {
    super(`The weight at index ${index} is not a finite number: download the model again, or choose another.`);
    this.index = index;
  }
}

/** The last block of a row is padded with zeros. */
export function blocksPerRow(columns: number, { blockSize }: BlockFormat): number {
  return Math.ceil(columns / blockSize);
}

export function codeBytesPerRow(columns: number, format: BlockFormat): number {
  return (blocksPerRow(columns, format) * format.blockSize * format.bits) / 8;
}

/** Reusable storage for `rows` quantised rows; see `quantizeRows`. */
export function allocateQuantizedRows(rows: number, columns: number, format: BlockFormat): QuantizedRows {
  return {
    blocks: new Uint8Array(rows * codeBytesPerRow(columns, format)),
    scales: new Float32Array(rows * blocksPerRow(columns, format)),
  };
}

/**
 * Candidate codes, without the zero point, for the weight with the largest magnitude in a block. Between two codes, that weight is
 * clipped or the largest code is unused. The first candidate is plain rounding as in llama.cpp's Q4_0, the last is plain rounding
 * to −7 … 7, so the error is never larger than that of either. The best of these four is within 0.4 % of the best of 400 scales.
 */
const FOUR_BIT_ANCHORS = [-8, -8.5, -7.5, 7];
/** With eight bits, more candidates reduce the error by less than 2 %. */
const EIGHT_BIT_ANCHORS = [-128, 127];

/**
 * Quantises `weights`, [rows, columns] row-major, into the first rows of `target`.
 * @throws NonFiniteWeightError
 */
export function quantizeRows(weights: Float32Array, columns: number, format: BlockFormat, target: QuantizedRows): void {
  const { bits, blockSize } = format;
  const zero = 2 ** (bits - 1);
  const anchors = bits === 4 ? FOUR_BIT_ANCHORS : EIGHT_BIT_ANCHORS;
  const codes = new Uint8Array(blockSize);
  const blockBytes = (blockSize * bits) / 8;
  let block = 0;
  for (let start = 0; start < weights.length; start += columns) {
    const end = start + columns;
    for (let from = start; from < end; from += blockSize, block++) {
      const to = Math.min(from + blockSize, end);
      const scale = Math.fround(fitScale(weights, from, to, zero, anchors));
      target.scales[block] = scale;
      encode(weights, from, to, scale, zero, codes);
      if (bits === 8) target.blocks.set(codes, block * blockBytes);
      else packHalves(codes, target.blocks, block * blockBytes);
    }
  }
}

/** Dequantises the first rows of `quantized` to weights [rows, columns], row-major. */
export function dequantizeRows(quantized: QuantizedRows, rows: number, columns: number, format: BlockFormat): Float32Array {
  const { blocks, scales } = quantized;
  const { bits, blockSize } = format;
  const zero = 2 ** (bits - 1);
  const weights = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const bytes = blocks.subarray(row * codeBytesPerRow(columns, format));
    for (let column = 0; column < columns; column++) {
      const code = bits === 8 ? bytes[column]! : (bytes[column >> 1]! >> ((column & 1) * 4)) & 15;
      const scale = scales[row * blocksPerRow(columns, format) + Math.floor(column / blockSize)]!;
      weights[row * columns + column] = (code - zero) * scale;
    }
  }
  return weights;
}

/**
 * The scale of a block. For codes c without zero point, the best scale is Σwc / Σc², and its squared error is
 * Σw² − (Σwc)² / Σc². Each pass over the block therefore computes both the error and the best scale of one rounding. The last
 * pass rounds again with the best scale so far, which can only reduce the error. Allocates nothing, because it runs over all
 * weights of a model.
 */
function fitScale(weights: Float32Array, from: number, to: number, zero: number, anchors: readonly number[]): number {
  const largest = largestOf(weights, from, to);
  if (largest === 0) return 0;
  const half = zero + 0.5;
  const highest = 2 * zero - 1;
  let bestGain = 0;
  let bestScale = 0;
  for (let pass = 0; pass <= anchors.length; pass++) {
    const inverse = pass < anchors.length ? anchors[pass]! / largest : 1 / bestScale;
    let weightCode = 0;
    let codeCode = 0;
    for (let i = from; i < to; i++) {
      const weight = weights[i]!;
      let code = (weight * inverse + half) | 0;
      code = (code < 0 ? 0 : code > highest ? highest : code) - zero;
      weightCode += weight * code;
      codeCode += code * code;
    }
    const gain = (weightCode * weightCode) / codeCode;
    if (gain > bestGain) {
      bestGain = gain;
      bestScale = weightCode / codeCode;
    }
  }
  return bestScale;
}

/** The weight with the largest magnitude, with its sign. */
function largestOf(weights: Float32Array, from: number, to: number): number {
  let low = 0;
  let high = 0;
  let sum = 0;
  for (let i = from; i < to; i++) {
    const weight = weights[i]!;
    sum += weight;
    if (weight < low) low = weight;
    else if (weight > high) high = weight;
  }
  // A sum of finite float32 values is finite in float64, while NaN and infinity propagate.
  if (!Number.isFinite(sum)) {
    throw new NonFiniteWeightError(from + weights.subarray(from, to).findIndex((weight) => !Number.isFinite(weight)));
  }
  return -low > high ? low : high;
}

function encode(weights: Float32Array, from: number, to: number, scale: number, zero: number, codes: Uint8Array): void {
  const inverse = scale === 0 ? 0 : 1 / scale;
  const half = zero + 0.5;
  const highest = 2 * zero - 1;
  let index = 0;
  for (let i = from; i < to; i++, index++) {
    const code = (weights[i]! * inverse + half) | 0;
    codes[index] = code < 0 ? 0 : code > highest ? highest : code;
  }
  codes.fill(zero, index);
}

function packHalves(codes: Uint8Array, bytes: Uint8Array, firstByte: number): void {
  for (let index = 0; index < codes.length; index += 2) {
    bytes[firstByte + (index >> 1)] = codes[index]! | (codes[index + 1]! << 4);
  }
}
