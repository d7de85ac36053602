/*
 * Block quantisation of weights in the layout of onnxruntime's `MatMulNBits`. A row is split into blocks of columns. Each block
 * has its own scale, so that a large weight reduces the precision of its block only.
 *
 *   weight ≈ (code − zero point) · scale        code in 0 … 2^bits − 1
 *
 * With 4 bits, each block has its own zero point, so that its 16 levels span its least to its greatest weight (0 included). With
 * 8 bits it is always 128, and the scale may be negative: there the rounding of activations costs more than that of weights.
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
  /** With 4 bits: [rows, half the blocks of a row, rounded up], two in a byte, the first in its lower half. */
  readonly zeroPoints?: Uint8Array | undefined;
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

/** 0 with 8 bits, which have none. */
export function zeroPointBytesPerRow(columns: number, format: BlockFormat): number {
  return format.bits === 4 ? Math.ceil(blocksPerRow(columns, format) / 2) : 0;
}

/** Reusable storage for `rows` quantised rows; see `quantizeRows`. */
export function allocateQuantizedRows(rows: number, columns: number, format: BlockFormat): QuantizedRows {
  return {
    blocks: new Uint8Array(rows * codeBytesPerRow(columns, format)),
    scales: new Float32Array(rows * blocksPerRow(columns, format)),
    ...(format.bits === 4 && { zeroPoints: new Uint8Array(rows * zeroPointBytesPerRow(columns, format)) }),
  };
}

/**
 * Candidate steps of a block's 16 levels, as parts of the step with which they just span the block. A smaller step clips the outermost
 * weights, a larger one leaves levels unused. With the rounding that follows, the error is within 0.4 % of that of 80 candidates.
 */
const STEPS = [0.88, 0.94, 1, 1.06];

/**
 * Candidate codes, without the zero point, for the weight with the largest magnitude in a block of 8 bits. More candidates reduce the
 * error by less than 2 %.
 */
const EIGHT_BIT_ANCHORS = [-128, 127];

/**
 * Quantises `weights`, [rows, columns] row-major, into the first rows of `target`.
 * @param importance how much the squared error of each column counts; by default, all count the same
 * @throws NonFiniteWeightError
 */
export function quantizeRows(
  weights: Float32Array, columns: number, format: BlockFormat, target: QuantizedRows, importance: Float32Array = new Float32Array(columns).fill(1),
): void {
  const { bits, blockSize } = format;
  const { blocks, scales, zeroPoints } = target;
  const fit = new BlockFit(2 ** bits - 1, importance);
  const codes = new Uint8Array(blockSize);
  const blockBytes = (blockSize * bits) / 8;
  const zeroPointBytes = zeroPointBytesPerRow(columns, format);
  zeroPoints?.fill(0);
  for (let start = 0, row = 0, block = 0; start < weights.length; start += columns, row++) {
    const end = start + columns;
    for (let from = start, place = 0; from < end; from += blockSize, block++, place++) {
      const to = Math.min(from + blockSize, end);
      fit.begin(weights, from, to, start);
      if (bits === 8) fit.symmetric();
      else fit.asymmetric();
      scales[block] = fit.scale;
      fit.encode(codes);
      if (zeroPoints) zeroPoints[row * zeroPointBytes + (place >> 1)]! |= fit.zeroPoint << ((place & 1) * 4);
      if (bits === 8) blocks.set(codes, block * blockBytes);
      else packHalves(codes, blocks, block * blockBytes);
    }
  }
}

/** Dequantises the first rows of `quantized` to weights [rows, columns], row-major. */
export function dequantizeRows(quantized: QuantizedRows, rows: number, columns: number, format: BlockFormat): Float32Array {
  const { blocks, scales, zeroPoints } = quantized;
  const { bits, blockSize } = format;
  const [perRow, zeroPointBytes] = [blocksPerRow(columns, format), zeroPointBytesPerRow(columns, format)];
  const weights = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const bytes = blocks.subarray(row * codeBytesPerRow(columns, format));
    for (let column = 0; column < columns; column++) {
      const block = Math.floor(column / blockSize);
      const code = bits === 8 ? bytes[column]! : halfOf(bytes, column);
      const zeroPoint = zeroPoints ? halfOf(zeroPoints, 2 * row * zeroPointBytes + block) : 2 ** (bits - 1);
      weights[row * columns + column] = (code - zeroPoint) * scales[row * perRow + block]!;
    }
  }
  return weights;
}

