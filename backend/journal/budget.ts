import { randomUUID } from 'node:crypto';
import { excessOf, type Excess } from '../protocol/budget-check.ts';
import { ReservationClosedError } from './errors.ts';
import type { JournalFile } from './journal-file.ts';

/*
 * Money and tokens, across processes. Before a call, its upper bound is reserved in each of its scopes (the run, the day, a training).
 * After the call, the reservation is settled with the actual cost, or released if nothing was sent. Spent and reserved amounts together
 * never exceed the limit of a scope.
 *
 *   open ──(its request is about to leave)──> sent ──> settled
 *     └──────────────> released or settled
 */

export interface BudgetScope {
  /** Such as `run:<id>` or `day:2026-11-05`. */
  readonly name: string;
  readonly limitUsd?: number | undefined;
  readonly limitTokens?: number | undefined;
}

export interface ReservationRequest {
  readonly runId: string;
  readonly scopes: readonly BudgetScope[];
  /** Upper bound in dollars; absent where no price is known: then only the tokens limit the call. */
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

/** The amount is reserved in every scope or in none. A refusal names the scope that has too little left. */
export type ReservationAnswer =
  | { readonly granted: true; readonly reservationId: string }
  | ({ readonly granted: false; readonly scope: string } & Excess);

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

  /** Marks that the request is about to be sent: from now on it may be billed. */
  markSent(reservationId: string): void {
    this.#file.transaction(() => {
      if (this.#statements.markSent.run(reservationId).changes !== 1) throw new ReservationClosedError(reservationId);
    });
  }

  /** Counts the actual cost, which may exceed the reservation. */
  settle(reservationId: string, { usd, tokens }: Amount): void {
    this.#file.transaction(() => {
      this.#close(reservationId, 'settled');
      this.#statements.spend.run(usd ?? 0, tokens, reservationId);
      this.#statements.forgetScopes.run(reservationId);
    });
  }

  /** Deletes the row of a closed reservation; its cost stays in the sums of its scopes. An open one stays. */
  forget(reservationId: string): void {
    this.#file.transaction(() => this.#statements.forget.run(reservationId));
  }

  /** Frees the amount, because nothing was sent. */
  release(reservationId: string): void {
    this.#file.transaction(() => {
      this.#close(reservationId, 'released');
      this.#statements.forgetScopes.run(reservationId);
    });
  }

  /**
   * Closes the reservations of a process that died. The caller must hold the run. A request that was sent may have been billed, so its
   * upper bound counts as spent. A request that was not sent cost nothing.
   * @returns the amounts counted as spent
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

  /** The amount spent in the scope, without open reservations. */
  spent(scope: string): ScopeTotals {
    const row = this.#file.reading(() => this.#statements.spent.get(scope)) as ScopeTotals | undefined;
    return row ? { usd: row.usd, tokens: row.tokens } : { usd: 0, tokens: 0 };
  }

  /** The amount reserved in the scope by calls in progress. */
  reserved(scope: string): ScopeTotals {
    const row = this.#file.reading(() => this.#statements.reserved.get(scope)) as unknown as ScopeTotals;
    return { usd: row.usd, tokens: row.tokens };
  }

  #refusal({ name, limitUsd, limitTokens }: BudgetScope, asked: Amount): ReservationAnswer | undefined {
    const excess = excessOf({ asked, limits: { usd: limitUsd, tokens: limitTokens }, spent: this.spent(name), reserved: this.reserved(name) });
    return excess && { granted: false, scope: name, ...excess };
  }

  #close(reservationId: string, state: 'settled' | 'released'): void {
    if (this.#statements.close.run(state, reservationId).changes !== 1) throw new ReservationClosedError(reservationId);
  }
}
