import type { Checkpoint } from './open-checkpoint.ts';
import { readChunks } from './read-tensor.ts';
import type { StoredTensor, StoredType } from './stored-tensor.ts';
import { BYTES_PER_VALUE } from './widen.ts';

/** A weight that is NaN or infinite. */
export interface NonFinite {
  readonly tensor: StoredTensor;
  /** The row-major index of the value. */
  readonly index: number;
}

export interface FiniteCheckOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each chunk of a tensor. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/**
 * A value is NaN or infinite exactly if all bits of its exponent are set. Only then does adding one to the exponent carry into the
 * sign bit. Two 16-bit values are checked together: a carry never leaves its half of the word.
 */
const BITS: Readonly<Record<StoredType, { readonly exponent: number; readonly one: number; readonly sign: number }>> = {
  float32: { exponent: 0x7f800000, one: 0x00800000, sign: 0x80000000 },
  float16: { exponent: 0x7c007c00, one: 0x04000400, sign: 0x80008000 },
  bfloat16: { exponent: 0x7f807f80, one: 0x00800080, sign: 0x80008000 },
};

/**
 * Checks every weight of a checkpoint, in the order of the files' bytes and in bounded memory.
 * @returns the first weight that is NaN or infinite, or `undefined`
 * @throws CheckpointError if a file cannot be read; the signal's reason when it aborts
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

/** The index of the first value that is NaN or infinite, or -1. The bytes must begin at a multiple of four. */
export function indexOfNonFinite(type: StoredType, { buffer, byteOffset, byteLength }: Uint8Array): number {
  const { exponent, one, sign } = BITS[type];
  const words = new Int32Array(buffer, byteOffset, byteLength >> 2);
  // A loop without branches is several times as fast. The slow loop below runs only if something was found or an odd 16-bit value is
  // left over.
  let carries = 0;
  for (let index = 0; index < words.length; index += 1) carries |= ((words[index] ?? 0) & exponent) + one;
  if ((carries & sign) === 0 && byteLength % 4 === 0) return -1;

  const size = BYTES_PER_VALUE[type];
  const mask = size === 4 ? exponent : exponent & 0xffff;
  const values = size === 4 ? words : new Uint16Array(buffer, byteOffset, byteLength / 2);
  for (let index = 0; index < values.length; index += 1) if (((values[index] ?? 0) & mask) === mask) return index;
  return -1;
}
