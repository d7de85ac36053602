import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { JournalUnavailableError } from '../../backend/journal/errors.ts';
import type { Journal } from '../../backend/journal/journal.ts';
import { FailingSqlite } from '../support/failing-sqlite.ts';
import { accepted, resumed, stepCompleted } from './sample-events.ts';
import { openJournal, temporaryFile } from './temporary.ts';

const FULL = 13;

/** What another process finds in the file. */
function onDisk(file: string, runId: string): number {
  const other = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(other.prepare('SELECT count(*) AS n FROM events WHERE run_id = ?').get(runId)?.['n']);
  } finally {
    other.close();
  }
}

/** A journal with two runs. */
function journalWithRuns() {
  const file = temporaryFile();
  const journal = openJournal(file, { isDurable: false, lockTimeoutMs: 0 });
  for (const id of ['r1', 'r2']) journal.accept(id, accepted());
  const soon = (runId: string) => journal.transactionSoon(() => journal.append(runId, [stepCompleted('text')]));
  return { file, journal, soon };
}

test('what is written soon is on disk at the end of the turn, and whoever asked is told then', async () => {
  const { file, journal, soon } = journalWithRuns();
  const told: unknown[] = [];
  soon('r1');
  journal.whenOnDisk((error) => told.push(error));
  soon('r2');
  await Promise.resolve();
  expect(told).toEqual([]);
  expect(onDisk(file, 'r1')).toBe(1);
  await turn();
  expect(told).toEqual([undefined]);
  expect([onDisk(file, 'r1'), onDisk(file, 'r2')]).toEqual([2, 2]);
});

test('what has to be on disk at once takes along what was written before in the turn', () => {
  const { file, journal, soon } = journalWithRuns();
  soon('r1');
  journal.append('r2', [resumed()]);
  expect([onDisk(file, 'r1'), onDisk(file, 'r2')]).toEqual([2, 2]);
});

test('who reads events is given none that are not on disk', () => {
  for (const read of [(journal: Journal) => journal.read('r1'), (journal: Journal) => journal.summary('r1'), (journal: Journal) => journal.list({ limit: 1 })]) {
    const { file, journal, soon } = journalWithRuns();
    soon('r1');
    read(journal);
    expect(onDisk(file, 'r1')).toBe(2);
  }
});

test('a write that is refused takes back itself alone', async () => {
  const { file, journal, soon } = journalWithRuns();
  soon('r1');
  expect(() => journal.append('r2', [resumed()], { reserve: () => { throw new Error('The budget is spent.'); } })).toThrow('The budget is spent.');
  await turn();
  expect([onDisk(file, 'r1'), onDisk(file, 'r2')]).toEqual([2, 1]);
});

test('a commit that fails takes back all of the turn, tells everybody, and leaves the journal usable', async () => {
  const sqlite = new FailingSqlite();
  const { file, journal, soon } = journalWithRuns();
  soon('r1');
  soon('r2');
  const told: unknown[] = [];
  journal.whenOnDisk((error) => told.push(error));
  const waits = expect(journal.onDisk()).rejects.toThrow(JournalUnavailableError);
  sqlite.failWith({ code: FULL, atWrite: 1 });
  await turn();
  await waits;
  expect(told).toEqual([expect.any(JournalUnavailableError)]);
  expect([onDisk(file, 'r1'), onDisk(file, 'r2')]).toEqual([1, 1]);
  sqlite.failWith(undefined);
  soon('r1');
  await turn();
  expect(onDisk(file, 'r1')).toBe(2);
});

test('what is written soon before the journal is closed is kept', () => {
  const { file, journal, soon } = journalWithRuns();
  soon('r1');
  journal.close();
  expect(onDisk(file, 'r1')).toBe(2);
});
