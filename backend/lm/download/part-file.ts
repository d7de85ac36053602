import type { Hash } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { hashFile, startHash, type Checksum } from './checksum.ts';
import { onDisk } from './download-error.ts';

/** Identifies the content of a partial file, so that a later process resumes it only for the same content. */
const recordSchema = z.object({ checksum: z.string(), etag: z.string().optional() });

type PartRecord = z.infer<typeof recordSchema>;

/**
 * A partially downloaded file: `<file>.part`, with a record in a second file. The hash always covers exactly the bytes of the part.
 */
export class PartFile {
  readonly #file: string;
  readonly #checksum: Checksum;
  readonly #sizeBytes: number;
  readonly #handle: FileHandle;
  #hash: Hash;
  #bytes: number;
  #etag: string | undefined;
  #isPatched: boolean;

  private constructor(file: string, checksum: Checksum, sizeBytes: number, handle: FileHandle, found: Found) {
    this.#file = file;
    this.#checksum = checksum;
    this.#sizeBytes = sizeBytes;
    this.#handle = handle;
    this.#hash = found.hash;
    this.#bytes = found.bytes;
    this.#etag = found.etag;
    this.#isPatched = found.bytes > 0;
  }

  /** Opens the part of an earlier download of the same content, or an empty one. */
  static async open(file: string, checksum: Checksum, sizeBytes: number, signal: AbortSignal): Promise<PartFile> {
    return onDisk(file, async () => {
      const part = partName(file);
      const record = await readRecord(file);
      const isOurs = record?.checksum === checksum.hex && isPlainFile(part);
      if (!isOurs) await rm(part, { recursive: true, force: true });
      // Does not follow a link, so that only the file of this name is written.
      const handle = await open(part, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o644);
      try {
        const hash = startHash(checksum, sizeBytes);
        const bytes = (isOurs ? await hashFile(part, hash, signal) : undefined) ?? 0;
        const found = bytes <= sizeBytes ? { hash, bytes, etag: record?.etag } : undefined;
        const opened = new PartFile(file, checksum, sizeBytes, handle, found ?? { hash, bytes, etag: undefined });
        if (!found) await opened.restart();
        if (!isOurs) await opened.#writeRecord(undefined);
        return opened;
      } catch (error) {
        await handle.close();
        throw error;
      }
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The ETag of the response that sent the first byte. */
  get etag(): string | undefined {
    return this.#etag;
  }

  /** Whether the part comes from an earlier process or several responses. If its checksum is wrong, a second try is then worthwhile. */
  get isPatched(): boolean {
    return this.#isPatched;
  }

  async restart(): Promise<void> {
    await onDisk(this.#file, () => this.#handle.truncate(0));
    this.#hash = startHash(this.#checksum, this.#sizeBytes);
    this.#bytes = 0;
    this.#isPatched = false;
  }

  /** Records that the following bytes come from a response with this ETag. */
  async servedAs(etag: string | undefined): Promise<void> {
    if (this.#bytes > 0) this.#isPatched = true;
    if (etag === this.#etag) return;
    await onDisk(this.#file, () => this.#writeRecord(etag));
  }

  async append(chunk: Uint8Array): Promise<void> {
    await onDisk(this.#file, async () => {
      for (let done = 0; done < chunk.length;) {
        const { bytesWritten } = await this.#handle.write(chunk, done, chunk.length - done, this.#bytes + done);
        done += bytesWritten;
      }
    });
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Whether all bytes have arrived and match the checksum. */
  isRight(): boolean {
    return this.#bytes === this.#sizeBytes && this.#hash.copy().digest('hex') === this.#checksum.hex;
  }

  /** Renames the complete part to the file. */
  async finish(): Promise<void> {
    await onDisk(this.#file, async () => {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(partName(this.#file), this.#file);
      await rm(recordName(this.#file), { force: true });
    });
  }

  /** Keeps the bytes for the next try. Does nothing after `finish`. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #writeRecord(etag: string | undefined): Promise<void> {
    const record: PartRecord = { checksum: this.#checksum.hex, etag };
    const temporary = `${recordName(this.#file)}.new`;
    await writeFile(temporary, JSON.stringify(record));
    await rename(temporary, recordName(this.#file));
    this.#etag = etag;
  }
}

interface Found {
  readonly hash: Hash;
  readonly bytes: number;
  readonly etag: string | undefined;
}

const partName = (file: string): string => `${file}.part`;
const recordName = (file: string): string => `${file}.part.json`;

function isPlainFile(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Returns undefined if the record cannot be read; the file is then downloaded again. */
async function readRecord(file: string): Promise<PartRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(recordName(file), 'utf8'));
    return recordSchema.parse(value);
  } catch {
    return undefined;
  }
}
