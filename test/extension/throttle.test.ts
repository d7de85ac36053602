import { describe, expect, it } from 'vitest';
import { Throttle } from '../../extension/panel/throttle.ts';

function counted() {
  const timers: (() => void)[] = [];
  let runs = 0;
  const throttle = new Throttle(() => void (runs += 1), 100, (action) => void timers.push(action));
  return { throttle, runs: () => runs, passTime: () => timers.shift()?.(), timers };
}

describe('Throttle', () => {
  it('runs at once when it has rested', () => {
    const { throttle, runs } = counted();
    throttle.request();
    expect(runs()).toBe(1);
  });

  it('makes many requests into one more run, when the time has passed', () => {
    const { throttle, runs, passTime } = counted();
    for (let request = 0; request < 50; request += 1) throttle.request();
    expect(runs()).toBe(1);
    passTime();
    expect(runs()).toBe(2);
  });

  it('leaves no timer behind when nothing more is wanted', () => {
    const { throttle, runs, passTime, timers } = counted();
    throttle.request();
    passTime();
    expect(runs()).toBe(1);
    expect(timers).toHaveLength(0);
  });

  it('rests again after a run that had to wait', () => {
    const { throttle, runs, passTime } = counted();
    throttle.request();
    throttle.request();
    passTime();
    throttle.request();
    expect(runs()).toBe(2);
    passTime();
    expect(runs()).toBe(3);
  });
});
