/*
 * Writes the corpus of the present journal version: node with-node.mjs node test/journal/write-corpus.ts
 * Run it once for each version of the tables, before its release. What is there is never written again: later versions must read
 * it.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Journal } from '../../backend/journal/journal.ts';
import { SCHEMA_VERSION } from '../../backend/journal/schema.ts';
import { runEventSchema, type RunEvent } from '../../backend/protocol/run-events.ts';
import { accepted, eventfulRun, resumed, stepCompleted } from './sample-events.ts';

const base = path.join(import.meta.dirname, 'corpus', `v${SCHEMA_VERSION}`);
const file = `${base}.sqlite`;
if (existsSync(file)) throw new Error(`${file} exists: what an earlier version wrote is never written again.`);

const longText = 'A long text, kept outside of its event: "quotes", ünïcode, \u{1f600} and a lone surrogate \ud800.\n'.repeat(60);
const runs: Record<string, RunEvent[]> = {
  'two-rounds': eventfulRun(longText),
  failed: [
    { type: 'run.failed', failure: { kind: 'authentication', message: 'The key was refused: set another.', retryable: false } },
  ],
  cancelled: [
    { type: 'base.started', command: 'node --test', runner: 'node-test' },
    {
      type: 'base.completed', total: 2, failed: 1, flaky: 0, durationMs: 900,
      failing: [{ id: 'test/intervals.test.ts > merges', message: longText, places: [{ path: 'test/intervals.test.ts', startLine: 4, endLine: 9 }] }],
    },
    resumed(),
    { type: 'step.begun', round: 0, step: 0, text: longText, changes: [{ path: 'src/intervals.ts', line: 1, removed: 'a\n', inserted: 'b\n' }] },
    { type: 'step.told', round: 0, step: 0, text: 'Mind the empty list.' },
    { type: 'step.stopped', round: 0, step: 0 },
    { type: 'step.acted', round: 0, step: 0, during: 'a0', text: 'Looking.', call: { id: 'c0', name: 'read', arguments: 'src/intervals.ts' }, result: longText },
    { type: 'step.trying', round: 0, step: 0 },
    { type: 'step.tried', round: 0, step: 0, text: longText, passed: 1, failed: 1, durationMs: 900 },
    { type: 'try.begun', round: 1, record: { tried: 0, verified: 0 } },
    { type: 'round.failed', round: 1, failure: { kind: 'cancelled', message: 'Another attempt ended the run first.', retryable: false } },
    { type: 'run.cancelled' },
  ],
  interrupted: [stepCompleted(longText)],
};
const written = new Set<string>(['run.accepted', ...Object.values(runs).flat().map(({ type }) => type)]);
const missing = runEventSchema.options.map((option) => option.shape.type.value).filter((type) => !written.has(type));
if (missing.length > 0) throw new Error(`The corpus has no event of type ${missing.join(', ')}.`);

const BEGINNINGS: Readonly<Record<string, Record<string, unknown>>> = {
  failed: { kind: 'rollout', parentId: 'two-rounds', taskId: 'task', seed: 7 },
  cancelled: {
    earlier: {
      thread: 'two-rounds',
      exchanges: [{ runId: 'two-rounds', question: 'Why?', result: 'The answer is not verified.', answer: longText, state: 'completed', outcome: 'not-verified', isTold: true }],
      change: { runId: 'two-rounds', state: 'pending', edits: [{ path: 'src/intervals.ts', kind: 'modify', diff: '--- a/src/intervals.ts\n+++ b/src/intervals.ts\n@@ -1,1 +1,1 @@\n-a\n+b\n' }] },
    },
  },
};

let clock = Date.UTC(2026, 10, 5);
const journal = Journal.open(file, { now: () => (clock += 1_000), isAlive: () => true });
for (const [runId, events] of Object.entries(runs)) {
  journal.accept(runId, accepted(BEGINNINGS[runId]));
  journal.append(runId, events);
}

const scopes = [{ name: 'day:2026-11-05', limitUsd: 10, limitTokens: 1_000_000 }];
for (const runId of ['interrupted', 'two-rounds']) {
  const reserved = journal.budget.reserve({ runId, scopes, usd: 0.25, tokens: 500 });
  if (!reserved.granted) throw new Error('The budget of the corpus is spent.');
  journal.append(runId, [], { reserve: () => reserved.reservationId });
  if (runId === 'two-rounds') journal.budget.settle(reserved.reservationId, { usd: 0.125, tokens: 400 });
}
journal.leases.acquire('interrupted', '4194305:0123456789abcdef', 30_000);

const exported = Object.keys(runs).map((runId) => journal.exportRun(runId)).join('');
writeFileSync(`${base}.jsonl`, exported);
writeFileSync(`${base}.list.json`, `${JSON.stringify(journal.list({ limit: 10 }), null, 2)}\n`);
journal.close();

// One file without a write-ahead log beside it.
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = DELETE; VACUUM');
database.close();
for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
