import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ProviderLimits, type Slot } from '../../backend/workers/limits/provider-limits.ts';
import { workerOf } from './harness.ts';

const at = (id: string, concurrency: number, port = 1) =>
  workerOf({ id, provider: 'openai-compatible', baseUrl: `http://127.0.0.1:${port}/v1`, concurrency });
const never = new AbortController().signal;

/** Lets every promise that can settle do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** Starts callers and records the order in which they get their slots. */
function line(limits: ProviderLimits) {
  const started: string[] = [];
  const slots = new Map<string, Slot>();
  return {
    started,
    join: (name: string, worker = at('a', 1), signal = never) =>
      limits.acquire(worker, signal).then((slot) => {
        started.push(name);
        slots.set(name, slot);
      }),
    leave: (name: string) => slots.get(name)!.release(),
  };
}

test('callers come in the order they asked', async () => {
  const { started, join, leave } = line(new ProviderLimits());
  const all = ['first', 'second', 'third'].map((name) => join(name));
  for (const name of ['first', 'second', 'third']) {
    await settle();
    expect(started.at(-1)).toBe(name);
    leave(name);
  }
  await Promise.all(all);
});

test('the lowest concurrency of a server\'s workers counts, other servers are free', async () => {
  const [one, four, elsewhere] = [at('one', 2), at('four', 4), at('elsewhere', 4, 2)];
  const limits = new ProviderLimits({ workers: [one, four, elsewhere] });
  const { started, join, leave } = line(limits);
  const joined = [join('a', four), join('b', four), join('c', four), join('d', elsewhere)];
  await settle();
  expect(started).toEqual(['a', 'b', 'd']);
  leave('a');
  await Promise.all(joined);
  expect(started).toEqual(['a', 'b', 'd', 'c']);
});

test('a pool that changes changes the limit', async () => {
  const limits = new ProviderLimits({ workers: [at('a', 1)] });
  const { started, join } = line(limits);
  const joined = [join('a', at('a', 3)), join('b', at('a', 3))];
  await settle();
  expect(started).toEqual(['a']);
  limits.setWorkers([at('a', 3)]);
  await Promise.all(joined);
  expect(started).toEqual(['a', 'b']);
});

test('whoever is cancelled leaves the line and lets the others go on', async () => {
  const limits = new ProviderLimits();
  const { started, join, leave } = line(limits);
  const controller = new AbortController();
  await join('first');
  const second = join('second', at('a', 1), controller.signal);
  const third = join('third');
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  leave('first');
  await third;
  expect(started).toEqual(['first', 'third']);
});

test('a slot given back twice is one slot', async () => {
  const { started, join, leave } = line(new ProviderLimits());
  await join('first');
  const rest = [join('second'), join('third')];
  leave('first');
  leave('first');
  await settle();
  expect(started).toEqual(['first', 'second']);
  leave('second');
  await Promise.all(rest);
});

describe('a cooldown', () => {
  function cooled() {
    let time = 0;
    const waiting: { ms: number; end: () => void }[] = [];
    const limits = new ProviderLimits({
      now: () => time,
      delay: (ms, signal) =>
        new Promise((resolve, reject) => {
          waiting.push({ ms, end: resolve });
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        }),
    });
    return { limits, waiting, pass: (ms: number) => (time += ms) };
  }

  test('holds every caller of the server back until it is over', async () => {
    const { limits, waiting, pass } = cooled();
    const { started, join } = line(limits);
    limits.coolDown(at('a', 4), 1_000);
    limits.coolDown(at('a', 4), 10);
    const joined = [join('a', at('a', 4)), join('b', at('b', 4))];
    await settle();
    expect(started).toEqual([]);
    expect(waiting.map(({ ms }) => ms)).toEqual([1_000]);
    pass(1_000);
    waiting[0]!.end();
    await Promise.all(joined);
    expect(started).toEqual(['a', 'b']);
  });

  test('that is made longer while callers wait is waited out', async () => {
    const { limits, waiting, pass } = cooled();
    const { started, join } = line(limits);
    limits.coolDown(at('a', 1), 1_000);
    const joined = join('a');
    limits.coolDown(at('a', 1), 3_000);
    pass(1_000);
    waiting[0]!.end();
    await settle();
    expect(started).toEqual([]);
    expect(waiting[1]?.ms).toBe(2_000);
    pass(2_000);
    waiting[1]!.end();
    await joined;
  });

  test('can be waited for and cancelled', async () => {
    const { limits } = cooled();
    const controller = new AbortController();
    limits.coolDown(at('a', 1), 1_000);
    const waiting = limits.acquire(at('a', 1), controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

test('however callers come and go, there are never too many and nobody is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ aborts: fc.boolean(), turns: fc.integer({ min: 0, max: 3 }) }), { maxLength: 30 }),
      async (concurrency, callers) => {
        const limits = new ProviderLimits();
        const worker = at('a', concurrency);
        let running = 0;
        let most = 0;
        const outcomes = await Promise.all(
          callers.map(async ({ aborts, turns }) => {
            const controller = new AbortController();
            if (aborts) void Promise.resolve().then(() => controller.abort(new Error('enough')));
            try {
              const slot = await limits.acquire(worker, controller.signal);
              running += 1;
              most = Math.max(most, running);
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              running -= 1;
              slot.release();
              return true;
            } catch {
              return !aborts ? false : true;
            }
          }),
        );
        expect(outcomes.every(Boolean)).toBe(true);
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(running).toBe(0);
      },
    ),
  );
});
