import { statfsSync, statSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import path from 'node:path';

/** What a file takes at least: in its folder, and in the table of files. */
const FILE_BYTES = 1024;

export interface FreeSpace {
  readonly bytes: number;
  readonly files: number;
}

/** What is free on the file systems that the folders lie on. */
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
      // It is gone, and what it took with it.
    }
  }
  return { bytes, files };
}

/** How much less is free now, in bytes. */
export const lessFree = (before: FreeSpace, now: FreeSpace): number =>
  before.bytes - now.bytes + Math.max(0, before.files - now.files) * FILE_BYTES;

export interface GrowthToMeasure {
  readonly folders: readonly string[];
  /** By the time at which a file's state last changed, which a program cannot set. */
  readonly since: Date;
  /** Where to stop counting. */
  readonly most: number;
  /** What to take a folder for that we may not look into. */
  readonly ifUnreadable: number;
}

/** The bytes on disk of what is in the folders and was made or changed since. What goes away meanwhile is left out. */
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
