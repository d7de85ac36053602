import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Checksum } from '../../../backend/lm/download/checksum.ts';
import { DOWNLOAD_TOOLS, type DownloadTools } from '../../../backend/lm/download/resumable-download.ts';

/** The product's tools, with waits too short to notice. */
export const quickTools: DownloadTools = { ...DOWNLOAD_TOOLS, retry: { failures: 4, firstDelayMs: 1, longestDelayMs: 1_000 } };

export function sha256(bytes: Buffer): Checksum {
  return { algorithm: 'sha256', hex: createHash('sha256').update(bytes).digest('hex') };
}

/** Bytes that do not repeat, the same ones at each run: a xorshift generator. */
export function noise(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at < size; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state;
  }
  return bytes;
}

/** Compared here, since the test runner takes seconds to compare megabytes. */
export async function holds(file: string, bytes: Buffer): Promise<boolean> {
  return bytes.equals(await readFile(file));
}
