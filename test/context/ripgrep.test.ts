import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Ripgrep, RipgrepUnavailableError } from '../../backend/context/ripgrep.ts';
import { temporaryFolder } from './workspaces.ts';

/** A program in ripgrep's place that does what a real one rarely does when a test wants it. */
function program(script: string): string {
  const file = path.join(temporaryFolder(), 'program');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o700);
  return file;
}

/** Prints its process id and then hangs. */
const HANGING = 'echo $$; exec sleep 1000';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

afterEach(() => void vi.useRealTimers());

const call = { args: [], folder: '/', separator: '\n', signal: new AbortController().signal } as const;

test('an abort kills the program and rejects with the reason', async () => {
  const controller = new AbortController();
  const reason = new Error('no longer wanted');
  let pid = 0;
  const running = new Ripgrep(program(HANGING)).run({
    ...call,
    signal: controller.signal,
    onRecord: (record) => {
      pid = Number(record);
      controller.abort(reason);
    },
  });
  await expect(running).rejects.toBe(reason);
  expect(pid).toBeGreaterThan(0);
  expect(isAlive(pid)).toBe(false);
});

test('a program that takes too long is killed, and what it printed counts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const pids: number[] = [];
  const ripgrep = new Ripgrep(program(HANGING), { timeoutMs: 10_000, maxOutputLength: 1_000 });
  const onRecord = (record: string): void => {
    pids.push(Number(record));
    vi.advanceTimersByTime(10_000);
  };
  expect(await ripgrep.run({ ...call, onRecord })).toBe('timeout');
  expect(pids).toHaveLength(1);
  expect(pids.map(isAlive)).toEqual([false]);
});

test('a program that prints too much is killed', async () => {
  const ripgrep = new Ripgrep(program('exec yes'), { timeoutMs: 60_000, maxOutputLength: 10_000 });
  let count = 0;
  expect(await ripgrep.run({ ...call, onRecord: () => (count += 1) })).toBe('too-much');
  expect(count).toBeGreaterThanOrEqual(5_000);
});

test.each([
  ['is not there', () => '/no/such/program'],
  ['says what it dislikes', () => program('echo "rg: bad pattern" >&2; exit 2')],
  ['does not exist for the platform', () => undefined],
])('a program that %s is unavailable', async (_name, executable) => {
  await expect(new Ripgrep(executable()).run({ ...call, onRecord: () => undefined })).rejects.toThrow(RipgrepUnavailableError);
});

test('one unreadable file does not spoil what was found, and finding nothing is no failure', async () => {
  const records: string[] = [];
  const onRecord = (record: string) => void records.push(record);
  expect(await new Ripgrep(program('echo found; exit 2')).run({ ...call, onRecord })).toBe('complete');
  expect(await new Ripgrep(program('exit 1')).run({ ...call, onRecord })).toBe('complete');
  expect(records).toEqual(['found']);
});
