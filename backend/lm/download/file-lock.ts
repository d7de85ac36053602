import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onDisk } from './download-error.ts';

/*
 * Prevents two processes, such as the backend and a command line, from filling the same folder. The lock is an open transaction
 * on an empty SQLite file, like the lock of the backend itself. The system releases it when the process ends, even after a crash.
 * The file is not removed, because two processes could then lock two files of the same name.
 */

const POLL_MS = 200;
/** SQLite's result code if another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Runs `work` while this call holds the lock on `file`. If the lock is taken, it calls `onWait` once and waits.
 * @throws what `work` throws; the signal's reason if it aborts while waiting
 */
export async function withFileLock<T>(
  file: string,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait?: (() => void) | undefined },
  work: () => Promise<T>,
): Promise<T> {
  await onDisk(path.dirname(file), () => mkdir(path.dirname(file), { recursive: true }));
  const tryAgain = () => onDisk(file, () => tryLock(file));
  let release = await tryAgain();
  if (!release) onWait?.();
  while (!release) {
    // Polls, because SQLite does not notify when a lock is released.
    await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    release = await tryAgain();
  }
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    release();
  }
}

async function tryLock(file: string): Promise<(() => void) | undefined> {
  // Imported lazily: on a Node without it, the backend must still start and report that.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
