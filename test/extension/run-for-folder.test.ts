import { expect, it } from 'vitest';
import { leaveRunFor, takeRunFor } from '../../extension/runs/run-for-folder.ts';

it('a run that is left for a folder is shown there, once, and in no other window', async () => {
  const stored = new Map<string, unknown>();
  const memory = {
    get: <T>(key: string) => stored.get(key) as T,
    update: async (key: string, value: unknown) => void stored.set(key, value),
  };
  expect(takeRunFor(memory, ['/app'])).toBeUndefined();
  await leaveRunFor(memory, { folder: '/sample', runId: 'r1' });
  expect(takeRunFor(memory, ['/app'])).toBeUndefined();
  expect(takeRunFor(memory, ['/sample'])).toBe('r1');
  expect(takeRunFor(memory, ['/sample'])).toBeUndefined();
});
