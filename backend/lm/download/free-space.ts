import { mkdir, statfs } from 'node:fs/promises';
import { DownloadError, onDisk } from './download-error.ts';
import { gigabytes } from './size-text.ts';

/** Returns the free bytes for this user on the file system of `folder`. */
export type FreeBytes = (folder: string) => Promise<number>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Disk space that a download leaves free for other programs. */
const RESERVE_BYTES = 64 * 1_048_576;

/**
 * Creates the folder and checks that `bytes` more fit on its disk.
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
