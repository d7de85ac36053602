import { expect, it } from 'vitest';
import { unlessAborted } from '../../backend/common/unless-aborted.ts';

it('settles like the promise', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

it('rejects when the signal aborts', async () => {
  const controller = new AbortController();
  const waiting = unlessAborted(new Promise(() => undefined), controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

it('leaves no unhandled rejection if the promise fails after an abort', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  try {
    const later = Promise.withResolvers<never>();
    await expect(unlessAborted(later.promise, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    later.reject(new Error('too late'));
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
});
