import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../../common/sync-folder.ts';
import { onDisk } from './download-error.ts';
import { withFileLock } from './file-lock.ts';

export interface WholeFolder {
  /** The folder, either complete or absent. Absolute. */
  readonly folder: string;
  /** The folder to fill, on the same file system. */
  readonly staging: string;
  readonly lock: string;
  /** Whether `folder` is complete; called before and after waiting for the lock. */
  readonly isWhole: () => Promise<boolean>;
  /**
   * Fills `staging`, which must then hold exactly the wanted files. It may contain files of an earlier try, or of a damaged `folder`
   * (`wasDamaged`); `fill` decides which of them are still right.
   */
  readonly fill: (wasDamaged: boolean) => Promise<void>;
  readonly signal: AbortSignal;
  /** Called once if another process is filling it. */
  readonly onWait?: (() => void) | undefined;
}

/**
 * Fills a folder under another name and renames it when it is complete, so that no reader ever finds an incomplete one. What a failed
 * `fill` leaves in `staging` is kept for the next try.
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

/** Moves the files of a damaged folder back to `staging`. @returns whether there was one */
async function takeBack(folder: string, staging: string): Promise<boolean> {
  await mkdir(staging, { recursive: true });
  const names = await readdir(folder).catch(() => undefined);
  for (const name of names ?? []) {
    await rm(path.join(staging, name), { recursive: true, force: true });
    await rename(path.join(folder, name), path.join(staging, name));
  }
  return names !== undefined;
}
