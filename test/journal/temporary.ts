import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
