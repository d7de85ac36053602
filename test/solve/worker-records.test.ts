import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../backend/journal/journal.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { workerRecords } from '../../backend/solve/worker-records.ts';
import { accepted, usage } from '../journal/sample-events.ts';
import { openJournal, temporaryFile } from '../journal/temporary.ts';

const HERE = '/projects/sample';
/** The pool of `accepted`. */
const POOL = [{ id: 'first', model: 'model-a' }, { id: 'second', model: 'model-b' }];

const plan = (workers: readonly number[], round = 0): RunEvent => ({
  type: 'plan.proposed', round, attemptId: 'p', text: 't', usage, cost: { usd: 5, estimated: false }, durationMs: 9_000,
  plan: { modelIds: [...workers], subtasks: workers.map(() => 'Do it.'), accessList: workers.map(() => []) },
  steps: workers.map((worker) => ({ worker, subtask: 'Do it.', reads: [], readsPreviousRound: false })),
});
const step = (at: number, usd: number | undefined, durationMs: number, { output = 'o', ...more }: { output?: string; round?: number; keptFrom?: string } = {}): RunEvent => ({
  type: 'step.completed', round: 0, step: at, attemptId: 'a', output, finishReason: 'stop', usage, cost: { usd, estimated: false }, durationMs, ...more,
});
const turn = (at: number, usd: number, durationMs: number): RunEvent => ({
  type: 'step.turned', round: 0, step: at, attemptId: 'a', text: 't', usage, cost: { usd, estimated: false }, durationMs,
});
const verdict = (verified: boolean): RunEvent => ({
  type: 'verify.completed', round: 0,
  verdict: {
    verified, score: 1, outcome: verified ? 'verified' : 'failed', reason: 'r', tests: [], notes: [], command: 'npm test', sandboxed: true, durationMs: 1,
  },
});
const ended = (verified: boolean): RunEvent[] => [verdict(verified), { type: 'run.completed', outcome: verified ? 'verified' : 'not-verified', round: 0, message: 'm' }];

function ran(journal: Journal, runId: string, events: readonly RunEvent[], overrides: Record<string, unknown> = {}, request: Record<string, unknown> = {}): void {
  journal.accept(runId, accepted(overrides, request));
  journal.append(runId, events);
}

describe('the records of workers', () => {
  it('count the judged runs that each did a step of, and the mean cost and time of its steps', () => {
    const journal = openJournal();
    ran(journal, 'r1', [plan([0, 1]), step(0, 0.01, 2_000), step(1, 0.04, 8_000), ...ended(true)]);
    // Two steps by one worker, one of them of two turns, and in two rounds.
    ran(journal, 'r2', [
      plan([1, 1]), turn(0, 0.01, 500), step(0, 0.02, 1_500), step(1, 0.03, 4_000), plan([0], 1), step(0, 0.03, 4_000, { round: 1 }), ...ended(false),
    ]);
    expect(workerRecords(journal, HERE, POOL)).toEqual([
      { worker: 'first', runs: 2, verified: 1, steps: 2, usd: expect.closeTo(0.02), durationMs: 3_000 },
      { worker: 'second', runs: 2, verified: 1, steps: 3, usd: expect.closeTo(0.1 / 3), durationMs: expect.closeTo(14_000 / 3) },
    ]);
  });

  it('have no cost where the price of a step was unknown, and are not there for a worker without a run', () => {
    const journal = openJournal();
    ran(journal, 'r1', [plan([0, 0]), step(0, 0.01, 1_000), step(1, undefined, 1_000), ...ended(true)]);
    expect(workerRecords(journal, HERE, POOL)).toEqual([{ worker: 'first', runs: 1, verified: 1, steps: 2, durationMs: 1_000 }]);
  });

  it('are those of this project, of the model that the worker has now, and of real workers', () => {
    const journal = openJournal();
    ran(journal, 'r1', [plan([0]), step(0, 0.01, 1_000), ...ended(true)]);
    ran(journal, 'elsewhere', [plan([0]), step(0, 1, 1), ...ended(false)], {}, { workspace: '/projects/other' });
    ran(journal, 'rollout', [plan([0]), step(0, 1, 1), ...ended(false)], { kind: 'rollout' });
    ran(journal, 'simulated', [plan([0]), step(0, 1, 1), ...ended(false)], { pool: [{ id: 'first', provider: 'openai', model: 'model-a', simulated: true }] });
    expect(workerRecords(journal, HERE, POOL)).toEqual([{ worker: 'first', runs: 1, verified: 1, steps: 1, usd: 0.01, durationMs: 1_000 }]);
    expect(workerRecords(journal, HERE, [{ id: 'first', model: 'model-c' }])).toEqual([]);
  });

  it('leave out runs without a verdict, runs whose tests may notice nothing, runs that are not over, and steps that another run paid for', () => {
    const journal = openJournal();
    const done = [plan([0]), step(0, 1, 1)];
    ran(journal, 'words', [...done, { type: 'run.completed', outcome: 'answered', round: 0, message: 'm' }]);
    ran(journal, 'no change', [...done, { type: 'run.completed', outcome: 'not-verified', round: 0, message: 'm' }]);
    ran(journal, 'not run', [...done, verdict(false), { type: 'run.completed', outcome: 'unchecked', round: 0, message: 'm' }]);
    ran(journal, 'passes', [...done, verdict(false), { type: 'run.completed', outcome: 'passes', round: 0, message: 'm' }]);
    ran(journal, 'under way', [...done, verdict(true)]);
    ran(journal, 'cancelled', [...done, verdict(true), { type: 'run.cancelled' }]);
    expect(workerRecords(journal, HERE, POOL)).toEqual([]);
    ran(journal, 'again', [plan([0, 1]), step(0, 0, 9_000, { keptFrom: 'words' }), step(1, 0.5, 1_000), ...ended(true)]);
    expect(workerRecords(journal, HERE, POOL)).toEqual([{ worker: 'second', runs: 1, verified: 1, steps: 1, usd: 0.5, durationMs: 1_000 }]);
  });

  it('are of the latest fifty runs, and read no long text', () => {
    let clock = 1;
    const file = temporaryFile();
    const journal = openJournal(file, { now: () => clock++ });
    const long = 'x'.repeat(100_000);
    for (let run = 0; run < 60; run += 1) {
      const output = `${run}${long}`;
      ran(journal, `r${run}`, [plan([0]), step(0, 0.01, 1_000, { output }), ...ended(run >= 10)]);
    }
    expect(workerRecords(journal, HERE, POOL)).toMatchObject([{ runs: 50, verified: 50 }]);
    const database = new DatabaseSync(file);
    database.exec('DELETE FROM blobs');
    // An event that cannot be read costs its own run only.
    database.prepare('UPDATE events SET body = ? WHERE run_id = ? AND type = ?').run('{', 'r59', 'step.completed');
    database.close();
    expect(workerRecords(journal, HERE, POOL)).toMatchObject([{ runs: 49, verified: 49 }]);
  });
});
