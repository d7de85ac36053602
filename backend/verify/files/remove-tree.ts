import { execFile } from 'node:child_process';
import { chmodSync, lstatSync, opendirSync, rmdirSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** As many as can be removed without anybody noticing that the thread is held. */
const FEW = 100;
const ATTEMPTS = 5;
const BETWEEN_ATTEMPTS_MS = 20;
/** Windows keeps what a program has open, and scanners open what is new. Each wait is longer by this than the one before. */
const WINDOWS_ATTEMPTS = 10;
const LONGER_EACH_MS = 50;

/**
 * Removes a folder (absolute), whatever tests have left in it: millions of files, folders nested deeper than a path can say, names
 * that are not UTF-8, folders without rights. Links are removed and never followed. Rejects where something stays.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    if (removeFew(folder)) return;
  } catch {
    // Something in it is out of the ordinary.
  }
  await removeMany(folder);
}

/** False if there were too many, and some of them are still there. */
function removeFew(folder: string): boolean {
  let left = FEW;
  const remove = (current: string): boolean => {
    const directory = opendirSync(current);
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
        if (--left < 0) return false;
        const absolute = `${current}/${entry.name}`;
        if (!entry.isDirectory()) unlinkSync(absolute);
        else if (!remove(absolute)) return false;
      }
    } finally {
      directory.closeSync();
    }
    rmdirSync(current);
    return true;
  };
  return lstatSync(folder, { throwIfNoEntry: false }) === undefined || remove(folder);
}

/** In another process, which holds nothing of ours meanwhile and does not go by whole paths. */
async function removeMany(folder: string): Promise<void> {
  if (process.platform === 'win32') {
    return await rm(folder, { recursive: true, force: true, maxRetries: WINDOWS_ATTEMPTS, retryDelay: LONGER_EACH_MS });
  }
  const run = promisify(execFile);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return void (await run('rm', ['-rf', '--', folder]));
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    // Without a sandbox something may still be writing; or rights were taken away.
    await setTimeout(BETWEEN_ATTEMPTS_MS);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) chmodSync(folder, 0o700);
    await run('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => undefined);
  }
}
