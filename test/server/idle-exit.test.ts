import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import { IdleExit } from '../../backend/server/idle-exit.ts';

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

/** Five minutes, and what happens in them. */
function watch() {
  const state = { clients: 0, activeRuns: 0, ended: 0 };
  const idle = new IdleExit({
    idleMs: 300_000, runs: state, clientCount: () => state.clients, onIdle: () => { state.ended += 1; },
  });
  const change = (runId: string, runState: RunSummary['state']) => idle.runChanged({ runId, state: runState } as RunSummary);
  return { state, idle, change };
}

test('a backend that no client ever reached ends', () => {
  const { state } = watch();
  vi.advanceTimersByTime(299_999);
  expect(state.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.ended).toBe(1);
});

test('a client keeps it, for as long as it stays', () => {
  const { state, idle } = watch();
  state.clients = 1;
  idle.touch();
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
  state.clients = 0;
  idle.touch();
  vi.advanceTimersByTime(299_999);
  expect(state.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.ended).toBe(1);
});

test('a run keeps it, and the time begins when the run ends', () => {
  const { state, change } = watch();
  state.activeRuns = 1;
  change('a', 'running');
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
  change('a', 'completed');
  state.activeRuns = 0;
  vi.advanceTimersByTime(299_999);
  expect(state.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.ended).toBe(1);
});

test('a run that waits does not keep it, and keeps it again once it goes on', () => {
  const { state, idle, change } = watch();
  state.activeRuns = 2;
  change('a', 'waiting');
  change('b', 'running');
  expect(idle.runsUnderWay).toBe(1);
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
  change('b', 'waiting');
  change('a', 'running');
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
  change('a', 'waiting');
  expect(idle.runsUnderWay).toBe(0);
  vi.advanceTimersByTime(300_000);
  expect(state.ended).toBe(1);
});

test('a run that was cancelled while it waited does not hide another', () => {
  const { state, idle, change } = watch();
  state.activeRuns = 2;
  change('a', 'waiting');
  change('a', 'cancelled');
  state.activeRuns = 1;
  expect(idle.runsUnderWay).toBe(1);
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
});

test('stopped, it never fires', () => {
  const { state, idle } = watch();
  idle.stop();
  vi.advanceTimersByTime(86_400_000);
  expect(state.ended).toBe(0);
});
