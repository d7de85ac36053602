export type QuantizedCacheErrorKind = 'no-space' | 'unwritable';

export interface QuantizedCacheErrorData {
  readonly kind: QuantizedCacheErrorKind;
  readonly folder: string;
  /** With `no-space`, what the cache takes and what is free; absent where the disk filled up on the way. */
  readonly neededBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly message: string;
  readonly cause?: unknown;
}

/** The quantised weights could not be stored; nothing of them is left behind. */
export class QuantizedCacheError extends Error {
  override readonly name = 'QuantizedCacheError';
  readonly kind: QuantizedCacheErrorKind;
  readonly folder: string;
  readonly neededBytes: number | undefined;
  readonly freeBytes: number | undefined;

  constructor({ kind, folder, neededBytes, freeBytes, message, cause }: QuantizedCacheErrorData) {
    super(message, { cause });
    this.kind = kind;
    this.folder = folder;
    this.neededBytes = neededBytes;
    this.freeBytes = freeBytes;
  }
}
