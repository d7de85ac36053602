export type StoredType = 'float32' | 'float16' | 'bfloat16';

/** A tensor where it lies: a range of bytes of a safetensors file, little-endian, row-major. */
export interface StoredTensor {
  readonly name: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  /** Absolute path, links resolved. */
  readonly file: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
}
