import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../../common/sync-folder.ts';
import { onDisk } from './download-error.ts';
import { withFileLock } from './file-lock.ts';

export interface WholeFolder {
  /** Where it will be found; there is either nothing there or all of it. Absolute. */
  readonly folder: string;
  /** Where it is filled, on the same file system. */
  readonly staging: string;
  readonly lock: string;
  /** Whether what lies at `folder` is complete; asked before and after waiting for the lock. */
  readonly isWhole: () => Promise<boolean>;
  /**
   * Puts everything into `staging`, and nothing else. What an earlier try left is in it, and what is left of a `folder` that was
   * damaged (`wasDamaged`): what of that is still right is for `fill` to see.
   */
  readonly fill: (wasDamaged: boolean) => Promise<void>;
  readonly signal: AbortSignal;
  /** Another process is filling it; told once. */
  readonly onWait?: (() => void) | undefined;
}

/**
 * Fills a folder beside its place and renames it when it is complete: whoever finds it finds all of it, whatever ended the
 * process in between. What a failed `fill` leaves in `staging` is kept for the next try.
 */
export async function fillWholeFolder({ folder, staging, lock, isWhole, fill, signal, onWait }: WholeFolder): Promise<void> {
  if (await isWhole()) return;
  await withFileLock(lock, { signal, onWait }, async () => {
    if (await isWhole()) return;
    const wasDamaged = await onDisk(staging, () => takeBack(folder, staging));
    await fill(wasDamaged);
    signal.throwIfAborted();
    await onDisk(folder, async () => {
      await syncFolder(staging);
      await rm(folder, { recursive: true, force: true });
      await rename(staging, folder);
      await syncFolder(path.dirname(folder));
    });
  });
}

/** Puts what is left of a damaged folder back into work. @returns whether there was one */
async function takeBack(folder: string, staging: string): Promise<boolean> {
  await mkdir(staging, { recursive: true });
  const names = await readdir(folder).catch(() => undefined);
  for (const name of names ?? []) {
    await rm(path.join(staging, name), { recursive: true, force: true });
    await rename(path.join(folder, name), path.join(staging, name));
  }
  return names !== undefined;
}
