import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { storedEventSchema, type StoredEvent } from '../../backend/protocol/run-events.ts';
import { openJournal, temporaryFile } from './temporary.ts';

/* Journals as released versions wrote them. The files are never changed; see write-corpus.ts. */

const folder = path.join(import.meta.dirname, 'corpus');
const versions = readdirSync(folder).filter((name) => name.endsWith('.sqlite')).map((name) => path.parse(name).name);

/** What the version said of its events, with the defaults of fields that came later. */
function exportedBy(version: string): StoredEvent[] {
  const lines = readFileSync(path.join(folder, `${version}.jsonl`), 'utf8').trimEnd().split('\n');
  return lines.map((line) => storedEventSchema.parse(JSON.parse(line)));
}

function openCopyOf(version: string) {
  const file = temporaryFile();
  copyFileSync(path.join(folder, `${version}.sqlite`), file);
  return openJournal(file, { isAlive: () => true, now: () => 0 });
}

test('there is a corpus', () => expect(versions).toContain('v1'));

describe.each(versions)('a journal written by %s', (version) => {
  test('is read event for event', () => {
    const journal = openCopyOf(version);
    const exported = exportedBy(version);
    for (const runId of new Set(exported.map((event) => event.runId))) {
      expect(journal.read(runId)).toEqual(exported.filter((event) => event.runId === runId));
    }
  });

  test('folds into the same states and sums', () => {
    const journal = openCopyOf(version);
    expect(journal.list({ limit: 10 })).toEqual(JSON.parse(readFileSync(path.join(folder, `${version}.list.json`), 'utf8')));
    expect(journal.snapshot('two-rounds')).toMatchObject({ state: 'completed', outcome: 'not-verified', answerRound: 0 });
    expect(journal.snapshot('two-rounds')?.rounds[0]?.verdict?.score).toBe(0.5);
    expect(journal.snapshot('failed')).toMatchObject({ state: 'failed', kind: 'rollout', parentId: 'two-rounds', seed: 7 });
    expect(journal.unfinished()).toEqual(['interrupted']);
    expect(journal.snapshot('cancelled')?.earlier?.thread).toBe(version < 'v3' ? undefined : 'two-rounds');
  });

  test('can be gone on with: lease, open reservation, next event', () => {
    const journal = openCopyOf(version);
    expect(journal.leases.acquire('interrupted', '1:new', 1_000)).toBe(false);
    journal.leases.release('interrupted', '4194305:0123456789abcdef');
    expect(journal.leases.acquire('interrupted', '1:new', 1_000)).toBe(true);
    const [resumed] = journal.append('interrupted', [{ type: 'run.resumed', reason: 'restart' }], { closeAbandoned: true });
    expect(resumed?.seq).toBe(3);
    expect(journal.budget.spent('day:2026-11-05')).toEqual({ usd: 0.375, tokens: 900 });
  });

  test('is rid of a run and the texts that it alone has, and of no other', () => {
    const journal = openCopyOf(version);
    const shared = journal.read('interrupted');
    journal.remove(['two-rounds', 'failed']);
    expect(journal.read('two-rounds')).toEqual([]);
    // It has the long text of the one that is gone.
    expect(journal.read('interrupted')).toEqual(shared);
  });
});
