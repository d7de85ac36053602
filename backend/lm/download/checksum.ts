import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * The expected checksum of a file. `git-blob` is Git's object id, the SHA-1 of "blob <size>\0" and the bytes
 * (git-scm.com/book/en/v2/Git-Internals-Git-Objects). Model hubs list it for small files that are not in LFS.
 */
export interface Checksum {
  readonly algorithm: 'sha256' | 'git-blob';
  /** Lower case. */
  readonly hex: string;
}

/** A hash that equals the checksum after all bytes of the file are added. */
export function startHash({ algorithm }: Checksum, sizeBytes: number): Hash {
  return algorithm === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${sizeBytes}\0`);
}

const READ_BYTES = 1_048_576;

/** Adds a file's bytes to a hash. @returns the number of bytes, or `undefined` if there is no such file */
export async function hashFile(file: string, hash: Hash, signal: AbortSignal): Promise<number | undefined> {
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES, signal }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return bytes;
}
