import { describe, expect, it } from 'vitest';
import type { RunEvent, StoredEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { budgetSchema } from '../../backend/protocol/worker-config.ts';
import { RunStore } from '../../extension/runs/run-store.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

const spent = { usage: NO_USAGE, cost: { usd: 0, estimated: false }, durationMs: 1 };
const EVENTS: readonly RunEvent[] = [
  {
    type: 'run.accepted', kind: 'solve', request: runRequestSchema.parse({ question: 'Why?' }), pool: [],
    policy: { kind: 'endpoint', model: 'planner', promptVersion: '1' }, budget: budgetSchema.parse({}),
  },
  { type: 'context.gathered', pieces: [], leftOut: [], tokens: 0, text: '' },
  {
    type: 'plan.proposed', round: 0, attemptId: 'p', text: 'plan',
    plan: { modelIds: [0], subtasks: ['answer'], accessList: [[]] },
    steps: [{ worker: 0, subtask: 'answer', reads: [], readsPreviousRound: false }], ...spent,
  },
  {
    type: 'attempt.started', round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 's', worker: 'w', number: 1,
    reserved: { tokens: 10 },
  },
  { type: 'step.completed', round: 0, step: 0, attemptId: 's', output: 'the answer', finishReason: 'stop', ...spent },
];
const stored = (seq: number, runId = 'r1'): StoredEvent => ({ runId, seq, at: seq, event: EVENTS[seq - 1] as RunEvent });
const after = (seq: number, runId = 'r1'): RunSnapshot =>
  snapshotOf(Array.from({ length: seq }, (_, index) => stored(index + 1, runId)));
const text = (offset: number, piece: string) =>
  ({ runId: 'r1', round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 's', offset, text: piece });

function storeOn(...backends: FakeBackend[]) {
  const remembered: (string | undefined)[] = [];
  const { connection, starts } = connectionOver(backends);
  const remember = (runId: string | undefined): void => void remembered.push(runId);
  const store = (runId?: string): RunStore => new RunStore({ connection, memory: { runId, remember } });
  return { connection, store, remembered, starts };
}

/** Resolves at the next change for which the condition holds. */
function changes(store: RunStore, holds: (run: RunSnapshot | undefined) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = store.changed.on((run) => {
      if (!holds(run)) return;
      end();
      resolve();
    });
  });
}

const answering = (seq: number): FakeBackend => new FakeBackend()
  .answer('run/subscribe', (params) => ({ run: after(seq, (params as { runId: string }).runId) }))
  .answer('run/unsubscribe', () => ({}));

describe('RunStore', () => {
  it('shows the snapshot and folds in what happens next', async () => {
    const backend = answering(4);
    const { store, remembered } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    expect(remembered).toEqual(['r1']);
    backend.emit('run/text', text(0, 'the '));
    backend.emit('run/text', text(4, 'ans'));
    expect(runs.run?.rounds[0]?.steps[0]?.attempt?.text).toBe('the ans');
    backend.emit('run/event', stored(5));
    expect(runs.run).toEqual(after(5));
  });

  it('folds in what arrives before the snapshot does', async () => {
    const snapshot = Promise.withResolvers<unknown>();
    const backend = new FakeBackend().answer('run/subscribe', () => snapshot.promise);
    const { store } = storeOn(backend);
    const runs = store();
    const opening = runs.open('r1');
    await Promise.resolve();
    backend.emit('run/event', stored(3));
    backend.emit('run/event', stored(4));
    snapshot.resolve({ run: after(3) });
    expect(await opening).toEqual(after(4));
  });

  it('ignores what happens to other runs', async () => {
    const backend = answering(4);
    const { store } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    backend.emit('run/event', stored(5, 'r2'));
    expect(runs.run).toEqual(after(4));
  });

  it('shows none any more once the open one is removed, and does not look for it after a reload', async () => {
    const backend = answering(4);
    const { store, remembered } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    backend.emit('run/removed', { runId: 'r2' });
    expect(runs.run).toEqual(after(4));
    backend.emit('run/removed', { runId: 'r1' });
    expect(runs.run).toBeUndefined();
    expect(remembered).toEqual(['r1', undefined]);
  });

  it('asks for the snapshot again when it notices that it missed an event', async () => {
    let subscriptions = 0;
    const backend = new FakeBackend().answer('run/subscribe', () => {
      subscriptions += 1;
      return { run: after(subscriptions === 1 ? 2 : 5) };
    });
    const { store } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    const caughtUp = changes(runs, (run) => run?.seq === 5);
    backend.emit('run/event', stored(4));
    await caughtUp;
    expect(runs.run).toEqual(after(5));
  });

  it('follows the same run again on a new connection, from a fresh snapshot', async () => {
    const [first, second] = [answering(2), answering(4)];
    const { store } = storeOn(first, second);
    const runs = store();
    await runs.open('r1');
    const caughtUp = changes(runs, (run) => run?.seq === 4);
    first.lose();
    await caughtUp;
    second.emit('run/event', stored(5));
    expect(runs.run).toEqual(after(5));
  });

  it('opens the remembered run as soon as there is a connection, and starts none for it', async () => {
    const { store, connection, starts } = storeOn(answering(3));
    const runs = store('r1');
    expect(starts()).toBe(0);
    const opened = changes(runs, (run) => run !== undefined);
    await connection.client();
    await opened;
    expect(runs.run).toEqual(after(3));
  });

  it('forgets a remembered run that the backend no longer knows, and says so', async () => {
    const backend = new FakeBackend().answer('run/subscribe', () => {
      throw new Error('There is no run "r1".');
    });
    const { store, connection, remembered } = storeOn(backend);
    const runs = store('r1');
    const problem = new Promise<string>((resolve) => void runs.problem.on(resolve));
    await connection.client();
    expect(await problem).toBe('There is no run "r1".');
    expect(remembered).toEqual([undefined]);
    expect(runs.run).toBeUndefined();
  });

  it('keeps showing the open run when another one cannot be opened', async () => {
    const backend = answering(3);
    const { store, remembered } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    backend.answer('run/subscribe', () => {
      throw new Error('There is no run "r2".');
    });
    await expect(runs.open('r2')).rejects.toThrow('There is no run "r2".');
    expect(runs.run).toEqual(after(3));
    expect(remembered).toEqual(['r1']);
  });

  it('remembers the run that was opened last, although the one before arrives later', async () => {
    const late = Promise.withResolvers<unknown>();
    const backend = answering(4).answer('run/subscribe', (params) => {
      const { runId } = params as { runId: string };
      return runId === 'slow' ? late.promise : { run: after(4, runId) };
    });
    const { store, remembered } = storeOn(backend);
    const runs = store();
    const slow = runs.open('slow');
    await runs.open('r2');
    late.resolve({ run: after(4, 'slow') });
    await slow;
    expect(runs.run?.runId).toBe('r2');
    expect(remembered.at(-1)).toBe('r2');
  });

  it('lets go of the run before when another one is opened', async () => {
    const backend = answering(3);
    const { store } = storeOn(backend);
    const runs = store();
    await runs.open('r1');
    await runs.open('r2');
    expect(runs.run?.runId).toBe('r2');
    expect(backend.callsOf('run/unsubscribe')).toEqual([{ runId: 'r1' }]);
  });
});
