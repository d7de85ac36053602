import { randomBytes } from 'node:crypto';
import type { JournalFile } from './journal-file.ts';

/*
 * One process at a time works on a run. Whoever wants to takes a lease, renews it while at work and gives it back. A lease that
 * expired, or whose process no longer lives, can be taken by the next: a killed backend blocks nobody for longer than that.
 */

interface LeaseRow {
  readonly holder: string;
  readonly expires_at: number;
}

export interface LeaseOptions {
  readonly now: () => number;
  /** Whether a process with this id lives on this machine. */
  readonly isAlive: (pid: number) => boolean;
}

/** Name of a holder: the process id, so that others can tell whether it lives, and a part that no later process shares. */
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

  /** @returns whether `holder` now holds the run; it may already have. */
  acquire(runId: string, holder: string, ttlMs: number): boolean {
    return this.#file.transaction(() => {
      if (this.isHeldByAnother(runId, holder)) return false;
      this.#put.run(runId, holder, this.#options.now() + ttlMs);
      return true;
    });
  }

  /** @returns false where somebody else has taken the run meanwhile: the caller must let go of it. */
  renew(runId: string, holder: string, ttlMs: number): boolean {
    return this.#file.transaction(() => this.#renew.run(this.#options.now() + ttlMs, runId, holder).changes === 1);
  }

  /** Gives the run back; does nothing where `holder` does not hold it. */
  release(runId: string, holder: string): void {
    this.#file.transaction(() => this.#remove.run(runId, holder));
  }

  /** Whether a living holder other than `holder` has the run. */
  isHeldByAnother(runId: string, holder?: string): boolean {
    const lease = this.#lease(runId);
    if (!lease || lease.holder === holder) return false;
    return lease.expires_at > this.#options.now() && this.#options.isAlive(Number.parseInt(lease.holder, 10));
  }

  /** Whether `holder` may write to the run: it holds the lease, expired or not, and nobody has taken it since. */
  isHeldBy(runId: string, holder: string): boolean {
    return this.#lease(runId)?.holder === holder;
  }

  #lease(runId: string): LeaseRow | undefined {
    return this.#file.reading(() => this.#find.get(runId) as LeaseRow | undefined);
  }
}
