import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onDisk } from './download-error.ts';

/*
 * Two processes must not fill the same folder: the backend and a command line may be asked for the same model at once. The lock
 * is a transaction that stays open on an empty SQLite file, as with the backend's own: the system lets go of it when the process
 * ends, however it ends. The file stays, since removing it would let two processes lock two files of one name.
 */

const POLL_MS = 200;
/** SQLite's result code for "somebody else holds the lock". */
const SQLITE_BUSY = 5;

/**
 * Runs `work` while this process, and this call in it, alone holds `file`. Waits for whoever holds it; `onWait` is told once.
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
    // Asked again and again, since SQLite tells nobody when a lock becomes free.
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
  // Loaded here and not above: a Node without it must get as far as saying so.
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
