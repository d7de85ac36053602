import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { outcomesCheckSchema } from '../../backend/protocol/learning.ts';
import { trainingSchema, type Training } from '../../backend/protocol/training.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { fillJournal, knowsItsWorkersALittle, POOL } from '../train/outcome-journal.ts';
import { conductorCommand, type Result } from './run-conductor.ts';

/*
 * The command line, the real backend, conductor-mini in its process, and a journal of sixty questions that a prompted Conductor planned, which
 * knows its workers a little.
 */

const QUESTIONS = 60;

const { places, start, run } = conductorCommand();
/** All workers' server. Whoever were asked would be seen. */
let workers: ScriptedServer;
let runs: string[];

beforeAll(async () => {
  workers = await ScriptedServer.start(() => 'Nobody is to ask me.');
  await mkdir(places.home, { mode: 0o700 });
  const pool = POOL.map((worker) => ({ ...worker, baseUrl: workers.baseUrl }));
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({ version: 1, workers: pool, local: { device: 'cpu', precision: 'full' } }));
  runs = fill(QUESTIONS, { choose: knowsItsWorkersALittle });
});
afterAll(async () => {
  await run(['backend', 'stop']);
  await workers.close();
});

function fill(...[questions, options, request]: Parameters<typeof fillJournal> extends [unknown, ...infer Rest] ? Rest : never): string[] {
  const journal = Journal.open(path.join(places.home, 'journal.sqlite'));
  try {
    return fillJournal(journal, questions, options, request);
  } finally {
    journal.close();
  }
}

async function ok(...args: string[]): Promise<Result> {
  const result = await run(args);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return result;
}

const shown = async (trainingId: string): Promise<Training> => trainingSchema.parse(JSON.parse((await ok('train', 'show', trainingId, '--json')).stdout));
const planner = async (): Promise<unknown> => (JSON.parse(await readFile(path.join(places.home, 'workers.json'), 'utf8')) as { conductor?: string }).conductor;

const trainings = (): Promise<string[]> => readdir(path.join(places.home, 'trainings')).catch(() => []);

describe('conductor learn', { timeout: 600_000 }, () => {
  let trainingId: string;

  it('says what there is, and changes nothing', async () => {
    const found = outcomesCheckSchema.parse(JSON.parse((await ok('learn', '--check', '--json')).stdout));
    expect(found).toEqual({ conductor: 'conductor-mini', learned: { verified: 12, other: 36 }, heldOut: { verified: 6, other: 6 }, own: 0, leftOut: [], canTell: true });
    expect(await trainings()).toEqual([]);
  });

  it('learns each plan as often as it should although it is killed in the middle, says what the newest tell, and asks no worker', async () => {
    const { output, result } = start(['learn']);
    await vi.waitFor(async () => {
      const [id = ''] = await trainings();
      // Past the first checkpoint.
      expect(await readdir(path.join(places.home, 'trainings', id, 'versions'))).toContain('step-000005');
    }, { timeout: 240_000 });
    expect(output.stderr).not.toContain('newest outcomes');
    const { pid } = JSON.parse(await readFile(path.join(places.home, 'backend.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    const { code, stdout, stderr: said } = await result;
    [trainingId = ''] = await trainings();
    expect([code, stdout]).toEqual([1, '']);
    expect(said).toContain('48 plans to learn from: 12 verified, 36 not.\n12 plans of the newest fifth of the questions, never learned from, to judge by: 6 verified, 6 not.\n');
    expect(said).toContain('"conductor-mini" learns from them; nobody is paid. It imitates plans that were verified.');
    expect(said).toContain(`conductor train follow ${trainingId}`);

    // The backend starts again with the command, and goes on by itself.
    const { stderr } = await ok('train', 'follow', trainingId);
    expect(stderr).toMatch(/^ {2}6 verified plans \+\d+\.\d\d, 6 not verified -\d+\.\d\d; valid plans \d+ % before, \d+ % after$/m);
    expect(stderr).toContain('The share of its plans that your tests would verify is not known');
    expect(stderr).toContain('Better on the newest outcomes');

    expect(stderr).toContain(`conductor train adopt ${trainingId}`);
    // Each of the 12 verified plans 20 times, eight at a time.
    const training = await shown(trainingId);
    expect(training).toMatchObject({ state: 'completed', step: 30, learnsFrom: 'outcomes', logged: { says: 'better', verified: 6, other: 6 }, spentUsd: 0, spentTokens: 0, adopted: false });
    expect(training.metrics).toHaveLength(30);
    expect(await readdir(path.join(places.home, 'trainings', trainingId, 'versions', 'step-000030'))).toContain('adapter_model.safetensors');
    expect(workers.requests).toEqual([]);
  });

  it('is adopted, learns nothing twice, and is taken back', async () => {
    expect((await ok('train', 'list')).stdout).toContain('all projects');
    expect((await ok('train', 'show', trainingId)).stderr).toContain('from what happened in all projects');
    expect((await ok('train', 'adopt', trainingId)).stderr).toContain('"conductor-mini" now plans with the trained weights.');
    expect(await planner()).toBe('conductor-mini');
    const again = await run(['learn']);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('Left out: 48 learned from already.') });
    expect(again.stderr).toContain('There is too little to learn from');
    expect(await trainings()).toEqual([trainingId]);
    await ok('train', 'back', trainingId);
    expect(await planner()).toBeUndefined();
    await ok('train', 'remove', trainingId);
    expect(await trainings()).toEqual([]);
  });

  it('has nothing of runs that were removed', async () => {
    for (const runId of runs.slice(0, 5)) await ok('runs', 'remove', runId);
    const { learned, heldOut } = outcomesCheckSchema.parse(JSON.parse((await ok('learn', '--check', '--json')).stdout));
    expect([learned, heldOut]).toEqual([{ verified: 11, other: 33 }, { verified: 5, other: 6 }]);
  });

  it('learns from one project alone, and offers nothing where the newest are too few', async () => {
    await ok('backend', 'stop');
    fill(10, { from: QUESTIONS, isRight: () => true }, { workspace: places.folder });
    const { stdout, stderr } = await ok('learn', '--workspace', '.', '--json');
    expect(stderr).toContain('8 plans to learn from: 8 verified, 0 not.');
    const training = trainingSchema.parse(JSON.parse(stdout));
    expect(training).toMatchObject({ state: 'completed', workspace: places.folder, step: 20, logged: { verified: 2, other: 0 } });
    expect(training.message).toContain('so it is not offered');
    expect(await run(['train', 'adopt', training.trainingId])).toMatchObject({ code: 1, stderr: expect.stringContaining('Only what the newest outcomes show to be better can be adopted.') });
    expect(workers.requests).toEqual([]);
  });

  it('refuses words', async () => {
    expect(await run(['learn', 'this'])).toMatchObject({ code: 2, stderr: expect.stringContaining('takes no words') });
  });
});
