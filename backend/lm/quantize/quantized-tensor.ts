import type { QuantizedBits } from './block-quantize.ts';

/** Bytes of a file that an ONNX initializer may point at. */
export interface StoredRange {
  /** Absolute path, links resolved. */
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** One weight [rows, columns] as `MatMulNBits` takes it, with N = rows and K = columns; block-quantize.ts says what it means. */
export interface QuantizedTensor {
  readonly bits: QuantizedBits;
  readonly blockSize: number;
  readonly rows: number;
  readonly columns: number;
  /** uint8 [rows, ⌈columns / blockSize⌉, blockSize · bits / 8] */
  readonly blocks: StoredRange;
  /** float32 [rows, ⌈columns / blockSize⌉] */
  readonly scales: StoredRange;
}
