import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../backend/common/serial-queue.ts';

describe('a queue', () => {
  it('runs one after another, in order, whether they succeed or fail', async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const task = (name: string, fails = false) => queue.run(async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
    const results = await Promise.allSettled([task('a'), task('b', true), task('c')]);
    expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(queue.isIdle).toBe(true);
  });

  it('tells an abort at once, and keeps the place until the task has ended', async () => {
    const queue = new SerialQueue();
    const held = Promise.withResolvers<string>();
    const controller = new AbortController();
    const running = queue.run(() => held.promise, controller.signal);
    let begun = false;
    const next = queue.run(async () => { begun = true; });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(begun).toBe(false);
    held.resolve('too late');
    await next;
    expect(begun).toBe(true);
  });

  it('never begins what was aborted before its turn', async () => {
    const queue = new SerialQueue();
    const held = Promise.withResolvers<void>();
    const first = queue.run(() => held.promise);
    const controller = new AbortController();
    let begun = false;
    const begin = async (): Promise<void> => { begun = true; };
    const waiting = queue.run(begin, controller.signal);
    controller.abort();
    const late = queue.run(begin, controller.signal);
    await expect(waiting).rejects.toThrow('aborted');
    await expect(late).rejects.toThrow('aborted');
    held.resolve();
    await first;
    expect(begun).toBe(false);
    expect(queue.isIdle).toBe(true);
  });
});
