export type StoredType = 'float32' | 'float16' | 'bfloat16';

/** A tensor on disk: a range of bytes of a safetensors file, little-endian, row-major. */
export interface StoredTensor {
  readonly name: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  /** An absolute path with links resolved. */
  readonly file: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
}
