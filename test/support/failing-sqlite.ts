import type { DatabaseSync as Database, StatementSync } from 'node:sqlite';
import { onTestFinished, vi } from 'vitest';

/** SQLite's result codes (https://www.sqlite.org/rescode.html) for what can happen to a disk. */
export const SQLITE_FAILURES = [
  ['the disk is full', 13, 'the disk is full. Free some space'],
  ['the disk reports an error', 10 | (3 << 8), 'the disk reported an error. Check the disk'],
  ['another process holds the lock', 5, 'another process keeps it locked.'],
  ['the file is read-only', 8, 'its file is read-only. Check the permissions'],
] as const;

/** When the database fails: at the write of this number from now on; with each one after it where `forGood`. */
export interface SqliteFailure {
  readonly code: number;
  readonly atWrite: number;
  readonly forGood?: boolean;
}

const WRITES = /^\s*(BEGIN|CREATE|INSERT|UPDATE|DELETE|COMMIT)/;

/**
 * Puts itself in front of the real SQLite until the test is over, for databases that are opened from now on. Everything that is written
 * is written by SQLite, until a write fails on demand; a transaction is then rolled back by SQLite as well.
 */
export class FailingSqlite {
  /** The connections that were opened, in order. */
  readonly connections: Database[] = [];
  #failure: SqliteFailure | undefined;
  #writes = 0;

  constructor() {
    const sqlite = process.getBuiltinModule('node:sqlite');
    const attempt = (sql: string): void => this.#attempt(sql);
    const { connections } = this;
    class FailingDatabase extends sqlite.DatabaseSync {
      constructor(...args: ConstructorParameters<typeof Database>) {
        super(...args);
        connections.push(this);
      }
      override exec(sql: string): void {
        attempt(sql);
        super.exec(sql);
      }
      override prepare(sql: string): StatementSync {
        const statement = super.prepare(sql);
        const run = statement.run.bind(statement);
        statement.run = ((...values: Parameters<typeof run>) => {
          attempt(sql);
          return run(...values);
        }) as typeof run;
        return statement;
      }
    }
    const spy = vi.spyOn(process, 'getBuiltinModule').mockReturnValue({ ...sqlite, DatabaseSync: FailingDatabase } as never);
    onTestFinished(() => spy.mockRestore());
  }

  /** How many writes were attempted since the last call of `failWith`. */
  get writes(): number {
    return this.#writes;
  }

  /** With undefined nothing fails any more. */
  failWith(failure: SqliteFailure | undefined): void {
    this.#failure = failure;
    this.#writes = 0;
  }

  #attempt(sql: string): void {
    if (!WRITES.test(sql)) return;
    this.#writes += 1;
    if (!this.#failure) return;
    const { code, atWrite, forGood = false } = this.#failure;
    if (this.#writes === atWrite || (forGood && this.#writes > atWrite)) {
      throw Object.assign(new Error(`simulated at ${sql.trim().slice(0, 30)}`), { code: 'ERR_SQLITE_ERROR', errcode: code });
    }
  }
}
