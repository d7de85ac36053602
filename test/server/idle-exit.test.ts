import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdleExit } from '../../backend/server/idle-exit.ts';

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

const DAY_MS = 86_400_000;

/** Five minutes, and what happens in them. */
function watch() {
  const state = { needed: false, ended: 0 };
  const idle = new IdleExit({ idleMs: 300_000, isNeeded: () => state.needed, onIdle: () => { state.ended += 1; } });
  return { state, idle };
}

test('a backend that nobody ever needed ends', () => {
  const { state } = watch();
  vi.advanceTimersByTime(299_999);
  expect(state.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.ended).toBe(1);
});

test('who needs it keeps it, and the time begins when they no longer do', () => {
  const { state, idle } = watch();
  state.needed = true;
  vi.advanceTimersByTime(DAY_MS + 1_000);
  expect(state.ended).toBe(0);
  state.needed = false;
  idle.touch();
  vi.advanceTimersByTime(299_999);
  expect(state.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.ended).toBe(1);
});

test('need that ends without a word is noticed all the same', () => {
  const { state } = watch();
  state.needed = true;
  vi.advanceTimersByTime(DAY_MS);
  state.needed = false;
  vi.advanceTimersByTime(300_000);
  expect(state.ended).toBe(1);
});

test('stopped, it never fires', () => {
  const { state, idle } = watch();
  idle.stop();
  vi.advanceTimersByTime(DAY_MS);
  expect(state.ended).toBe(0);
});