/**
 * The scale and zero point of one block after another. For codes c without zero point and errors that count h each, the best scale is
 * Σhwc / Σhc², and its squared error is Σhw² − (Σhwc)² / Σhc². Each pass over the block therefore computes both the error and the best scale
 * of one rounding. The last pass rounds again with the best scale so far, which can only reduce the error. Allocates nothing, because it
 * runs over all weights of a model.
 */
class BlockFit {
  scale = 0;
  zeroPoint = 0;
  readonly #highest: number;
  readonly #importance: Float32Array;
  #weights: Float32Array = new Float32Array();
  #from = 0;
  #to = 0;
  /** The index of the row's first weight. */
  #row = 0;
  #low = 0;
  #high = 0;
  #gain = 0;

  /** @param highest the highest code */
  constructor(highest: number, importance: Float32Array) {
    this.#highest = highest;
    this.#importance = importance;
  }

  /** Takes the next block. A block of zeros needs no more. */
  begin(weights: Float32Array, from: number, to: number, row: number): void {
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
    this.#weights = weights;
    this.#from = from;
    this.#to = to;
    this.#row = row;
    this.#low = low;
    this.#high = high;
    this.#gain = 0;
    this.scale = 0;
    this.zeroPoint = (this.#highest + 1) / 2;
  }

  symmetric(): void {
    const largest = -this.#low > this.#high ? this.#low : this.#high;
    if (largest === 0) return;
    for (const anchor of EIGHT_BIT_ANCHORS) this.#round(anchor / largest, this.zeroPoint);
    this.#finish();
  }

  asymmetric(): void {
    const [low, high] = [this.#low, this.#high];
    if (low === high) return;
    for (const step of STEPS) {
      const inverse = this.#highest / ((high - low) * step);
      // The middle of the weights gets the middle of the codes.
      const zeroPoint = Math.round((this.#highest - (low + high) * inverse) / 2);
      this.#round(inverse, Math.min(this.#highest, Math.max(0, zeroPoint)));
    }
    this.#finish();
  }

  encode(codes: Uint8Array): void {
    const inverse = this.scale === 0 ? 0 : 1 / this.scale;
    const half = this.zeroPoint + 0.5;
    let index = 0;
    for (let i = this.#from; i < this.#to; i++, index++) {
      const code = (this.#weights[i]! * inverse + half) | 0;
      codes[index] = code < 0 ? 0 : code > this.#highest ? this.#highest : code;
    }
    codes.fill(this.zeroPoint, index);
  }

  #round(inverse: number, zeroPoint: number): void {
    const [weights, importance, highest, to, row] = [this.#weights, this.#importance, this.#highest, this.#to, this.#row];
    const half = zeroPoint + 0.5;
    let weightCode = 0;
    let codeCode = 0;
    for (let i = this.#from; i < to; i++) {
      const weight = weights[i]!;
      let code = (weight * inverse + half) | 0;
      code = (code < 0 ? 0 : code > highest ? highest : code) - zeroPoint;
      const counted = importance[i - row]! * code;
      weightCode += counted * weight;
      codeCode += counted * code;
    }
    const gain = (weightCode * weightCode) / codeCode;
    if (gain > this.#gain) {
      this.#gain = gain;
      this.scale = weightCode / codeCode;
      this.zeroPoint = zeroPoint;
    }
  }

  #finish(): void {
    if (this.scale !== 0) this.#round(1 / this.scale, this.zeroPoint);
    this.scale = Math.fround(this.scale);
  }
}

const halfOf = (bytes: Uint8Array, index: number): number => (bytes[index >> 1]! >> ((index & 1) * 4)) & 15;

function packHalves(codes: Uint8Array, bytes: Uint8Array, firstByte: number): void {
  for (let index = 0; index < codes.length; index += 2) {
    bytes[firstByte + (index >> 1)] = codes[index]! | (codes[index + 1]! << 4);
  }
}
