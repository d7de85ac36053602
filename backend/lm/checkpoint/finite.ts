import type { Checkpoint } from './open-checkpoint.ts';
import { readChunks } from './read-tensor.ts';
import type { StoredTensor, StoredType } from './stored-tensor.ts';
import { BYTES_PER_VALUE } from './widen.ts';

/** A weight that is NaN or infinite. */
export interface NonFinite {
  readonly tensor: StoredTensor;
  /** Of the value, row-major. */
  readonly index: number;
}

export interface FiniteCheckOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each stretch of a tensor. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The bits of the exponent. A value is NaN or infinite exactly when all of them are set. */
const EXPONENT_BITS: Readonly<Record<StoredType, number>> = { float32: 0x7f800000, float16: 0x7c00, bfloat16: 0x7f80 };

/**
 * Looks at every weight of a checkpoint, in the order of the files' bytes and in bounded memory.
 * @returns the first one that is NaN or infinite, `undefined` when there is none.
 * @throws CheckpointError when a file cannot be read; the signal's reason when it aborts.
 */
export async function findNonFinite(
  checkpoint: Checkpoint, { signal, onProgress }: FiniteCheckOptions = {},
): Promise<NonFinite | undefined> {
  const tensors = [...checkpoint.tensors.values()].sort(
    (one, other) => (one.file === other.file ? one.offset - other.offset : one.file < other.file ? -1 : 1),
  );
  const totalBytes = tensors.reduce((sum, tensor) => sum + tensor.byteLength, 0);
  let doneBytes = 0;
  for (const tensor of tensors) {
    let first = 0;
    signal?.throwIfAborted();
    for await (const chunk of readChunks(tensor)) {
      const found = indexOfNonFinite(tensor.type, chunk);
      if (found !== -1) return { tensor, index: first + found };
      first += chunk.byteLength / BYTES_PER_VALUE[tensor.type];
      doneBytes += chunk.byteLength;
      onProgress?.(doneBytes, totalBytes);
      signal?.throwIfAborted();
    }
  }
  return undefined;
}

function indexOfNonFinite(type: StoredType, { buffer, byteOffset, byteLength }: Uint8Array): number {
  const mask = EXPONENT_BITS[type];
  const count = byteLength / BYTES_PER_VALUE[type];
  const values = type === 'float32' ? new Uint32Array(buffer, byteOffset, count) : new Uint16Array(buffer, byteOffset, count);
  for (let index = 0; index < count; index += 1) if (((values[index] ?? 0) & mask) === mask) return index;
  return -1;
}
