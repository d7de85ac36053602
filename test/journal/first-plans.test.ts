import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { planningRecords } from '../../backend/solve/planning-records.ts';
import { accepted, usage } from './sample-events.ts';
import { openJournal } from './temporary.ts';

const planner = (id: string) => ({ policy: { kind: 'endpoint', worker: { id, provider: 'openai', model: `model-${id}` }, model: `model-${id}`, promptVersion: 'p' } });
const plan = (usd: number | undefined, more: object = {}): RunEvent => ({
  type: 'plan.proposed', round: 0, attemptId: 'a', text: 't', plan: { modelIds: [0], subtasks: ['Do it.'], accessList: [[]] },
  steps: [{ worker: 0, subtask: 'Do it.', reads: [], readsPreviousRound: false }], usage, cost: { usd, estimated: false }, durationMs: 2_000, ...more,
});
const rejected: RunEvent = {
  type: 'plan.rejected', round: 0, attemptId: 'a', text: 'no', reason: 'no-plan', message: 'No.', usage, cost: { usd: 0.5, estimated: false }, durationMs: 9_000,
};

describe('the record of a planner', () => {
  test('counts the first plan of each run, and the cost and time of those that were valid', () => {
    const journal = openJournal();
    journal.accept('r1', accepted(planner('a')));
    journal.append('r1', [plan(0.01), plan(7, { round: 1 })]);
    journal.accept('r2', accepted(planner('a')));
    journal.append('r2', [rejected, plan(7)]);
    journal.accept('r3', accepted(planner('a')));
    journal.append('r3', [plan(0.03)]);
    journal.accept('r4', accepted(planner('b')));
    journal.append('r4', [plan(undefined)]);
    const recordOf = planningRecords(journal);
    expect(recordOf({ id: 'a', model: 'model-a' })).toEqual({ runs: 3, valid: 2, usd: expect.closeTo(0.02), durationMs: 2_000 });
    expect(recordOf({ id: 'b', model: 'model-b' })).toEqual({ runs: 1, valid: 1, durationMs: 2_000 });
    // The same name with another model has no record.
    expect(recordOf({ id: 'a', model: 'model-c' })).toBeUndefined();
  });

  test('leaves out plans that were kept from another run, trainings, simulations, and runs that never planned', () => {
    const journal = openJournal();
    journal.accept('kept', accepted(planner('a')));
    journal.append('kept', [plan(0, { keptFrom: 'r1' })]);
    journal.accept('rollout', accepted({ ...planner('a'), kind: 'rollout' }));
    journal.append('rollout', [plan(0.01)]);
    journal.accept('simulated', accepted({ ...planner('a'), pool: [{ id: 'first', provider: 'openai', model: 'm', simulated: true }] }));
    journal.append('simulated', [plan(0.01)]);
    journal.accept('none', accepted(planner('a')));
    expect(journal.firstPlans(10)).toEqual([]);
  });

  test('counts the plan of a Conductor that follows one that nobody was asked for', () => {
    const journal = openJournal();
    journal.accept('tried', accepted(planner('a')));
    journal.append('tried', [plan(0, { attemptId: '' })]);
    expect(journal.firstPlans(10)).toEqual([]);
    journal.append('tried', [plan(0.01, { round: 1 })]);
    expect(journal.firstPlans(10)).toEqual([{ planner: 'a', model: 'model-a', isValid: true, usd: 0.01, durationMs: 2_000 }]);
  });

  test('leaves out a conversation with a worker by its name, where nobody plans', () => {
    const journal = openJournal();
    journal.accept('named', accepted({ ...planner('a'), conversation: { messages: [{ role: 'user', content: 'Why?' }], tools: [] } }));
    journal.append('named', [plan(0, { attemptId: '' })]);
    expect(journal.firstPlans(10)).toEqual([]);
  });

  test('forgets what is older than the latest runs', () => {
    let clock = 1;
    const journal = openJournal(undefined, { now: () => clock++ });
    for (const id of ['old', 'new']) {
      journal.accept(id, accepted(planner(id)));
      journal.append(id, [plan(0.01)]);
    }
    expect(journal.firstPlans(1)).toEqual([{ planner: 'new', model: 'model-new', isValid: true, usd: 0.01, durationMs: 2_000 }]);
  });
});
