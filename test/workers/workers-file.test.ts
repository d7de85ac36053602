import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigFileError } from '../../backend/workers/read-json-file.ts';
import { loadWorkersFile, saveWorkersFile, workersFileLoader } from '../../backend/workers/workers-file.ts';
import { rejection, workerOf } from './harness.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workers-'));
  path = join(folder, 'conductor', 'workers.json');
});
afterEach(() => rm(folder, { recursive: true }));

async function refusal(text: string): Promise<string> {
  const file = join(folder, 'workers.json');
  await writeFile(file, text);
  const error = await rejection(loadWorkersFile(file));
  expect(error).toBeInstanceOf(ConfigFileError);
  return (error as ConfigFileError).message.replace(file, 'FILE');
}

test('no file is an empty pool with the usual budget', async () => {
  expect(await loadWorkersFile(path)).toMatchObject({ workers: [], budget: { runUsd: 1 } });
});

test('what was saved is what is loaded, readable by the owner alone, with nothing left beside it', async () => {
  const file = { ...(await loadWorkersFile(path)), conductor: 'ada', workers: [workerOf({ provider: 'openai' })] };
  await saveWorkersFile(path, file);
  expect(await loadWorkersFile(path)).toEqual(file);
  if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(join(path, '..'))).toEqual(['workers.json']);
});

test('a loader gives what the file says now, after each change, a mistake included, and when it is gone', async () => {
  const load = workersFileLoader(path);
  const empty = await load();
  expect(empty.workers).toEqual([]);
  const one = { ...empty, workers: [workerOf({ provider: 'openai' })] };
  await saveWorkersFile(path, one);
  const loaded = await load();
  expect(loaded).toEqual(one);
  expect(await load()).toBe(loaded);
  // As long as before.
  await writeFile(path, (await readFile(path, 'utf8')).replace('"ada"', '"eva"'));
  expect((await load()).workers).toMatchObject([{ id: 'eva' }]);
  await writeFile(path, '{');
  expect(await rejection(load())).toBeInstanceOf(ConfigFileError);
  await rm(path);
  expect((await load()).workers).toEqual([]);
});

test('a pool that is not valid is not saved and the old file stays', async () => {
  const file = await loadWorkersFile(path);
  await saveWorkersFile(path, file);
  const before = await readFile(path, 'utf8');
  const twice = { ...file, workers: [workerOf({ provider: 'openai' }), workerOf({ provider: 'anthropic' })] };
  expect((await rejection(saveWorkersFile(path, twice)) as Error).message).toBe('Not saved: two workers are called "ada".');
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('every mistake is one sentence with the place', async () => {
  expect(await refusal('{"version": 1,\n "workers": [,]}')).toMatch(/^FILE is not valid JSON.*: correct it/);
  expect(await refusal('[]')).toMatch(/^FILE: /);
  expect(await refusal('{"version": 2, "workers": []}')).toContain('FILE: version:');
  const remote = { id: 'a', provider: 'openai-compatible', model: 'm', baseUrl: 'http://example.com/v1' };
  expect(await refusal(JSON.stringify({ version: 1, workers: [remote] }))).toBe(
    'FILE: workers[0].baseUrl: baseUrl must use https, except on this machine (127.0.0.1, localhost).',
  );
  expect(await refusal('x'.repeat(1_100_000))).toContain('larger than 1 MiB');
});

test.runIf(process.platform !== 'win32')('a folder, a pipe or a device is not read, and nobody waits for it', async () => {
  const [pipe, device] = [join(folder, 'pipe.json'), join(folder, 'device.json')];
  execFileSync('mkfifo', [pipe]);
  await symlink('/dev/zero', device);
  for (const file of [folder, pipe, device]) {
    const error = await rejection(loadWorkersFile(file));
    expect(error).toMatchObject({ name: 'ConfigFileError', message: expect.stringContaining('no regular file') as string });
  }
});

test('a file that cannot be read or written says so', async () => {
  const file = await loadWorkersFile(path);
  const circle = join(folder, 'circle.json');
  await symlink(circle, circle);
  expect((await rejection(loadWorkersFile(circle)) as Error).message).toContain(`${circle} could not be read (ELOOP)`);
  await writeFile(join(folder, 'conductor'), 'a file where a folder should be');
  expect((await rejection(saveWorkersFile(path, file)) as Error).message).toContain('could not be written');
});
