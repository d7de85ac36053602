import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import {
  JournalUnavailableError, LeaseLostError, NewerJournalError, NotAJournalError, RunIdentityError, UnreadableRunError,
} from '../../backend/journal/errors.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { accepted, eventfulRun, resumed, stepCompleted } from './sample-events.ts';
import { openJournal, temporaryFile } from './temporary.ts';

const LONG = `a long text with 'quotes', "more" and ünïcode\n`.repeat(500);

/** Changes the file behind the journal's back. */
function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

describe('appending and reading', () => {
  test('events come back as they were appended, numbered from 1 without gaps', () => {
    let clock = 1_000;
    const journal = openJournal(temporaryFile(), { now: () => clock++ });
    const first = journal.accept('r1', accepted());
    const rest = journal.append('r1', eventfulRun(LONG));
    const all = journal.read('r1');
    expect(all).toEqual([first, ...rest]);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.map(({ at }) => at)).toEqual(all.map((_, index) => 1_000 + index));
    expect(all.slice(1).map(({ event }) => event)).toEqual(eventfulRun(LONG));
    expect(journal.read('r1', 20)).toEqual(all.slice(20));
  });

  test('they are still there after the file was closed and opened again', () => {
    const file = temporaryFile();
    const journal = openJournal(file);
    journal.accept('r1', accepted());
    journal.append('r1', [stepCompleted(LONG)]);
    const before = journal.read('r1');
    journal.close();
    expect(openJournal(file).read('r1')).toEqual(before);
  });

  test('a long text is kept once, however many events hold it', () => {
    const file = temporaryFile();
    const journal = openJournal(file);
    journal.accept('r1', accepted());
    journal.append('r1', [stepCompleted(LONG), stepCompleted(LONG, 1)]);
    journal.accept('r2', accepted());
    journal.append('r2', [stepCompleted(LONG)]);
    const database = new DatabaseSync(file);
    expect(database.prepare('SELECT count(*) AS n FROM blobs').get()?.n).toBe(1);
    database.close();
  });

  test('an event that is none is refused, and nothing of the append is written', () => {
    const journal = openJournal();
    journal.accept('r1', accepted());
    const bad = { type: 'step.skipped', round: -1, step: 0, reason: 'no' } satisfies RunEvent;
    expect(() => journal.append('r1', [stepCompleted('good'), bad])).toThrow();
    expect(journal.read('r1')).toHaveLength(1);
  });

  test('a run begins once, and nothing is appended to one that never began', () => {
    const journal = openJournal();
    journal.accept('r1', accepted());
    expect(() => journal.accept('r1', accepted())).toThrow(RunIdentityError);
    expect(() => journal.append('r1', [accepted()])).toThrow(RunIdentityError);
    expect(() => journal.append('r2', [resumed()])).toThrow(RunIdentityError);
    expect(journal.read('r2')).toEqual([]);
    expect(journal.snapshot('r2')).toBeUndefined();
    expect(journal.summary('r2')).toBeUndefined();
  });

  test('a holder that lost the run to another can no longer write to it', () => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => clock, isAlive: () => true });
    journal.leases.acquire('r1', '1:a', 10);
    journal.accept('r1', accepted(), { holder: '1:a' });
    clock = 20;
    journal.append('r1', [resumed()], { holder: '1:a' });
    journal.leases.acquire('r1', '2:b', 10);
    expect(() => journal.append('r1', [resumed()], { holder: '1:a' })).toThrow(LeaseLostError);
    expect(journal.read('r1')).toHaveLength(2);
  });

  test('an export holds one stored event a line, long texts in place', () => {
    const journal = openJournal();
    journal.accept('r1', accepted());
    journal.append('r1', eventfulRun(LONG));
    const lines = journal.exportRun('r1').trimEnd().split('\n').map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual(journal.read('r1'));
  });
});

