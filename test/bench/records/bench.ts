import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Journal } from '../../../backend/journal/journal.ts';
import { judgedStepsIn, type StoredRow } from '../../../backend/journal/judged-steps.ts';
import { RecordBook } from '../../../backend/records/record-book.ts';
import { ALL_STEPS, recordBook, workerRecords } from '../../../backend/records/worker-records.ts';
import { recordsTable } from '../../../backend/records/records-table.ts';
import { workersFileSchema } from '../../../backend/protocol/worker-config.ts';
import type { RunEvent } from '../../../backend/protocol/run-events.ts';
import { done, judged, planned } from '../../journal/judged.ts';
import { accepted } from '../../journal/sample-events.ts';

/*
 * The processor time that records take in a journal of many runs: read from the events, and from the table that is kept beside them.
 *
 * node with-node.mjs node test/bench/records/bench.ts [--runs 5000]
 */

const { values } = parseArgs({ options: { runs: { type: 'string', default: '5000' } } });
const runs = Number(values.runs);
const folder = mkdtempSync(path.join(tmpdir(), 'records-'));
const file = path.join(folder, 'journal.sqlite');
const KINDS = ['bug', 'feature', 'refactor', 'tests', 'documentation'];
const WORKERS = 6;
const pool = Array.from({ length: WORKERS }, (_, index) => ({ id: `w${index}`, provider: 'openai', model: `model-${index}`, key: 'OPENAI_API_KEY' }));

/** Three steps, forty tests in the verdict, and an answer that is kept outside of its event. */
function eventsOf(run: number): RunEvent[] {
  const workers = [run % WORKERS, (run * 5 + 1) % WORKERS, (run * 7 + 2) % WORKERS];
  const outcome = (run * 2_654_435_761) % 97 < 50 ? 'verified' : 'failed';
  const tests = Array.from({ length: 40 }, (_, index) => ({ id: `test/file-${index}.test.ts > does what it says ${index}`, before: 'passed' as const, after: 'passed' as const }));
  return [
    { type: 'context.gathered', pieces: [], leftOut: [], tokens: 3_000, text: `${run} ${'line of code;\n'.repeat(900)}` },
    planned(workers, { subtasks: ['Find the cause in src/orders.ts.', 'Write the fix.', 'Check the fix against the question.'] }),
    done(0, 0.01, 2_000), done(1, 0.02, 4_000, { output: `${run} ${'changed line;\n'.repeat(500)}` }), done(2, 0.01, 3_000),
    judged(outcome, { tests }), { type: 'run.completed', outcome: outcome === 'verified' ? 'verified' : 'not-verified', round: 0, message: 'm' },
  ];
}

function timed<T>(name: string, times: number, work: () => T): T {
  const took: number[] = [];
  let result: T | undefined;
  for (let index = 0; index < times; index += 1) {
    const started = process.cpuUsage();
    result = work();
    const { user, system } = process.cpuUsage(started);
    took.push((user + system) / 1_000);
  }
  console.log(`${name.padEnd(70)} ${(took.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? NaN).toFixed(2)} ms`);
  return result as T;
}

const filling = Journal.open(file, { isDurable: false });
for (let run = 0; run < runs; run += 1) {
  filling.accept(`run-${run}`, accepted({ pool, asks: { kind: KINDS[run % KINDS.length], wants: 'change' } }, { workspace: `/projects/${run % 4}` }));
  filling.append(`run-${run}`, eventsOf(run));
}
filling.close();

const database = new DatabaseSync(file);
const eventRows = database.prepare('SELECT seq, at, body FROM events WHERE run_id = ? ORDER BY seq');
timed(`${runs} runs, read from their events`, 1, () => {
  const steps = Array.from({ length: runs }, (_, run) => judgedStepsIn(`run-${run}`, eventRows.all(`run-${run}`) as unknown as StoredRow[])).flat();
  return new RecordBook(steps);
});
timed('one run, from its events, as when it ends', 101, () => judgedStepsIn('run-7', eventRows.all('run-7') as unknown as StoredRow[]));
database.exec('DROP TABLE judged_steps; PRAGMA user_version = 3');
database.close();

const journal = timed('opening a journal of the version before, which fills the table once', 1, () => Journal.open(file, { isDurable: false }));
timed('reading the newest 3,000 steps', 21, () => journal.judgedSteps(3_000));
const workers = pool.map(({ id, model }) => ({ id, model }));
timed('what a Conductor is told, with that', 21, () => workerRecords(recordBook(journal), { project: '/projects/1', kind: 'bug' }, workers));
timed('the table for a person, of all steps', 21, () => recordsTable(recordBook(journal, ALL_STEPS), undefined, workersFileSchema.parse({ version: 1, workers: [] })));
journal.close();
rmSync(folder, { recursive: true });
