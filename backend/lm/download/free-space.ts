import { mkdir, statfs } from 'node:fs/promises';
import { DownloadError, onDisk } from './download-error.ts';
import { gigabytes } from './size-text.ts';

/** Bytes that this user may still write where `folder` lies. */
export type FreeBytes = (folder: string) => Promise<number>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Left alone, so that a download does not take the last byte from everything else. */
const RESERVE_BYTES = 64 * 1_048_576;

/**
 * Makes the folder and sees that `bytes` more fit beside it.
 * @throws DownloadError `disk-full`
 */
export async function requireSpace(folder: string, bytes: number, what: string, free: FreeBytes): Promise<void> {
  const available = await onDisk(folder, async () => {
    await mkdir(folder, { recursive: true });
    return free(folder);
  });
  if (bytes === 0 || available >= bytes + RESERVE_BYTES) return;
  const sizes = `${gigabytes(bytes)} are needed in ${folder}, which has ${gigabytes(available)} free`;
  throw new DownloadError('disk-full', `Too little room for ${what}: ${sizes}.`);
}
