import { expect, it } from 'vitest';
import { AdaptivePause } from '../../../extension/suggest/adaptive-pause.ts';

const pauseAfter = (...latenciesMs: number[]): number => {
  const pause = new AdaptivePause();
  for (const latency of latenciesMs) pause.note(latency);
  return pause.ms;
};

it('waits longer for a slow worker than for a quick one, within bounds', () => {
  expect(pauseAfter()).toBe(150);
  expect(pauseAfter(1_000, 1_000)).toBe(250);
  expect(pauseAfter(50, 60)).toBe(50);
  expect(pauseAfter(20_000)).toBe(600);
});

it('is not thrown off by one slow answer, and forgets those of long ago', () => {
  expect(pauseAfter(400, 400, 400, 20_000)).toBe(100);
  expect(pauseAfter(...Array<number>(10).fill(20_000), ...Array<number>(10).fill(400))).toBe(100);
});
