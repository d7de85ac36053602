import { CheckpointError, quoted } from './errors.ts';
import { openFile, readExactly } from './model-file.ts';
import type { StoredTensor } from './stored-tensor.ts';
import { BYTES_PER_VALUE, widen } from './widen.ts';

/** The memory that reading needs in addition to the result. A multiple of the size of every stored type. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Reads a whole tensor as float32, row-major.
 * @throws CheckpointError if its file cannot be read or became shorter since the checkpoint was opened
 */
export function readTensor(stored: StoredTensor): Promise<Float32Array> {
  return readValues(stored, 0, stored.byteLength / BYTES_PER_VALUE[stored.type]);
}

/**
 * Reads the rows `start` to `start + count - 1` of a tensor along its first axis, as float32, row-major.
 * @throws RangeError if the tensor does not have these rows; CheckpointError like `readTensor`
 */
export async function readTensorRows(stored: StoredTensor, start: number, count: number): Promise<Float32Array> {
  const [rows = 1, ...row] = stored.shape;
  if (start < 0 || count < 0 || start + count > rows) {
    throw new RangeError(`${count} rows from ${start} on of ${quoted(stored.name)}, which has ${rows}`);
  }
  const rowValues = row.reduce((product, length) => product * length, 1);
  return readValues(stored, start * rowValues, count * rowValues);
}

async function readValues(stored: StoredTensor, first: number, count: number): Promise<Float32Array> {
  const values = new Float32Array(count);
  const size = BYTES_PER_VALUE[stored.type];
  let start = 0;
  for await (const chunk of readChunks(stored, first * size, count * size)) {
    widen(stored.type, chunk, values, start);
    start += chunk.byteLength / size;
  }
  return values;
}

/** Reads a tensor's bytes in chunks. All chunks use the same memory, so each is valid only until the next one is read. */
export async function* readChunks(stored: StoredTensor, first = 0, byteLength = stored.byteLength): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(Math.min(CHUNK_BYTES, byteLength));
  const handle = await openFile(stored.file);
  try {
    for (let done = 0; done < byteLength; done += memory.byteLength) {
      const bytes = memory.subarray(0, Math.min(memory.byteLength, byteLength - done));
      await readExactly(handle, stored.file, bytes, stored.offset + first + done);
      yield bytes;
    }
  } finally {
    await handle.close();
  }
}

/** The error for a weight that is NaN or infinite. */
export function notFiniteError(stored: StoredTensor, index: number): CheckpointError {
  const message =
    `${stored.file}: ${quoted(stored.name)} is not a finite number at index ${index}: ` +
    'download the model again, or choose another.';
  return new CheckpointError({ kind: 'not-finite', file: stored.file, tensor: stored.name, message });
}
