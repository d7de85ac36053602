import { createHash } from 'node:crypto';
import { CheckpointError, quoted } from './errors.ts';
import { readExactly, withFile } from './model-file.ts';
import type { StoredTensor, StoredType } from './stored-tensor.ts';

/*
 * The format (https://huggingface.co/docs/safetensors): eight bytes with the header's length, little-endian; the header, a JSON
 * object of `{dtype, shape, data_offsets: [begin, end]}` by tensor name, and texts under `__metadata__`; the tensors' bytes,
 * without gaps or overlaps. That last rule also detects a duplicate name: JSON keeps the later entry, so the bytes of the earlier
 * one are a gap.
 */

const LENGTH_BYTES = 8;

/**
 * The safetensors library allows 100 MB (`MAX_HEADER_SIZE`). The header of a 72B model takes 0.2 MB. Parsed JSON can take a
 * hundred times its bytes, so a header that is much too long is refused before it is read.
 */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
const MAX_RANK = 8;

const STORED_TYPES: ReadonlyMap<string, { readonly type: StoredType; readonly bytes: number }> = new Map([
  ['F32', { type: 'float32', bytes: 4 }],
  ['F16', { type: 'float16', bytes: 2 }],
  ['BF16', { type: 'bfloat16', bytes: 2 }],
]);

/** A tensor in a header. Its type may be one that Conductor cannot read, because the tensor may not be needed. */
export interface ListedTensor {
  readonly name: string;
  /** The type in the header, such as `BF16` or `I8`. */
  readonly storedAs: string;
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

export interface SafetensorsFile {
  readonly file: string;
  readonly tensors: readonly ListedTensor[];
  /** A hash of the file's size, modification time and header. */
  readonly fingerprint: string;
}

/**
 * Reads and checks the header of a safetensors file, but no weights.
 * @throws CheckpointError
 */
export function readSafetensorsHeader(file: string): Promise<SafetensorsFile> {
  return withFile(file, async (handle) => {
    const { size, mtimeNs } = await handle.stat({ bigint: true });
    const fileBytes = Number(size);
    if (fileBytes < LENGTH_BYTES) throw truncated(file, 'has no header');
    const lengthBytes = new Uint8Array(LENGTH_BYTES);
    await readExactly(handle, file, lengthBytes, 0);
    const headerBytes = Number(new DataView(lengthBytes.buffer).getBigUint64(0, true));
    if (headerBytes > MAX_HEADER_BYTES) throw malformed(file, 'has a header of more than 4 MiB, or is no safetensors file');
    const dataStart = LENGTH_BYTES + headerBytes;
    if (dataStart > fileBytes) throw truncated(file, 'ends inside its header');
    const header = new Uint8Array(headerBytes);
    await readExactly(handle, file, header, LENGTH_BYTES);
    const fingerprint = createHash('sha256').update(`${size} ${mtimeNs} `).update(header).digest('hex');
    return { file, tensors: parseSafetensorsHeader(header, { file, dataStart, fileBytes }), fingerprint };
  });
}

export interface HeaderPlace {
  readonly file: string;
  /** The position of the first tensor's bytes. */
  readonly dataStart: number;
  readonly fileBytes: number;
}

/**
 * The tensors of a header, in the order of their bytes.
 * @throws CheckpointError
 */
export function parseSafetensorsHeader(header: Uint8Array, { file, dataStart, fileBytes }: HeaderPlace): ListedTensor[] {
  const tensors: ListedTensor[] = [];
  for (const [name, entry] of Object.entries(parseObject(header, file))) {
    if (name !== '__metadata__') tensors.push(listedTensor(name, entry, file, dataStart));
  }
  tensors.sort((one, other) => one.offset - other.offset || one.byteLength - other.byteLength);
  let end = dataStart;
  for (const { name, offset, byteLength } of tensors) {
    if (offset !== end) throw malformed(file, `has a gap or an overlap before the bytes of ${quoted(name)}`, name);
    end = offset + byteLength;
  }
  if (end > fileBytes) throw truncated(file, `has ${fileBytes} bytes and its header promises ${end}`);
  if (end < fileBytes) throw malformed(file, `has ${fileBytes - end} bytes that its header does not mention`);
  return tensors;
}

function parseObject(header: Uint8Array, file: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(header));
  } catch (error) {
    throw malformed(file, 'has a header that is not valid JSON', undefined, error);
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw malformed(file, 'has a header that is no object');
}

function listedTensor(name: string, entry: unknown, file: string, dataStart: number): ListedTensor {
  const wrong = (what: string) => malformed(file, `has ${what} for ${quoted(name)} in its header`, name);
  if (typeof entry !== 'object' || entry === null) throw wrong('no description');
  const { dtype, shape, data_offsets: offsets } = entry as { dtype?: unknown; shape?: unknown; data_offsets?: unknown };
  if (typeof dtype !== 'string') throw wrong('no type');
  if (!isListOfSizes(shape) || shape.length > MAX_RANK) throw wrong('no valid shape');
  if (!isListOfSizes(offsets) || offsets.length !== 2) throw wrong('no valid offsets');
  const [begin = 0, end = 0] = offsets;
  const byteLength = end - begin;
  if (byteLength < 0 || !Number.isSafeInteger(dataStart + end)) throw wrong('no valid offsets');
  const bytes = STORED_TYPES.get(dtype)?.bytes;
  // A product beyond 2^53 is rounded, but still far larger than any file.
  if (bytes !== undefined && shape.reduce((product, length) => product * length, bytes) !== byteLength) {
    throw wrong(`${byteLength} bytes and the shape [${shape.join(', ')}]`);
  }
  return { name, storedAs: dtype, shape, file, offset: dataStart + begin, byteLength };
}

function isListOfSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/**
 * A listed tensor in a form that can be read.
 * @throws CheckpointError if Conductor cannot read its type
 */
export function storedTensor({ storedAs, ...tensor }: ListedTensor): StoredTensor {
  const stored = STORED_TYPES.get(storedAs);
  if (stored !== undefined) return { ...tensor, type: stored.type };
  const message =
    `${tensor.file}: ${quoted(tensor.name)} is stored as ${quoted(storedAs)}, and Conductor reads F32, F16 and BF16: ` +
    'choose the model in its unquantised form.';
  throw new CheckpointError({ kind: 'unsupported-type', file: tensor.file, tensor: tensor.name, message });
}

function malformed(file: string, problem: string, tensor?: string, cause?: unknown): CheckpointError {
  return new CheckpointError({ kind: 'malformed', file, tensor, message: `${file} ${problem}: download it again.`, cause });
}

function truncated(file: string, problem: string): CheckpointError {
  return new CheckpointError({ kind: 'truncated', file, message: `${file} ${problem}: download it again.` });
}
