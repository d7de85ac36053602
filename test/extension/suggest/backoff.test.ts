import { expect, it } from 'vitest';
import { Backoff } from '../../../extension/suggest/backoff.ts';

it('rests longer after every failure, up to a minute, and not at all once something works', () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  const restsFor = (ms: number): boolean => {
    now += ms - 1;
    const rested = backoff.isResting;
    now += 1;
    return rested && !backoff.isResting;
  };
  expect(backoff.isResting).toBe(false);
  for (const ms of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    backoff.failed();
    expect(restsFor(ms), String(ms)).toBe(true);
  }
  backoff.failed();
  backoff.worked();
  expect(backoff.isResting).toBe(false);
  backoff.failed();
  expect(restsFor(2_000)).toBe(true);
});