describe('the list of runs', () => {
  test('says of every prefix of a run what its snapshot says', () => {
    const journal = openJournal();
    const events = eventfulRun(LONG);
    const stored = [journal.accept('r1', accepted())];
    for (const event of [...events, resumed(), { type: 'run.cancelled' } satisfies RunEvent]) {
      stored.push(...journal.append('r1', [event]));
      const snapshot = snapshotOf(stored);
      expect(journal.snapshot('r1')).toEqual(snapshot);
      expect(journal.summary('r1')).toEqual({
        runId: 'r1',
        kind: snapshot.kind,
        question: snapshot.request.question,
        workspace: snapshot.request.workspace,
        state: snapshot.state,
        ...(snapshot.outcome && { outcome: snapshot.outcome }),
        acceptedAt: snapshot.acceptedAt,
        updatedAt: snapshot.updatedAt,
        usd: expect.closeTo(snapshot.spent.usd, 9) as number,
        unpricedTokens: snapshot.spent.unpricedTokens,
        simulated: false,
      });
    }
  });

  test('has the newest first, of the kind and workspace asked for, and no more than the limit', () => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => clock });
    journal.accept('old', accepted());
    journal.accept('same-moment', accepted());
    clock = 5;
    journal.accept('elsewhere', accepted({}, { workspace: '/projects/other' }));
    journal.accept('rollout', accepted({ kind: 'rollout', parentId: 'old', taskId: 't', seed: 7 }));
    journal.accept('nowhere', accepted({}, { workspace: undefined }));
    const ids = (filter: Parameters<typeof journal.list>[0]) => journal.list(filter).map(({ runId }) => runId);
    expect(ids({ limit: 10 })).toEqual(['nowhere', 'elsewhere', 'same-moment', 'old']);
    expect(ids({ limit: 2 })).toEqual(['nowhere', 'elsewhere']);
    expect(ids({ limit: 10, workspace: '/projects/sample' })).toEqual(['same-moment', 'old']);
    expect(ids({ limit: 10, kind: 'rollout' })).toEqual(['rollout']);
  });

  test.each([
    ['100%', ['percent']],
    ['%', ['percent']],
    ['_', ['underscore']],
    ['MERGE_INTERVALS', ['underscore']],
    ['größe', ['umlaut']],
    ['GRÖSSE', []],
    ["'; DROP TABLE runs; --", []],
    ['', ['umlaut', 'underscore', 'percent']],
  ])('finds %j in the questions, letter by letter', (search, expected) => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => clock++ });
    journal.accept('percent', accepted({}, { question: 'Why is it 100% slower?' }));
    journal.accept('underscore', accepted({}, { question: 'Mend merge_intervals' }));
    journal.accept('umlaut', accepted({}, { question: 'Wo steht die Größe?' }));
    expect(journal.list({ search, limit: 10 }).map(({ runId }) => runId)).toEqual(expected);
  });

  test('marks a run of which any worker is simulated', () => {
    const journal = openJournal();
    journal.accept('r1', accepted({ pool: [{ id: 'a', provider: 'openai', model: 'm', simulated: true }] }));
    expect(journal.summary('r1')?.simulated).toBe(true);
  });

  test('unfinished runs are those of a kind whose last event is not a final one, oldest first', () => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => clock++ });
    const final: RunEvent[] = [
      { type: 'run.cancelled' },
      { type: 'run.failed', failure: { kind: 'k', message: 'm', retryable: false } },
      { type: 'run.stopped', reason: 'budget', message: 'm' },
      { type: 'run.completed', outcome: 'unchecked', round: 0, message: 'm' },
    ];
    journal.accept('begun', accepted());
    journal.accept('rollout', accepted({ kind: 'rollout' }));
    for (const event of final) {
      journal.accept(event.type, accepted());
      journal.append(event.type, [event]);
    }
    journal.accept('waiting', accepted());
    journal.append('waiting', [{ type: 'run.waiting', for: 'secret', message: 'm' }]);
    expect(journal.unfinished()).toEqual(['begun', 'waiting']);
    journal.append('run.stopped', [resumed()]);
    expect(journal.unfinished()).toEqual(['begun', 'run.stopped', 'waiting']);
    expect(journal.unfinished('rollout')).toEqual(['rollout']);
  });
});

