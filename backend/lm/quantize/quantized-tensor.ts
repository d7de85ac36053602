import type { QuantizedBits } from './block-quantize.ts';

/** A range of bytes in a file, for an ONNX initializer. */
export interface StoredRange {
  /** An absolute path with links resolved. */
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** A weight [rows, columns] in the layout of `MatMulNBits`, with N = rows and K = columns; see block-quantize.ts. */
export interface QuantizedTensor {
  readonly bits: QuantizedBits;
  readonly blockSize: number;
  readonly rows: number;
  readonly columns: number;
  /** uint8 [rows, ⌈columns / blockSize⌉, blockSize · bits / 8] */
  readonly blocks: StoredRange;
  /** float32 [rows, ⌈columns / blockSize⌉] */
  readonly scales: StoredRange;
  /** With 4 bits: uint8 [rows, ⌈⌈columns / blockSize⌉ / 2⌉], two in a byte. Without, every zero point is 2^(bits−1). */
  readonly zeroPoints?: StoredRange | undefined;
}
