import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../backend/common/in-order.ts';

const { signal } = new AbortController();

async function all<Result>(results: AsyncIterable<Result>): Promise<readonly Result[]> {
  const found: Result[] = [];
  for await (const one of results) found.push(one);
  return found;
}

describe('work on several items at the same time', () => {
  it('yields in the order of the items, with so many under way as it is told, also behind one that takes long', async () => {
    let underWay = 0;
    let most = 0;
    const ended: string[] = [];
    const othersEnded = Promise.withResolvers<void>();
    const results = await all(inOrder(['slow', 'a', 'b', 'c'], { atOnce: 2, signal }, async (name) => {
      most = Math.max(most, (underWay += 1));
      await (name === 'slow' ? othersEnded.promise : sleep(1));
      underWay -= 1;
      ended.push(name);
      if (ended.length === 3) othersEnded.resolve();
      return name;
    }));
    expect(results).toEqual(['slow', 'a', 'b', 'c']);
    expect(most).toBe(2);
    expect(ended.at(-1)).toBe('slow');
  });

  it('aborts what is under way when the reader leaves, and waits for its end', async () => {
    const ends: string[] = [];
    const finding = inOrder(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], { atOnce: 2, signal }, async (name, giveUp) => {
      if (name === 'a') return name;
      await sleep(60_000, undefined, { signal: giveUp }).catch(() => sleep(10));
      ends.push(name);
      return name;
    });
    for await (const name of finding) if (name === 'a') break;
    expect(ends).toEqual(['b', 'c']);
  });

  it('throws what the work on an item throws, when its turn comes', async () => {
    const found: number[] = [];
    const finding = async (): Promise<void> => {
      for await (const one of inOrder([1, 2, 3], { atOnce: 3, signal }, async (item) => {
        if (item === 2) throw new Error('no');
        await sleep(item);
        return item;
      })) found.push(one);
    };
    await expect(finding()).rejects.toThrow('no');
    expect(found).toEqual([1]);
  });

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController();
    const finding = all(inOrder([1, 2], { atOnce: 1, signal: stop.signal }, async (item, giveUp) => {
      stop.abort(new Error('stopped'));
      await sleep(60_000, undefined, { signal: giveUp });
      return item;
    }));
    await expect(finding).rejects.toThrow();
  });
});
