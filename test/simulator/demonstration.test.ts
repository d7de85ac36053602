import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DEMONSTRATION_FOLDER, isDemonstration } from '../../backend/protocol/demonstration-runs.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { Demonstration } from '../../backend/simulator/demonstration.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function demonstrationHere(): Promise<Demonstration> {
  const demonstration = new Demonstration(path.join(await temporaryFolder(), DEMONSTRATION_FOLDER));
  onTestFinished(() => demonstration.close());
  return demonstration;
}

it('brings a project with its tests, a question about it, and workers that say they are simulated and cost nothing', async () => {
  const demonstration = await demonstrationHere();
  const { question, workspace, workers, conductor } = await demonstration.begin();
  expect(question).not.toBe('');
  expect(isDemonstration({ workspace, simulated: true })).toBe(true);
  expect(isDemonstration({ workspace: '/home/ada/project-a', simulated: true })).toBe(false);
  expect(await readFile(path.join(workspace, 'package.json'), 'utf8')).toContain('node --test');
  for (const worker of [...workers, conductor]) {
    expect(workerConfigSchema.parse(worker)).toMatchObject({ simulated: true, price: { inputPerMillion: 0, outputPerMillion: 0 } });
    expect((await fetch(new URL('/v1/unknown', worker.baseUrl))).headers.get('x-conductor-simulated')).not.toBeNull();
  }
});

it('has the same bug again the next time, answered by the same server, and leaves alone what is under way', async () => {
  const demonstration = await demonstrationHere();
  const first = await demonstration.begin();
  await writeFile(path.join(first.workspace, 'package.json'), 'changed by an answer');
  const [second, third] = await Promise.all([demonstration.begin(), demonstration.begin()]);
  for (const { workspace, ...rest } of [second, third]) {
    expect({ ...rest, workspace: first.workspace }).toEqual(first);
    expect(await readFile(path.join(workspace, 'package.json'), 'utf8')).toContain('node --test');
  }
  expect(new Set([first, second, third].map(({ workspace }) => workspace)).size).toBe(3);
  expect(await readFile(path.join(first.workspace, 'package.json'), 'utf8')).toBe('changed by an answer');
});

it('removes what an earlier process left, once it begins', async () => {
  const folder = await temporaryFolder();
  const before = path.join(folder, 'project-before');
  await mkdir(before);
  const demonstration = new Demonstration(folder);
  onTestFinished(() => demonstration.close());
  await demonstration.begin();
  await expect(readFile(before)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('that could not begin can the next time', async () => {
  const parent = path.join(await temporaryFolder(), 'home');
  await writeFile(parent, 'no folder');
  const demonstration = new Demonstration(path.join(parent, 'demonstration'));
  onTestFinished(() => demonstration.close());
  await expect(demonstration.begin()).rejects.toThrow();
  await rm(parent);
  expect((await demonstration.begin()).question).not.toBe('');
});

it('that never began has nothing to end', async () => {
  await expect((await demonstrationHere()).close()).resolves.toBeUndefined();
});

it('goes on after its process has ended, at the address that its run names, with its project', async () => {
  const folder = path.join(await temporaryFolder(), DEMONSTRATION_FOLDER);
  const first = new Demonstration(folder);
  const { workers: [worker], workspace } = await first.begin();
  await first.close();
  const next = new Demonstration(folder);
  onTestFinished(() => next.close());
  const answers = async (): Promise<boolean> => fetch(new URL('/v1/unknown', worker?.baseUrl)).then(() => true, () => false);
  await next.goOn({ baseUrl: 'http://127.0.0.1:9/v1' });
  expect(await answers()).toBe(false);
  await next.goOn(worker!);
  expect(await answers()).toBe(true);
  const another = await next.begin();
  expect(another.workers[0]?.baseUrl).toBe(worker?.baseUrl);
  expect(await readFile(path.join(workspace, 'package.json'), 'utf8')).toContain('node --test');
});

it('listens elsewhere where somebody else has taken its address', async () => {
  const folder = path.join(await temporaryFolder(), DEMONSTRATION_FOLDER);
  const [first, next] = [new Demonstration(folder), new Demonstration(folder)];
  onTestFinished(async () => void await Promise.all([first.close(), next.close()]));
  const [one, other] = [await first.begin(), await next.begin()];
  expect(other.workers[0]?.baseUrl).not.toBe(one.workers[0]?.baseUrl);
});
