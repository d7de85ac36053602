import { statfsSync, statSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';

/** The least that a file takes: its folder entry and its inode. */
const FILE_BYTES = 1024;

export interface FreeSpace {
  readonly bytes: number;
  readonly files: number;
}

/** The free space of the file systems with these folders. */
export function freeSpace(folders: readonly string[]): FreeSpace {
  const devices = new Set<number>();
  let [bytes, files] = [0, 0];
  for (const folder of folders) {
    try {
      const { dev } = statSync(folder);
      if (devices.has(dev)) continue;
      devices.add(dev);
      const { bsize, bavail, ffree } = statfsSync(folder);
      bytes += bavail * bsize;
      files += ffree;
    } catch {
      // The folder is gone, and so is its content.
    }
  }
  return { bytes, files };
}

/** By how many bytes the free space has shrunk. */
export const lessFree = (before: FreeSpace, now: FreeSpace): number =>
  before.bytes - now.bytes + Math.max(0, before.files - now.files) * FILE_BYTES;

export interface GrowthToMeasure {
  readonly folders: readonly string[];
  /** Compared with a file's ctime, which a program cannot set. */
  readonly since: Date;
  /** Counting stops here. */
  readonly most: number;
  /** The assumed size of a folder that we may not read. */
  readonly ifUnreadable: number;
}

/** The bytes on disk of files in the folders that were created or changed since. Files that disappear meanwhile are left out. */
export async function growth({ folders, since, most, ifUnreadable }: GrowthToMeasure): Promise<number> {
  let bytes = 0;
  const linked = new Set<string>();
  const pending = [...folders];
  for (const folder of pending) {
    try {
      for await (const { name } of await opendir(folder)) {
        if (bytes > most) return bytes;
        const file = path.join(folder, name);
        const found = await lstat(file).catch(() => undefined);
        if (!found) continue;
        if (found.isDirectory()) pending.push(file);
        const inode = `${found.dev} ${found.ino}`;
        if (found.ctime < since || linked.has(inode)) continue;
        if (found.nlink > 1 && !found.isDirectory()) linked.add(inode);
        bytes += found.blocks * 512 + FILE_BYTES;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') bytes += ifUnreadable;
    }
  }
  return bytes;
}
