import type { DatabaseSync } from 'node:sqlite';
import { fillJudgedSteps } from './judged-steps-table.ts';

/** Stands in `PRAGMA user_version`. A change to the tables raises it and adds a migration. */
export const SCHEMA_VERSION = 6;

/** Stands in `PRAGMA application_id`, so that another program's database is never taken for a journal: "Cndr" in ASCII. */
export const APPLICATION_ID = 0x43_6e_64_72;

/*
 * `events` is the truth. `runs` holds what the list of runs shows, kept in the transaction that appends the event it comes from.
 * `reservation_scopes` has rows only for open reservations, so that adding up a scope stays quick however many calls it has seen.
 * `run_blobs` says which runs have a long text, which goes when the last of them is removed.
 * `judged_steps` holds what the tests said of each step of a run that is over, written in the transaction that ends it: all runs are read for each
 * question, and their events would take seconds.
 * `left_out_tests` holds the tests that a person left out of verdicts.
 */
const JUDGED_STEPS = `
  CREATE TABLE judged_steps (
    run_id TEXT NOT NULL,
    round INTEGER NOT NULL,
    step INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    source TEXT NOT NULL,
    project TEXT,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    judgement TEXT NOT NULL,
    worker TEXT NOT NULL,
    model TEXT NOT NULL,
    role TEXT NOT NULL,
    usd REAL,
    tokens INTEGER NOT NULL,
    duration_ms REAL,
    PRIMARY KEY (run_id, round, step)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX judged_steps_newest ON judged_steps(at DESC);
`;

const REFUTED_STEPS = 'ALTER TABLE judged_steps ADD COLUMN refuted INTEGER NOT NULL DEFAULT 0;';

const RUN_BLOBS = `
  CREATE TABLE run_blobs (
    hash TEXT NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (hash, run_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_blobs_by_run ON run_blobs(run_id);
  CREATE INDEX runs_by_parent ON runs(parent) WHERE parent IS NOT NULL;
`;

const LEFT_OUT_TESTS = `
  CREATE TABLE left_out_tests (
    project TEXT NOT NULL,
    test TEXT NOT NULL,
    PRIMARY KEY (project, test)
  ) STRICT, WITHOUT ROWID;
`;

const TABLES = `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    workspace TEXT,
    question TEXT NOT NULL,
    parent TEXT,
    task TEXT,
    seed INTEGER,
    state TEXT NOT NULL,
    outcome TEXT,
    accepted_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    usd REAL NOT NULL,
    unpriced_tokens INTEGER NOT NULL,
    simulated INTEGER NOT NULL,
    thread TEXT
  ) STRICT;
  CREATE INDEX runs_newest ON runs(kind, accepted_at DESC);
  CREATE INDEX runs_unfinished ON runs(accepted_at) WHERE state IN ('running', 'waiting');

  CREATE TABLE events (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE blobs (hash TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;

  CREATE TABLE leases (run_id TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;

  CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    usd REAL,
    tokens INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'sent', 'settled', 'released'))
  ) STRICT;
  CREATE INDEX reservations_open ON reservations(run_id) WHERE state IN ('open', 'sent');

  CREATE TABLE reservation_scopes (
    scope TEXT NOT NULL,
    reservation_id TEXT NOT NULL,
    PRIMARY KEY (scope, reservation_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reservation_scopes_by_reservation ON reservation_scopes(reservation_id);

  CREATE TABLE spending (scope TEXT PRIMARY KEY, usd REAL NOT NULL, tokens INTEGER NOT NULL) STRICT;
  ${RUN_BLOBS}
  ${JUDGED_STEPS}
  ${REFUTED_STEPS}
  ${LEFT_OUT_TESTS}
`;

/** By the version that they start from. */
const MIGRATIONS: Readonly<Record<number, string>> = {
  1: `
    ${RUN_BLOBS}
    INSERT OR IGNORE INTO run_blobs (hash, run_id)
      SELECT json_extract(blob.value, '$[1]'), run_id FROM events, json_each(events.body, '$.blobs') AS blob
      WHERE json_valid(events.body);
  `,
  2: 'ALTER TABLE runs ADD COLUMN thread TEXT;',
  3: JUDGED_STEPS,
  4: LEFT_OUT_TESTS,
  5: REFUTED_STEPS,
};

export type FileKind = { kind: 'empty' } | { kind: 'foreign' } | { kind: 'journal'; version: number };

/** What the database is, found without writing to it. @throws SQLite's error where the file is no database. */
export function kindOfDatabase(database: DatabaseSync): FileKind {
  const tables = numberOf(database, 'SELECT count(*) FROM sqlite_schema');
  const applicationId = numberOf(database, 'PRAGMA application_id');
  const version = numberOf(database, 'PRAGMA user_version');
  if (applicationId === APPLICATION_ID) return { kind: 'journal', version };
  return tables === 0 && applicationId === 0 && version === 0 ? { kind: 'empty' } : { kind: 'foreign' };
}

/** To be called inside a transaction, so that of two processes that find an empty file only one fills it. */
export function createTables(database: DatabaseSync): void {
  database.exec(TABLES);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

/** Brings the tables of an earlier version to this one. To be called inside a transaction. */
export function migrate(database: DatabaseSync, from: number): void {
  for (let version = from; version < SCHEMA_VERSION; version += 1) database.exec(MIGRATIONS[version] ?? '');
  if (from < 4) fillJudgedSteps(database);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function numberOf(database: DatabaseSync, sql: string): number {
  const row = database.prepare(sql).get() ?? {};
  return Number(Object.values(row)[0]);
}
