import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type * as Sqlite from 'node:sqlite';
import * as z from 'zod';
import { excessOf } from '../../protocol/budget-check.ts';
import type { EvaluationBudget } from '../../protocol/evaluation-request.ts';
import { formatTokens, formatUsd } from '../../protocol/figures.ts';
import type { AnswerStore } from '../../workers/answer-cache.ts';
import { BudgetSpentError } from '../../workers/errors.ts';
import type { Asked, AttemptLog, Ledger } from '../../workers/limits/ledger.ts';
import { totalTokens } from '../../protocol/token-counts.ts';

/** Looked up when a file is opened, not imported: an import would end a Node that lacks it before it could say so. */
const sqlite = (): typeof Sqlite => process.getBuiltinModule('node:sqlite');

/** The budget does not allow the next call. Nothing was sent. */
export class EvaluationBudgetError extends BudgetSpentError {
  /** Whether calls under way may leave enough room once they end. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super('evaluation', message);
    this.mayPass = mayPass;
  }
}

export interface EvaluationSpending {
  readonly usd: number;
  readonly tokens: number;
  /** Tokens of calls without a known price. */
  readonly unpricedTokens: number;
  readonly calls: number;
  /** Calls that were under way when the process was killed. They may be billed, and count with their upper bound. */
  readonly lost: number;
}

/** The file is used by another process, or cannot be used at all. */
export class EvaluationFileError extends Error {
  override readonly name = 'EvaluationFileError';
}

/**
 * What an evaluation has paid for, in an SQLite file that one process at a time may use: workers' answers, judged samples, and the
 * money. A call is noted before it is sent, and its answer is stored in the transaction that settles it. So a killed evaluation loses no
 * answer that it had received, and its budget holds over restarts.
 */
export class EvaluationFile implements AnswerStore {
  readonly #database: Sqlite.DatabaseSync;
  readonly #statements;
  readonly #budget: EvaluationBudget;
  /** By id of the call, of those under way. */
  readonly #reserved = new Map<string, Asked>();
  #spent: { usd: number; tokens: number; unpricedTokens: number; calls: number; lost: number };

