import { randomUUID } from 'node:crypto';
import { ReservationClosedError } from './errors.ts';
import type { JournalFile } from './journal-file.ts';

/*
 * Money and tokens, across processes. Before a call its upper bound is set aside in every scope that it concerns (the run, the
 * day, a training); afterwards the reservation is settled with what the call really cost, or released where nothing was sent.
 * What is spent and what is set aside together never exceed a scope's limit.
 *
 *   open ──(its request is about to leave)──> sent ──> settled
 *     └──────────────> released or settled
 */

/** Dollars are added up as floating-point numbers: a sum that is over the limit by less than this is not over it. */
const USD_TOLERANCE = 1e-9;

export interface BudgetScope {
  /** Such as `run:<id>` or `day:2026-11-05`. */
  readonly name: string;
  readonly limitUsd?: number | undefined;
  readonly limitTokens?: number | undefined;
}

export interface ReservationRequest {
  readonly runId: string;
  readonly scopes: readonly BudgetScope[];
  /** Upper bound in dollars; absent where no price is known: the call is then held by the tokens alone. */
  readonly usd?: number | undefined;
  readonly tokens: number;
}

export interface Amount {
  /** Absent where no price is known. */
  readonly usd?: number | undefined;
  readonly tokens: number;
}

export interface Settlement extends Amount {
  readonly reservationId: string;
}

/** Either the amount is set aside in every scope, or in none, and the scope that has too little left is named. */
export type ReservationAnswer =
  | { readonly granted: true; readonly reservationId: string }
  | {
      readonly granted: false;
      readonly scope: string;
      readonly unit: 'usd' | 'tokens';
      readonly limit: number;
      readonly spent: number;
      readonly reserved: number;
      readonly asked: number;
    };

export interface ScopeTotals {
  readonly usd: number;
  readonly tokens: number;
}

interface ReservationRow {
  readonly id: string;
  readonly usd: number | null;
  readonly tokens: number;
  readonly state: 'open' | 'sent';
}

export class Budget {
  readonly #file: JournalFile;
  readonly #now: () => number;
  readonly #statements;

