import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { Journal, type JournalOptions } from '../../backend/journal/journal.ts';

/** Path of a journal in a folder of its own, which goes when the test is over. */
export function temporaryFile(name = 'journal.sqlite'): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, name);
}

/** An open journal that is closed when the test is over. */
export function openJournal(file = temporaryFile(), options: JournalOptions = {}): Journal {
  const journal = Journal.open(file, options);
  onTestFinished(() => journal.close());
  return journal;
}

/** How many rows the table of reservations has. */
export function reservationsIn(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS n FROM reservations').get()?.['n']);
  } finally {
    database.close();
  }
}
