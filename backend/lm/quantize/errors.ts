import { isDiskFull } from '../../common/disk-full.ts';
import { systemErrorCode } from '../checkpoint/errors.ts';

export type QuantizedCacheErrorKind = 'no-space' | 'unwritable';

export interface QuantizedCacheErrorData {
  readonly kind: QuantizedCacheErrorKind;
  readonly folder: string;
  /** For `no-space`: the required and the free space. Absent if the disk filled up while writing. */
  readonly neededBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly message: string;
  readonly cause?: unknown;
}

/** The quantised weights could not be stored. Partial files are removed. */
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

/** Turns errors of the file system into QuantizedCacheErrors. Returns other errors unchanged. */
export function storageError(folder: string, error: unknown): unknown {
  if (systemErrorCode(error) === undefined) return error;
  if (isDiskFull(error)) {
    const message = `The disk filled up while quantised weights were written to ${folder}: make room, or use the model as it is.`;
    return new QuantizedCacheError({ kind: 'no-space', folder, message, cause: error });
  }
  return unwritable(folder, error);
}

export function unwritable(folder: string, cause: unknown): QuantizedCacheError {
  const code = systemErrorCode(cause) ?? 'unknown error';
  const message = `Quantised weights could not be written to ${folder} (${code}): check the folder and its permissions.`;
  return new QuantizedCacheError({ kind: 'unwritable', folder, message, cause });
}
