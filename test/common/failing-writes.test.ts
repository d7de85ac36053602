import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRecord, writeRecord, type BackendRecord } from '../../backend/protocol/client/discovery.ts';
import { trainingSchema, type Training } from '../../backend/protocol/training.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { RoutesFile } from '../../backend/suggest/routes-file.ts';
import { CheckpointStore } from '../../backend/train/grpo/checkpoint-store.ts';
import type { Decisions, FrozenTasks } from '../../backend/train/trainings/tasks-folder.ts';
import { TrainingFolder } from '../../backend/train/trainings/training-folder.ts';
import { notSaved } from '../../backend/train/trainings/storage-problem.ts';
import { loadWorkersFile, saveWorkersFile } from '../../backend/workers/workers-file.ts';
import { failWrites } from '../support/failing-files.ts';

vi.mock('node:fs/promises', async () => (await import('../support/failing-files.ts')).failingFiles());

/*
 * A disk that is full or broken, at every write of settings and trainings: what was there stays whole, nothing half-written or temporary is
 * left, and the same write succeeds when the disk is well again. The journal's writes are in test/journal/failing-disk.test.ts.
 */

let folder: string;
beforeEach(async () => { folder = await mkdtemp(path.join(tmpdir(), 'conductor-writes-')); });
afterEach(async () => {
  failWrites(undefined);
  await rm(folder, { recursive: true });
});

interface Store<T> {
  readonly write: (value: T) => Promise<void>;
  readonly read: () => Promise<unknown>;
  readonly values: readonly [before: T, after: T];
  /** What a person is shown. */
  readonly sentence?: (error: unknown) => string;
}
const store = <T>(made: Store<T>): Store<unknown> => made as unknown as Store<unknown>;

const workersOf = (model: string): WorkersFile => workersFileSchema.parse({
  version: 1, workers: [{ id: 'one', provider: 'openai-compatible', model, baseUrl: 'http://localhost/v1' }],
});
const recordOf = (port: number): BackendRecord =>
  ({ port, pid: 1, version: '1', protocol: { major: 1, minor: 0 }, token: 't'.repeat(40), startedAt: 0 });
const trainingOf = (step: number): Training => trainingSchema.parse({
  trainingId: 't', workspace: '/project', conductor: 'c', model: 'm', config: {}, state: 'training', message: '', startedAt: 0, updatedAt: 0,
  tasks: { train: 1, heldOut: 1 }, step, metrics: [], spentUsd: 0, spentTokens: 0, unpricedTokens: 0,
  adopted: false, simulated: false,
});
const tasksOf = (sha256: string): FrozenTasks => ({ project: [], file: { path: '/tasks', sha256, train: ['a'], heldOut: ['b'] } });
const decisionsOf = (untried: number): Decisions => ({ untried, decided: [] });

function trainingStore<T>(write: (training: TrainingFolder, value: T) => Promise<void>, read: (training: TrainingFolder) => Promise<T | undefined>,
  values: readonly [T, T]): Store<unknown> {
  const training = (): TrainingFolder => new TrainingFolder(folder);
  return store<T>({ write: (value) => write(training(), value), read: () => read(training()), values, sentence: (error) => notSaved(error).message });
}

const STORES: Readonly<Record<string, Store<unknown>>> = {
  'workers.json': store<WorkersFile>({
    write: (value) => saveWorkersFile(path.join(folder, 'workers.json'), value),
    read: () => loadWorkersFile(path.join(folder, 'workers.json')),
    values: [workersOf('old'), workersOf('new')],
    sentence: (error) => (error as Error).message,
  }),
  'backend.json': store<BackendRecord>({ write: (value) => writeRecord(folder, value), read: () => readRecord(folder), values: [recordOf(1), recordOf(2)] }),
  'training.json': trainingStore((training, value) => training.saveTraining(value), (training) => training.training(), [trainingOf(1), trainingOf(2)]),
  'tasks.json': trainingStore((training, value) => training.saveTasks(value), (training) => training.tasks(), [tasksOf('old'), tasksOf('new')]),
  'decisions.json': trainingStore(
    (training, value) => training.saveDecisions(value), (training) => training.decisions(), [decisionsOf(1), decisionsOf(2)],
  ),
};

const DISKS = [['ENOSPC', /free some space|disk is full/i], ['EIO', /check the folder|disk reports an error/i]] as const;

describe.each(DISKS)('where a write fails with %s', (code, expected) => {
  it.each(Object.keys(STORES))('%s stays whole', async (name) => {
    const { write, read, values: [before, after], sentence } = STORES[name] as Store<unknown>;
    await write(before);
    const names = await readdir(folder);
    let at = 1;
    for (; ; at += 1) {
      failWrites({ code, at });
      const error: unknown = await write(after).then(() => undefined, (thrown: unknown) => thrown);
      failWrites(undefined);
      if (!error) break;
      expect(error).toBeInstanceOf(Error);
      if (sentence) expect(sentence(error)).toMatch(expected);
      expect([before, after]).toContainEqual(await read());
      expect((await readdir(folder)).sort()).toEqual(names.sort());
    }
    // The temporary file, its content, its place.
    expect(at).toBeGreaterThan(3);
    expect(await read()).toEqual(after);
  });

  it('a checkpoint is there whole or not at all, and what was trained before it stays', async () => {
    const checkpoints = new CheckpointStore(folder, { configuration: 'c' });
    await checkpoints.resume();
    const save = (step: number): Promise<void> => checkpoints.save(step, { metrics: [] }, async (engine) => {
      await mkdir(engine);
      await writeFile(path.join(engine, 'state.json'), '{"state": "of the engine"}');
    });
    await save(1);
    let at = 1;
    for (; ; at += 1) {
      failWrites({ code, at });
      const error: unknown = await save(2).then(() => undefined, (thrown: unknown) => thrown);
      failWrites(undefined);
      if (!error) break;
      const names = await readdir(path.join(folder, 'checkpoints'));
      expect(names).toEqual(['step-000001']);
      expect((await checkpoints.resume())?.step).toBe(1);
    }
    expect(at).toBeGreaterThan(4);
    expect((await checkpoints.resume())?.step).toBe(2);
  });

  it('what was tried for a task is kept, but for a line that was torn', async () => {
    const training = new TrainingFolder(folder);
    const keep = (key: string): Promise<void> => training.keepTried({ key, reason: 'The tests pass without it.' });
    await keep('first');
    failWrites({ code, at: 1 });
    await expect(keep('second')).rejects.toThrow(code);
    failWrites(undefined);
    await keep('third');
    expect([...(await training.tried()).keys()]).toEqual(['first', 'third']);
  });

  it('who suggests in which language is chosen all the same, and written with the next choice', async () => {
    const log: string[] = [];
    const file = path.join(folder, 'suggest-routes.json');
    const route = (language: string) => ({ workspace: '/project', language, pool: 'p', worker: 'w', plannedBy: 'c', at: 0 });
    const routes = new RoutesFile(file, (line) => log.push(line));
    await routes.add(route('go'));
    failWrites({ code, at: 2 });
    await routes.add(route('rust'));
    failWrites(undefined);
    expect(log).toEqual([expect.stringContaining(code)]);
    expect(await routes.find(route('rust'))).toBeDefined();
    expect(await new RoutesFile(file, (line) => log.push(line)).find(route('rust'))).toBeUndefined();
    await routes.add(route('zig'));
    const read = new RoutesFile(file, (line) => log.push(line));
    for (const language of ['go', 'rust', 'zig']) expect(await read.find(route(language))).toBeDefined();
    expect(log).toHaveLength(1);
  });
});
