import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readRecord, type BackendRecord } from '../protocol/client/discovery.ts';
import { isProcessAlive } from '../protocol/client/process-alive.ts';

/*
 * One backend a home folder. The lock is a transaction that stays open on an empty SQLite file: SQLite locks with what the system
 * offers (fcntl on Linux and macOS, LockFileEx on Windows), and the system lets go of such a lock when the process ends, however
 * it ends. A file with a pid would outlive a SIGKILL, and telling a dead pid from a reused one leaves a gap in which two starters
 * can meet.
 */

export interface Instance {
  /** After this another backend may start. */
  release(): void;
}

export type Claim =
  | { readonly mine: true; readonly instance: Instance }
  /** Another backend runs, and this is how to reach it. */
  | { readonly mine: false; readonly record: BackendRecord };

/** Another backend holds the lock, and in all this time it neither said how to reach it nor let go. */
export class InstanceHeldError extends Error {
  override readonly name = 'InstanceHeldError';

  constructor(home: string) {
    super(`Another backend holds ${home} and does not answer: end it, then try again.`);
  }
}

const POLL_MS = 50;
/** Starting and ending both take well under a second. */
const WAIT_MS = 15_000;
/** SQLite's result code for "somebody else holds the lock". */
const SQLITE_BUSY = 5;

/**
 * Becomes the one backend of the home folder, or finds the record of the one that is. While the other is still starting, or
 * already ending, this waits for whichever comes first: its record, or its lock.
 * @throws InstanceHeldError
 */
export async function claimInstance(home: string, waitMs = WAIT_MS): Promise<Claim> {
  for (const deadline = Date.now() + waitMs; ;) {
    const instance = await tryClaim(home);
    if (instance) return { mine: true, instance };
    const record = await readRecord(home);
    if (record && isProcessAlive(record.pid)) return { mine: false, record };
    if (Date.now() > deadline) throw new InstanceHeldError(home);
    await delay(POLL_MS);
  }
}

async function tryClaim(home: string): Promise<Instance | undefined> {
  // Loaded here and not above: a Node without it must get as far as saying so.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(path.join(home, 'backend.lock'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