  constructor(file: JournalFile, now: () => number) {
    this.#file = file;
    this.#now = now;
    this.#statements = {
      insert: file.prepare(
        `INSERT INTO reservations (id, run_id, created_at, usd, tokens, state) VALUES (?, ?, ?, ?, ?, 'open')`,
      ),
      insertScope: file.prepare('INSERT OR IGNORE INTO reservation_scopes (scope, reservation_id) VALUES (?, ?)'),
      spent: file.prepare('SELECT usd, tokens FROM spending WHERE scope = ?'),
      reserved: file.prepare(
        `SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens
         FROM reservation_scopes JOIN reservations ON id = reservation_id WHERE scope = ?`,
      ),
      markSent: file.prepare(`UPDATE reservations SET state = 'sent' WHERE id = ? AND state = 'open'`),
      close: file.prepare(`UPDATE reservations SET state = ? WHERE id = ? AND state IN ('open', 'sent')`),
      spend: file.prepare(
        `INSERT INTO spending (scope, usd, tokens)
         SELECT scope, ?, ? FROM reservation_scopes WHERE reservation_id = ?
         ON CONFLICT (scope) DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens`,
      ),
      forgetScopes: file.prepare('DELETE FROM reservation_scopes WHERE reservation_id = ?'),
      forget: file.prepare(`DELETE FROM reservations WHERE id = ? AND state IN ('settled', 'released')`),
      openOfRun: file.prepare(
        `SELECT id, usd, tokens, state FROM reservations WHERE run_id = ? AND state IN ('open', 'sent') ORDER BY created_at, id`,
      ),
    };
  }

  reserve({ runId, scopes, usd, tokens }: ReservationRequest): ReservationAnswer {
    return this.#file.transaction(() => {
      for (const scope of scopes) {
        const refusal = this.#refusal(scope, { usd, tokens });
        if (refusal) return refusal;
      }
      const reservationId = randomUUID();
      this.#statements.insert.run(reservationId, runId, this.#now(), usd ?? null, tokens);
      for (const scope of scopes) this.#statements.insertScope.run(scope.name, reservationId);
      return { granted: true, reservationId };
    });
  }

  /** Notes that the request is about to leave: from here on it may be billed. */
  markSent(reservationId: string): void {
    this.#file.transaction(() => {
      if (this.#statements.markSent.run(reservationId).changes !== 1) throw new ReservationClosedError(reservationId);
    });
  }

  /** Counts what the call really cost, which may be more than was set aside. */
  settle(reservationId: string, { usd, tokens }: Amount): void {
    this.#file.transaction(() => {
      this.#close(reservationId, 'settled');
      this.#statements.spend.run(usd ?? 0, tokens, reservationId);
      this.#statements.forgetScopes.run(reservationId);
    });
  }

  /** Keeps no row of a closed reservation: what it cost is in its scopes' sums. An open one stays. */
  forget(reservationId: string): void {
    this.#file.transaction(() => this.#statements.forget.run(reservationId));
  }

  /** Gives the amount back: nothing was sent. */
  release(reservationId: string): void {
    this.#file.transaction(() => {
      this.#close(reservationId, 'released');
      this.#statements.forgetScopes.run(reservationId);
    });
  }

  /**
   * Closes what a process that died left open, to be called by whoever now holds the run. A request that was sent may have been
   * billed: its upper bound counts as spent. One that was not sent cost nothing.
   * @returns what was counted as spent
   */
  closeAbandoned(runId: string): { sent: number; released: number; usd: number; tokens: number } {
    return this.#file.transaction(() => {
      const closed = { sent: 0, released: 0, usd: 0, tokens: 0 };
      for (const row of this.#statements.openOfRun.all(runId) as unknown as ReservationRow[]) {
        if (row.state === 'open') {
          this.release(row.id);
          closed.released += 1;
        } else {
          this.settle(row.id, { usd: row.usd ?? undefined, tokens: row.tokens });
          closed.sent += 1;
          closed.usd += row.usd ?? 0;
          closed.tokens += row.tokens;
        }
      }
      return closed;
    });
  }

  /** What was spent in the scope; what is set aside is not in it. */
  spent(scope: string): ScopeTotals {
    const row = this.#file.reading(() => this.#statements.spent.get(scope)) as ScopeTotals | undefined;
    return row ? { usd: row.usd, tokens: row.tokens } : { usd: 0, tokens: 0 };
  }

  /** What is set aside in the scope by calls under way. */
  reserved(scope: string): ScopeTotals {
    const row = this.#file.reading(() => this.#statements.reserved.get(scope)) as unknown as ScopeTotals;
    return { usd: row.usd, tokens: row.tokens };
  }

  #refusal({ name, limitUsd, limitTokens }: BudgetScope, asked: Amount): ReservationAnswer | undefined {
    const spent = this.spent(name);
    const reserved = this.reserved(name);
    const refuse = (unit: 'usd' | 'tokens', limit: number, amount: number): ReservationAnswer => ({
      granted: false, scope: name, unit, limit, spent: spent[unit], reserved: reserved[unit], asked: amount,
    });
    if (limitUsd !== undefined && asked.usd !== undefined && spent.usd + reserved.usd + asked.usd > limitUsd + USD_TOLERANCE) {
      return refuse('usd', limitUsd, asked.usd);
    }
    if (limitTokens !== undefined && spent.tokens + reserved.tokens + asked.tokens > limitTokens) {
      return refuse('tokens', limitTokens, asked.tokens);
    }
    return undefined;
  }

  #close(reservationId: string, state: 'settled' | 'released'): void {
    if (this.#statements.close.run(state, reservationId).changes !== 1) throw new ReservationClosedError(reservationId);
  }
}
