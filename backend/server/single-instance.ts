import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readRecord, type BackendRecord } from '../protocol/client/discovery.ts';
import { isProcessAlive } from '../protocol/client/process-alive.ts';

/*
 * Allows one backend per home folder. The lock is an open transaction on an empty SQLite file. SQLite uses the system's file locks (fcntl
 * on Linux and macOS, LockFileEx on Windows), which the system releases when the process ends for any reason. A pid file would survive a
 * SIGKILL, and checking whether its pid is dead or reused leaves a race between two starting backends.
 */

export interface Instance {
  /** Lets another backend start. */
  release(): void;
}

export type Claim =
  | { readonly mine: true; readonly instance: Instance }
  /** Another backend is running; this is its record. */
  | { readonly mine: false; readonly record: BackendRecord };

/** Another backend holds the lock but wrote no record in time. */
export class InstanceHeldError extends Error {
  override readonly name = 'InstanceHeldError';

  constructor(home: string) {
    super(`Another backend holds ${home} and does not answer. End it and try again.`);
  }
}

const POLL_MS = 50;
/** Starting and ending each take much less than a second. */
const WAIT_MS = 15_000;
/** SQLite's result code when another process holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Acquires the lock of the home folder, or finds the record of the running backend. While another backend starts or ends, waits for its
 * record or its lock, whichever comes first.
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
  // Imported here, so that a Node without node:sqlite can still report the problem.
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
