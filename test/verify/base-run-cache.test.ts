import { describe, expect, it } from 'vitest';
import { MemoryBaseRunCache, type BaseRun } from '../../backend/verify/judge/base-run-cache.ts';

const RUN: BaseRun = { report: { results: [] }, exitCode: 1, flaky: new Set() };
const { signal } = new AbortController();

describe('remembered base runs', () => {
  it('are made once for all who ask at the same time, and then remembered', async () => {
    const cache = new MemoryBaseRunCache();
    let made = 0;
    const make = async (): Promise<BaseRun> => {
      made += 1;
      return await Promise.resolve(RUN);
    };
    const all = await Promise.all(['a', 'a', 'a', 'b'].map((key) => cache.get(key, signal, make)));
    expect(all.every((run) => run === RUN)).toBe(true);
    await cache.get('a', signal, make);
    expect(made).toBe(2);
  });

  it('are made anew by those who wait where the first one gives up', async () => {
    const cache = new MemoryBaseRunCache();
    const stuck = Promise.withResolvers<BaseRun>();
    const first = cache.get('a', signal, () => stuck.promise);
    const second = cache.get('a', signal, () => Promise.resolve(RUN));
    stuck.reject(new Error('Cancelled.'));
    await expect(first).rejects.toThrow('Cancelled.');
    expect(await second).toBe(RUN);
    expect(await cache.get('a', signal, () => Promise.reject(new Error('It is remembered.')))).toBe(RUN);
  });

  it('let go of one who cancels while another makes the run', async () => {
    const cache = new MemoryBaseRunCache();
    const slow = Promise.withResolvers<BaseRun>();
    const first = cache.get('a', signal, () => slow.promise);
    const controller = new AbortController();
    const second = cache.get('a', controller.signal, () => Promise.resolve(RUN));
    controller.abort();
    await expect(second).rejects.toMatchObject({ name: 'AbortError' });
    slow.resolve(RUN);
    expect(await first).toBe(RUN);
  });

  it('are forgotten in the order of their last use', async () => {
    const cache = new MemoryBaseRunCache(2);
    const made: string[] = [];
    const ask = (key: string): Promise<BaseRun> =>
      cache.get(key, signal, () => {
        made.push(key);
        return Promise.resolve(RUN);
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(key);
    expect(made).toEqual(['a', 'b', 'c', 'b']);
  });
});
