import { createWriteStream } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { PassThrough, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';

/*
 * Extracts single files from a zip archive without reading the others. Format: PKWARE APPNOTE 6.3.10, sections 4.3.7 (local
 * header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (its end, and the 64-bit forms), 4.5.3 (64-bit sizes). The caller gives
 * the target paths; names in the archive are never used as paths.
 */

export class ZipError extends Error {
  override readonly name = 'ZipError';
}

export interface Member {
  /** The full name in the archive. */
  readonly name: string;
  /** The unpacked size. If the archive has another size, it is refused before anything is written. */
  readonly sizeBytes: number;
  /** The absolute target path, where the file appears only when complete. */
  readonly target: string;
}

interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly headerOffset: number;
}

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const LOCATOR_BYTES = 20;
const END64_BYTES = 56;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** The directory of a wheel with thousands of files has much less than 1 MB. */
const MAX_DIRECTORY_BYTES = 32 * 1_048_576;
const CHUNK_BYTES = 262_144;
const STORED = 0;
const DEFLATED = 8;
const FULL_32 = 0xffff_ffff;

/** Unpacks the members one after another. @throws ZipError; the signal's reason after it aborted */
export async function unzipMembers(archive: string, members: readonly Member[], signal: AbortSignal): Promise<void> {
  const handle = await open(archive, 'r');
  try {
    const { size } = await handle.stat();
    const entries = await readDirectory(handle, size, new Set(members.map(({ name }) => name)));
    for (const member of members) {
      const entry = entries.get(member.name);
      if (!entry) throw new ZipError(`The archive has no ${member.name}.`);
      if (entry.sizeBytes !== member.sizeBytes) throw new ZipError(`${member.name} has another size than expected.`);
      await unpack({ handle, archiveBytes: size, entry, member, signal });
    }
  } finally {
    await handle.close();
  }
}

interface Unpacking {
  readonly handle: FileHandle;
  readonly archiveBytes: number;
  readonly entry: Entry;
  readonly member: Member;
  readonly signal: AbortSignal;
}

async function unpack({ handle, archiveBytes, entry, member, signal }: Unpacking): Promise<void> {
  const { method, crc, packedBytes, sizeBytes, headerOffset } = entry;
  if (method !== STORED && method !== DEFLATED) throw new ZipError(`${member.name} is packed in a way that is not known here.`);
  const header = await readAt(handle, headerOffset, LOCAL_BYTES, archiveBytes);
  if (header.readUInt32LE(0) !== 0x04034b50) throw new ZipError(`${member.name} is not where the archive says.`);
  const start = headerOffset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + packedBytes > archiveBytes) throw new ZipError(`${member.name} goes beyond the archive's end.`);
  const temporary = `${member.target}.new`;
  let bytes = 0;
  let sum = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      sum = crc32(chunk, sum);
      // A few packed bytes can inflate to any size, so no more than the declared size is written.
      done(bytes > sizeBytes ? new ZipError(`${member.name} is larger than it says.`) : null, chunk);
    },
  });
  const packed = packedBytes === 0
    ? Readable.from([])
    : handle.createReadStream({ start, end: start + packedBytes - 1, autoClose: false, highWaterMark: CHUNK_BYTES });
  const unpacker = method === DEFLATED ? createInflateRaw({ chunkSize: CHUNK_BYTES }) : new PassThrough();
  try {
    await pipeline(packed, unpacker, check, createWriteStream(temporary, { flush: true }), { signal });
    if (bytes !== sizeBytes || sum !== crc) throw new ZipError(`${member.name} is damaged.`);
    await rename(temporary, member.target);
  } catch (error) {
    await rm(temporary, { force: true });
    signal.throwIfAborted();
    throw isZlibError(error) ? new ZipError(`${member.name} is damaged.`, { cause: error }) : error;
  }
}

async function readDirectory(handle: FileHandle, archiveBytes: number, wanted: ReadonlySet<string>): Promise<Map<string, Entry>> {
  const { offset, length } = await findDirectory(handle, archiveBytes);
  if (length > MAX_DIRECTORY_BYTES) throw new ZipError('The archive lists too many files.');
  const directory = await readAt(handle, offset, length, archiveBytes);
  const found = new Map<string, Entry>();
  for (let at = 0; at + ENTRY_BYTES <= length && directory.readUInt32LE(at) === 0x02014b50;) {
    const nameEnd = at + ENTRY_BYTES + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    if (extraEnd > length) throw new ZipError('The archive\'s list of files is cut.');
    const name = directory.toString('utf8', at + ENTRY_BYTES, nameEnd);
    if (wanted.has(name)) {
      if (found.has(name)) throw new ZipError(`The archive has ${name} twice.`);
      found.set(name, readEntry(directory, at, directory.subarray(nameEnd, extraEnd), name));
    }
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
  return found;
}

/** A 32-bit field with all bits set is replaced by the next 64-bit value of extra field 1, in the order size, packed size, offset. */
function readEntry(directory: Buffer, at: number, extra: Buffer, name: string): Entry {
  if ((directory.readUInt16LE(at + 8) & 1) !== 0) throw new ZipError(`${name} is encrypted.`);
  let wide = extraField(extra, 1);
  const field = (offset: number): number => {
    const value = directory.readUInt32LE(at + offset);
    if (value !== FULL_32) return value;
    if (wide.length < 8) throw new ZipError(`The size of ${name} is missing.`);
    const long = Number(wide.readBigUInt64LE());
    wide = wide.subarray(8);
    return long;
  };
  const sizeBytes = field(24);
  const packedBytes = field(20);
  const headerOffset = field(42);
  return { method: directory.readUInt16LE(at + 10), crc: directory.readUInt32LE(at + 16), packedBytes, sizeBytes, headerOffset };
}

function extraField(extra: Buffer, id: number): Buffer {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, end);
    at = end;
  }
  return Buffer.alloc(0);
}

/** A record at the end of the archive, before a comment of unknown length, has the position of the directory. */
async function findDirectory(handle: FileHandle, archiveBytes: number): Promise<{ offset: number; length: number }> {
  const tailBytes = Math.min(archiveBytes, LOCATOR_BYTES + END_BYTES + MAX_COMMENT_BYTES);
  const tail = await readAt(handle, archiveBytes - tailBytes, tailBytes, archiveBytes);
  for (let at = tailBytes - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== 0x06054b50 || at + END_BYTES + tail.readUInt16LE(at + 20) !== tailBytes) continue;
    const length = tail.readUInt32LE(at + 12);
    const offset = tail.readUInt32LE(at + 16);
    const locator = at - LOCATOR_BYTES;
    if (locator < 0 || tail.readUInt32LE(locator) !== 0x07064b50) return { offset, length };
    const end = await readAt(handle, Number(tail.readBigUInt64LE(locator + 8)), END64_BYTES, archiveBytes);
    if (end.readUInt32LE(0) !== 0x06064b50) break;
    return { offset: Number(end.readBigUInt64LE(48)), length: Number(end.readBigUInt64LE(40)) };
  }
  throw new ZipError('The file is not a zip archive.');
}

async function readAt(handle: FileHandle, offset: number, length: number, archiveBytes: number): Promise<Buffer> {
  if (offset < 0 || offset + length > archiveBytes) throw new ZipError('The archive is cut.');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
  if (bytesRead !== length) throw new ZipError('The archive is cut.');
  return buffer;
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}