describe('the file', () => {
  test('can be read by its owner alone', () => {
    const file = temporaryFile();
    openJournal(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('has a write-ahead log, so that readers and the writer do not wait for each other', () => {
    const file = temporaryFile();
    openJournal(file);
    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA journal_mode').get()?.journal_mode).toBe('wal');
    database.close();
  });

  test.each([
    ['a text', Buffer.from('this is no database, but somebody wrote it '.repeat(100))],
    ['a short text', Buffer.from('x')],
  ])('%s is refused and left as it was', (_name, content) => {
    const file = temporaryFile();
    writeFileSync(file, content);
    expect(() => openJournal(file)).toThrow(NotAJournalError);
    expect(readFileSync(file)).toEqual(content);
  });

  test('a database of another program is refused and left as it was', () => {
    const file = temporaryFile();
    tamper(file, 'CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
    const before = readFileSync(file);
    expect(() => openJournal(file)).toThrow(NotAJournalError);
    expect(readFileSync(file)).toEqual(before);
  });

  test('a journal of a later version is refused, saying to update', () => {
    const file = temporaryFile();
    openJournal(file).close();
    tamper(file, 'PRAGMA user_version = 99');
    expect(() => openJournal(file)).toThrow(NewerJournalError);
    expect(() => openJournal(file)).toThrow(/version 99.*update Conductor/);
  });

  test('a journal that lost a table is said to be unusable', () => {
    const file = temporaryFile();
    openJournal(file).close();
    tamper(file, 'DROP TABLE leases');
    expect(() => openJournal(file)).toThrow(JournalUnavailableError);
  });

  test('a folder in its place, or a folder that may not be written, is said in one sentence', () => {
    const folder = temporaryFile();
    mkdirSync(folder);
    expect(() => openJournal(folder)).toThrow(JournalUnavailableError);
    const locked = temporaryFile('locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    // Who may write everywhere (root) is not refused.
    if (process.getuid?.() !== 0) expect(() => openJournal(`${locked}/journal.sqlite`)).toThrow(JournalUnavailableError);
  });

  test.each([
    ['its body is not JSON', `UPDATE events SET body = '{"event":' WHERE run_id = 'bad' AND seq = 2`],
    ['its body is another thing', `UPDATE events SET body = '[]' WHERE run_id = 'bad' AND seq = 2`],
    ['it is of no known type', `UPDATE events SET body = '{"event":{"type":"step.exploded"}}' WHERE run_id = 'bad' AND seq = 2`],
    ['its long text is missing', 'DELETE FROM blobs'],
    ['its long text was changed', `UPDATE blobs SET body = x'226122'`],
    ['its long text has no place', `UPDATE events SET body = replace(body, '["output"]', '["gone"]') WHERE run_id = 'bad'`],
    ['it is missing', `DELETE FROM events WHERE run_id = 'bad' AND seq = 2`],
  ])('a damaged event (%s) names its run, and other runs stay readable', (_name, sql) => {
    const file = temporaryFile();
    const journal = openJournal(file);
    journal.accept('good', accepted());
    journal.accept('bad', accepted());
    journal.append('bad', [stepCompleted(LONG), resumed()]);
    tamper(file, sql);
    for (const read of [() => journal.read('bad'), () => journal.snapshot('bad'), () => journal.exportRun('bad')]) {
      expect(read).toThrow(UnreadableRunError);
      expect(read).toThrow(/Run "bad" cannot be read: its event 2/);
    }
    expect(journal.snapshot('good')?.runId).toBe('good');
    expect(journal.list({ limit: 10 })).toHaveLength(2);
  });
});

describe('removing runs', () => {
  const count = (file: string, table: string): unknown => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'];
    } finally {
      database.close();
    }
  };
  const finished = (runId: string, text: string, journal: ReturnType<typeof openJournal>, more: Parameters<typeof accepted>[0] = {}): void => {
    journal.accept(runId, accepted(more));
    journal.append(runId, [stepCompleted(text), { type: 'run.cancelled' }]);
  };

  test('leaves nothing of them but what their day has cost', () => {
    const file = temporaryFile();
    const journal = openJournal(file);
    finished('r1', LONG, journal);
    const scopes = ['run:r1', 'day:2026-11-22'].map((name) => ({ name, limitUsd: 1, limitTokens: 1_000 }));
    const reserved = journal.budget.reserve({ runId: 'r1', scopes, usd: 0.5, tokens: 10 });
    if (!reserved.granted) throw new Error('The budget is spent.');
    journal.append('r1', [], { reserve: () => reserved.reservationId, settle: [{ reservationId: reserved.reservationId, usd: 0.25, tokens: 9 }] });
    journal.remove(['r1', 'unknown']);
    expect(journal.read('r1')).toEqual([]);
    expect(journal.summary('r1')).toBeUndefined();
    for (const table of ['runs', 'events', 'blobs', 'run_blobs', 'leases']) expect(count(file, table), table).toBe(0);
    expect(journal.budget.spent('run:r1')).toEqual({ usd: 0, tokens: 0 });
    expect(journal.budget.spent('day:2026-11-22')).toEqual({ usd: 0.25, tokens: 9 });
  });

  test('keeps a long text as long as another run has it', () => {
    const file = temporaryFile();
    const journal = openJournal(file);
    finished('r1', LONG, journal);
    finished('r2', LONG, journal);
    const before = journal.read('r2');
    journal.remove(['r1']);
    expect(journal.read('r2')).toEqual(before);
    journal.remove(['r2']);
    expect(count(file, 'blobs')).toBe(0);
  });

  test('is refused while one is under way, and then removes none', () => {
    const journal = openJournal();
    finished('over', LONG, journal);
    journal.accept('goes-on', accepted());
    expect(() => journal.remove(['over', 'goes-on'])).toThrow(RunIdentityError);
    expect(journal.summary('over')).toBeDefined();
    expect(journal.read('over')).toHaveLength(3);
  });

  test('finds those that were begun for another', () => {
    const journal = openJournal();
    finished('t1.1', 'short', journal, { kind: 'rollout', parentId: 't1' });
    finished('t2.1', 'short', journal, { kind: 'rollout', parentId: 't2' });
    expect(journal.childrenOf('t1')).toEqual(['t1.1']);
  });

  test('may be given their ids again', () => {
    const journal = openJournal();
    finished('r1', LONG, journal);
    journal.remove(['r1']);
    finished('r1', LONG, journal);
    expect(journal.read('r1')).toHaveLength(3);
  });
});
