import { describe, expect, test } from 'vitest';
import { DatabaseSync } from 'node:sqlite';
import { JournalUnavailableError } from '../../backend/journal/errors.ts';
import type { ReservationRequest } from '../../backend/journal/budget.ts';
import type { Journal } from '../../backend/journal/journal.ts';
import { FailingSqlite, SQLITE_FAILURES } from '../support/failing-sqlite.ts';
import { accepted, resumed, stepCompleted } from './sample-events.ts';
import { openJournal, temporaryFile } from './temporary.ts';

/*
 * A disk that is full or broken, a database that is locked, a file that cannot be written: at every write of every operation. Nothing is
 * half-written, one sentence says what happened, and the same operation succeeds afterwards on the same connection.
 */

const LONG = 'a text that is kept apart '.repeat(400);
const RESERVATION: ReservationRequest = { runId: 'r1', scopes: [{ name: 'run:r1' }, { name: 'day' }], usd: 1, tokens: 10 };

/** A journal with a run under way, one that is over, and reservations in each state. */
function journalWithRuns() {
  const file = temporaryFile();
  const journal = openJournal(file, { isDurable: false, now: () => 1_000, isAlive: () => true, lockTimeoutMs: 0 });
  journal.leases.acquire('r1', '1:a', 10);
  journal.accept('r1', accepted());
  journal.accept('over', accepted());
  journal.append('over', [stepCompleted(LONG), { type: 'run.cancelled' }]);
  return { file, journal, open: reserved(journal), sent: sent(journal), closed: closed(journal) };
}

function reserved(journal: Journal): string {
  const answer = journal.budget.reserve(RESERVATION);
  if (!answer.granted) throw new Error(answer.scope);
  return answer.reservationId;
}

function sent(journal: Journal): string {
  const id = reserved(journal);
  journal.budget.markSent(id);
  return id;
}

function closed(journal: Journal): string {
  const id = sent(journal);
  journal.budget.settle(id, { usd: 1, tokens: 1 });
  return id;
}

/** Everything that the tables hold, as another connection sees it. */
function contentsOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all().map(({ name }) => String(name));
    return Object.fromEntries(tables.map((table) => [table, database.prepare(`SELECT * FROM ${table}`).all()]));
  } finally {
    database.close();
  }
}

const OPERATIONS: readonly [name: string, operation: (given: ReturnType<typeof journalWithRuns>) => unknown][] = [
  ['a run begins', ({ journal }) => journal.accept('r2', accepted())],
  ['events, what is paid for them, and what is given back', ({ journal, open, sent: paid }) =>
    journal.append('r1', [stepCompleted(LONG), resumed()], { settle: [{ reservationId: paid, usd: 1, tokens: 5 }], release: [open] })],
  ['an attempt that starts', ({ journal, open }) => journal.append('r1', [resumed()], { holder: '1:a', reserve: () => open })],
  ['a run that another process left', ({ journal }) => journal.append('r1', [resumed()], { closeAbandoned: true })],
  ['several operations in one transaction', ({ journal }) => journal.transaction(() => {
    journal.accept('r2', accepted());
    journal.append('r2', [stepCompleted(LONG)]);
    journal.leases.acquire('r2', '1:a', 10);
  })],
  ['runs that are removed', ({ journal }) => journal.remove(['over'])],
  ['a reservation', ({ journal }) => journal.budget.reserve(RESERVATION)],
  ['a reservation that is sent', ({ journal, open }) => journal.budget.markSent(open)],
  ['a reservation that is settled', ({ journal, sent: paid }) => journal.budget.settle(paid, { usd: 2, tokens: 3 })],
  ['a reservation that is released', ({ journal, open }) => journal.budget.release(open)],
  ['a reservation that is forgotten', ({ journal, closed: done }) => journal.budget.forget(done)],
  ['reservations that are abandoned', ({ journal }) => journal.budget.closeAbandoned('r1')],
  ['a lease that is taken', ({ journal }) => journal.leases.acquire('r2', '1:a', 10)],
  ['a lease that is renewed', ({ journal }) => journal.leases.renew('r1', '1:a', 99)],
  ['a lease that is released', ({ journal }) => journal.leases.release('r1', '1:a')],
];

describe.each(SQLITE_FAILURES)('where %s', (_what, code, sentence) => {
  test.each(OPERATIONS)('%s: all of it is written, or nothing', (_name, operation) => {
    const sqlite = new FailingSqlite();
    const given = journalWithRuns();
    const before = contentsOf(given.file);
    sqlite.failWith(undefined);
    for (let atWrite = 1; ; atWrite += 1) {
      sqlite.failWith({ code, atWrite });
      try {
        operation(given);
        // Its first write takes the lock and its last one commits.
        expect(atWrite).toBeGreaterThan(3);
        break;
      } catch (error) {
        expect(error).toBeInstanceOf(JournalUnavailableError);
        expect((error as Error).message).toContain(`The journal "${given.file}" cannot be used: ${sentence}`);
        expect(contentsOf(given.file)).toEqual(before);
      }
    }
    expect(contentsOf(given.file)).not.toEqual(before);
  });
});

test.each(SQLITE_FAILURES)('where %s, a new journal has all of its tables or none', (_what, code, sentence) => {
  const sqlite = new FailingSqlite();
  const file = temporaryFile();
  for (const atWrite of [1, 2, 3]) {
    sqlite.failWith({ code, atWrite });
    expect(() => openJournal(file)).toThrow(sentence);
    expect(contentsOf(file)).toEqual({});
  }
  sqlite.failWith(undefined);
  openJournal(file).accept('r1', accepted());
});

describe('the real SQLite', () => {
  test('a disk that is full takes no part of an event, and the next one when there is room', () => {
    const { connections } = new FailingSqlite();
    const { file, journal } = journalWithRuns();
    const before = contentsOf(file);
    const limit = (pages: number) => connections[0]?.exec(`PRAGMA max_page_count = ${pages}`);
    limit(1);
    const long = stepCompleted('x'.repeat(1_000_000));
    expect(() => journal.append('r1', [resumed(), long])).toThrow('the disk is full. Free some space and try again.');
    expect(contentsOf(file)).toEqual(before);
    limit(1_000_000);
    journal.append('r1', [resumed(), long]);
    expect(journal.read('r1')).toHaveLength(3);
  });

  test('a database that another process has locked is refused, and taken when it is free', () => {
    const { file, journal } = journalWithRuns();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    expect(() => journal.append('r1', [resumed()])).toThrow('another process keeps it locked.');
    // What was committed before can be read meanwhile.
    expect(journal.read('r1')).toHaveLength(1);
    other.exec('ROLLBACK');
    other.close();
    journal.append('r1', [resumed()]);
    expect(journal.read('r1')).toHaveLength(2);
  });

  test('a file that must not be written is refused, and can still be read', () => {
    const { connections } = new FailingSqlite();
    const { journal } = journalWithRuns();
    connections[0]?.exec('PRAGMA query_only = ON');
    expect(() => journal.append('r1', [resumed()])).toThrow('its file is read-only.');
    expect(journal.read('r1')).toHaveLength(1);
    connections[0]?.exec('PRAGMA query_only = OFF');
    journal.append('r1', [resumed()]);
    expect(journal.read('r1')).toHaveLength(2);
  });

  test('a database that is locked cannot be opened, and says so', () => {
    const { file, journal } = journalWithRuns();
    journal.close();
    const other = new DatabaseSync(file);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    expect(() => openJournal(file, { lockTimeoutMs: 0 })).toThrow('another process keeps it locked.');
    other.close();
    expect(openJournal(file).read('r1')).toHaveLength(1);
  });
});
