import { expect, it } from 'vitest';
import { AsyncMemo } from '../../backend/common/async-memo.ts';

it('makes a result once, for callers at the same time and for later ones', async () => {
  const memo = new AsyncMemo<string, number>();
  let made = 0;
  const get = (key: string): Promise<number> => memo.get(key, async () => (made += 1));
  expect(await Promise.all([get('a'), get('a')])).toEqual([1, 1]);
  expect(await get('a')).toBe(1);
  expect(await get('b')).toBe(2);
});

it('tries again after a failure', async () => {
  const memo = new AsyncMemo<string, number>();
  await expect(memo.get('a', () => Promise.reject(new Error('EMFILE')))).rejects.toThrow('EMFILE');
  expect(await memo.get('a', async () => 1)).toBe(1);
});
