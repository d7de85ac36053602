import { randomBytes } from 'node:crypto';
import type { JournalFile } from './journal-file.ts';

/*
 * One process at a time works on a run. It takes a lease, renews it while it works, and releases it. Another process can take a lease
 * that has expired, or whose process has ended: a killed backend blocks a run for no longer than that.
 */

interface LeaseRow {
  readonly holder: string;
  readonly expires_at: number;
}

export interface LeaseOptions {
  readonly now: () => number;
  /** Whether a process with this id runs on this machine. */
  readonly isAlive: (pid: number) => boolean;
}

/** Name of a holder: the process id, so that others can check whether it runs, and a random part, because ids are reused. */
export function holderName(pid: number = process.pid): string {
  return `${pid}:${randomBytes(8).toString('hex')}`;
}

export class Leases {
  readonly #file: JournalFile;
  readonly #options: LeaseOptions;
  readonly #find;
  readonly #put;
  readonly #renew;
  readonly #remove;

  constructor(file: JournalFile, options: LeaseOptions) {
    this.#file = file;
    this.#options = options;
    this.#find = file.prepare('SELECT holder, expires_at FROM leases WHERE run_id = ?');
    this.#put = file.prepare('INSERT OR REPLACE INTO leases (run_id, holder, expires_at) VALUES (?, ?, ?)');
    this.#renew = file.prepare('UPDATE leases SET expires_at = ? WHERE run_id = ? AND holder = ?');
    this.#remove = file.prepare('DELETE FROM leases WHERE run_id = ? AND holder = ?');
  }

  /** @returns whether `holder` holds the run now, including when it did before. */
  acquire(runId: string, holder: string, ttlMs: number): boolean {
    return this.#file.transaction(() => {
      if (this.isHeldByAnother(runId, holder)) return false;
      this.#put.run(runId, holder, this.#options.now() + ttlMs);
      return true;
    });
  }

  /** @returns false if another holder has taken the run: the caller must stop working on it. */
  renew(runId: string, holder: string, ttlMs: number): boolean {
    return this.#file.transaction(() => this.#renew.run(this.#options.now() + ttlMs, runId, holder).changes === 1);
  }

  /** Does nothing if `holder` does not hold the run. */
  release(runId: string, holder: string): void {
    this.#file.transaction(() => this.#remove.run(runId, holder));
  }

  /** Whether a running process other than `holder` holds the run. */
  isHeldByAnother(runId: string, holder?: string): boolean {
    const lease = this.#lease(runId);
    if (!lease || lease.holder === holder) return false;
    return lease.expires_at > this.#options.now() && this.#options.isAlive(Number.parseInt(lease.holder, 10));
  }

  /** Whether `holder` may write to the run: it has the lease, expired or not, and no other holder has taken it. */
  isHeldBy(runId: string, holder: string): boolean {
    return this.#lease(runId)?.holder === holder;
  }

  #lease(runId: string): LeaseRow | undefined {
    return this.#file.reading(() => this.#find.get(runId) as LeaseRow | undefined);
  }
}
