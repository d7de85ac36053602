import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from './sync-folder.ts';

/**
 * Creates a new folder (absolute path) atomically and durably. `fill` writes into a temporary folder next to it, which is then renamed.
 * @throws file system errors, for example if the folder already exists, and errors of `fill`
 */
export async function writeFolder(folder: string, fill: (staging: string) => Promise<void>): Promise<void> {
  const staging = `${folder}.${randomUUID()}.tmp`;
  let written = staging;
  try {
    await mkdir(staging, { recursive: true });
    await fill(staging);
    await syncTree(staging);
    await rename(staging, folder);
    written = folder;
    await syncFolder(path.dirname(folder));
  } catch (error) {
    await rm(written, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const inside = path.join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(inside);
    else if (entry.isFile()) await syncFile(inside);
  }
  await syncFolder(folder);
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
