import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StallWatch } from '../../backend/workers/limits/stall-watch.ts';
import { workerOf } from './harness.ts';

/*
 * Before the first token only a token counts; after it, any sign of life. Whatever ends the watch, it aborts at most once and
 * leaves no timer behind.
 */

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const worker = workerOf({ provider: 'openai', firstTokenTimeoutMs: 1_000, idleTimeoutMs: 200 });

function watch() {
  const caller = new AbortController();
  const watched = new StallWatch(worker, caller.signal);
  const kind = () => (watched.signal.aborted ? (watched.signal.reason as { kind: string }).kind : undefined);
  return { caller, watched, kind };
}

test('keep-alives do not put off the first token', () => {
  const { watched, kind } = watch();
  for (let beat = 0; beat < 9; beat += 1) {
    vi.advanceTimersByTime(100);
    watched.activity();
  }
  expect(kind()).toBeUndefined();
  vi.advanceTimersByTime(100);
  expect(kind()).toBe('first-token-timeout');
});

test('after the first token every sign of life winds the idle timer up', () => {
  const { watched, kind } = watch();
  vi.advanceTimersByTime(900);
  watched.token();
  for (const sign of [() => watched.activity(), () => watched.token(), () => watched.activity()]) {
    vi.advanceTimersByTime(199);
    sign();
  }
  vi.advanceTimersByTime(199);
  expect(kind()).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(kind()).toBe('idle-timeout');
});

test('the caller\'s abort is cancelled, at once and for good', () => {
  const { caller, watched, kind } = watch();
  caller.abort(new Error('enough'));
  expect(kind()).toBe('cancelled');
  watched.token();
  watched.activity();
  expect(vi.getTimerCount()).toBe(0);
});

test('a caller that has aborted already is cancelled from the start', () => {
  expect(new StallWatch(worker, AbortSignal.abort()).signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('a watch that was stopped never aborts, even if late signs arrive', () => {
  const { caller, watched, kind } = watch();
  watched.token();
  watched.stop();
  watched.token();
  watched.activity();
  caller.abort();
  vi.advanceTimersByTime(10_000);
  expect(kind()).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