  /** @param file absolute. @throws EvaluationFileError */
  constructor(file: string, budget: EvaluationBudget) {
    this.#budget = budget;
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#database = openExclusively(file);
    const prepare = (sql: string): Sqlite.StatementSync => this.#database.prepare(sql);
    this.#statements = {
      get: prepare('SELECT value FROM answers WHERE key = ?'),
      set: prepare('INSERT OR REPLACE INTO answers (key, value) VALUES (?, ?)'),
      sample: prepare('SELECT value FROM samples WHERE key = ?'),
      keepSample: prepare('INSERT OR REPLACE INTO samples (key, value) VALUES (?, ?)'),
      send: prepare(`INSERT INTO calls (id, state, usd, tokens) VALUES (?, 'sent', ?, ?)`),
      settle: prepare(`UPDATE calls SET state = 'settled', usd = ?, tokens = ? WHERE id = ?`),
    };
    this.#database.exec(`UPDATE calls SET state = 'lost' WHERE state = 'sent'`);
    const totals = prepare(`SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens, count(*) AS calls,
      coalesce(sum(CASE WHEN usd IS NULL THEN tokens END), 0) AS unpricedTokens, coalesce(sum(state = 'lost'), 0) AS lost FROM calls`).get();
    this.#spent = z.object({ usd: z.number(), tokens: z.number(), unpricedTokens: z.number(), calls: z.number(), lost: z.number() }).parse(totals);
  }

  get spent(): EvaluationSpending {
    return { ...this.#spent };
  }

  get(key: string): string | undefined {
    return (this.#statements.get.get(key) as { value: string } | undefined)?.value;
  }

  set(key: string, value: string): void {
    this.#statements.set.run(key, value);
  }

  sample(key: string): string | undefined {
    return (this.#statements.sample.get(key) as { value: string } | undefined)?.value;
  }

  keepSample(key: string, value: string): void {
    this.#statements.keepSample.run(key, value);
  }

  /** Holds calls to the budget. A free call is held by nothing. */
  readonly ledger: Ledger = {
    reserve: (asked) => {
      this.#check(asked);
      const id = randomUUID();
      this.#reserved.set(id, asked);
      return { id };
    },
  };

  /** Notes attempts. `keep` stores a reply in the transaction that settles its attempt. */
  attempts(keep: (reply: Parameters<AttemptLog['succeeded']>[1], spent: Parameters<AttemptLog['succeeded']>[2]) => void): AttemptLog {
    return {
      started: ({ reserved }, reserve) => {
        const reservation = reserve();
        this.#statements.send.run(reservation.id, reserved.usd ?? null, reserved.tokens);
        return reservation;
      },
      succeeded: ({ reservation }, reply, spent) => this.#transaction(() => {
        keep(reply, spent);
        this.#settle(reservation.id, spent.cost.usd, totalTokens(spent.usage));
      }),
      failed: ({ reservation }, _failure, { usage, cost }) => this.#settle(reservation.id, cost.usd, totalTokens(usage)),
    };
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #settle(id: string, usd: number | undefined, tokens: number): void {
    this.#statements.settle.run(usd ?? null, tokens, id);
    this.#reserved.delete(id);
    const { usd: usdBefore, tokens: tokensBefore, unpricedTokens, calls, lost } = this.#spent;
    this.#spent = {
      usd: usdBefore + (usd ?? 0), tokens: tokensBefore + tokens, lost, calls: calls + 1,
      unpricedTokens: unpricedTokens + (usd === undefined ? tokens : 0),
    };
  }

  #check(asked: Asked): void {
    if (asked.isFree) return;
    const others = [...this.#reserved.values()].filter(({ isFree }) => !isFree);
    const reserved = {
      usd: others.reduce((sum, { usd = 0 }) => sum + usd, 0),
      tokens: others.reduce((sum, { tokens }) => sum + tokens, 0),
    };
    const excess = excessOf({ asked, limits: this.#budget, spent: this.#spent, reserved });
    if (!excess) return;
    const { unit, limit, spent } = excess;
    throw new EvaluationBudgetError(
      unit === 'usd'
        ? `The next call may cost ${formatUsd(excess.asked)}, and ${formatUsd(spent)} of ${formatUsd(limit)} are spent. To go on, give a higher --max-usd.`
        : `The next call may use ${formatTokens(excess.asked)} tokens, and ${formatTokens(spent)} of ${formatTokens(limit)} are used. To go on, give a higher --max-tokens.`,
      others.length > 0,
    );
  }

  #transaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** SQLite's result code if another process holds the file (https://www.sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

/** Whether a process is at work on an evaluation. */
export function isEvaluationHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  let database: Sqlite.DatabaseSync | undefined;
  try {
    database = new (sqlite().DatabaseSync)(file, { timeout: 0 });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return codeOf(error) === SQLITE_BUSY;
  } finally {
    database?.close();
  }
}

const codeOf = (error: unknown): number | undefined => (error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined);

function openExclusively(file: string): Sqlite.DatabaseSync {
  try {
    const database = new (sqlite().DatabaseSync)(file, { timeout: 1_000 });
    // A power cut can lose answers, which are then paid for again; a killed process loses none.
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS samples (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS calls (id TEXT PRIMARY KEY, state TEXT NOT NULL, usd REAL, tokens INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      COMMIT;
    `);
    return database;
  } catch (error) {
    const why = codeOf(error) === SQLITE_BUSY ? 'another evaluation uses it; wait for it, or choose another folder with --out'
      : error instanceof Error ? error.message : String(error);
    throw new EvaluationFileError(`${file} cannot be used: ${why}.`, { cause: error });
  }
}
