import { hash, createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, mkdirSync, openSync, readSync, write, writeFileSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { RunFolder, RunFolders } from '../files/run-folder.ts';

/** Larger contents are separate files. They are copied asynchronously, and the file system may share their blocks. */
export const LARGE_BYTES = 1024 * 1024;
const FLUSH_BYTES = 4 * 1024 * 1024;

/** Stores file contents, independent of later changes to the files. Small contents are stored once. Contents are named by their SHA-256. */
export class ContentStore {
  readonly #folder: RunFolder;
  /** Descriptor of the file with the small contents, open until the store is removed. */
  readonly #pack: number;
  readonly #small = new Map<string, { readonly offset: number; readonly size: number }>();
  readonly #large = new Map<string, string>();
  readonly #buffer = Buffer.allocUnsafe(LARGE_BYTES);
  #unwritten: Buffer[] = [];
  #unwrittenBytes = 0;
  #packBytes = 0;
  #largeBytes = 0;
  #largeFiles = 0;

  private constructor(folder: RunFolder, pack: number) {
    this.#folder = folder;
    this.#pack = pack;
  }

  static async create(folders: RunFolders): Promise<ContentStore> {
    const folder = await folders.create();
    mkdirSync(folder.workspace);
    return new ContentStore(folder, openSync(path.join(folder.workspace, 'small'), 'wx+', 0o600));
  }

  /** The size of the stored contents. */
  get bytes(): number {
    return this.#packBytes + this.#unwrittenBytes + this.#largeBytes;
  }

  /** Stores content of at most `LARGE_BYTES`. The buffer must not change afterwards. The content can be written after `flush`. */
  add(content: Buffer): string {
    const name = hash('sha256', content, 'hex');
    if (this.#small.has(name)) return name;
    this.#small.set(name, { offset: this.#packBytes + this.#unwrittenBytes, size: content.length });
    this.#unwritten.push(content);
    this.#unwrittenBytes += content.length;
    return name;
  }

  /** Stores a file of any size. */
  async addFile(file: string, signal: AbortSignal): Promise<{ readonly content: string; readonly size: number }> {
    const kept = path.join(this.#folder.workspace, `large-${this.#largeFiles++}`);
    await copyFile(file, kept, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(kept, 0o600);
    const sha = createHash('sha256');
    let size = 0;
    for await (const chunk of createReadStream(kept, { signal, highWaterMark: LARGE_BYTES }) as AsyncIterable<Buffer>) {
      sha.update(chunk);
      size += chunk.length;
    }
    const content = sha.digest('hex');
    // Duplicate large contents are rare. Each costs a file until the store is removed.
    this.#large.set(content, kept);
    this.#largeBytes += size;
    return { content, size };
  }

  get shouldFlush(): boolean {
    return this.#unwrittenBytes >= FLUSH_BYTES;
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#unwritten);
    this.#unwritten = [];
    this.#unwrittenBytes = 0;
    this.#packBytes += bytes.length;
    for (let written = 0; written < bytes.length; ) {
      const position = this.#packBytes - bytes.length + written;
      written += (await promisify(write)(this.#pack, bytes, written, bytes.length - written, position)).bytesWritten;
    }
  }

  /** Writes small content to an open file. */
  writeSmall(content: string, descriptor: number): void {
    const place = this.#small.get(content);
    if (!place) throw new Error(`The content ${content} is not stored.`);
    const read = readSync(this.#pack, this.#buffer, 0, place.size, place.offset);
    if (read !== place.size) throw new Error('The stored contents were truncated.');
    writeFileSync(descriptor, this.#buffer.subarray(0, read));
  }

  /** Small content; undefined for large content. */
  readSmall(content: string): Buffer | undefined {
    const place = this.#small.get(content);
    if (!place) return undefined;
    const bytes = Buffer.allocUnsafe(place.size);
    if (readSync(this.#pack, bytes, 0, place.size, place.offset) !== place.size) throw new Error('The stored contents were truncated.');
    return bytes;
  }

  /** The file of large content; undefined for small content. */
  largeFile(content: string): string | undefined {
    return this.#large.get(content);
  }

  /** Marks the store as in use (see `RunFolder`). Rejects if its folder was deleted. */
  async touch(): Promise<void> {
    await this.#folder.touch();
  }

  async remove(): Promise<void> {
    closeSync(this.#pack);
    await this.#folder.remove();
  }
}
