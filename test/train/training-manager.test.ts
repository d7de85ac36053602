import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { openCheckpoint } from '../../backend/lm/checkpoint/open-checkpoint.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { applyTrainingEvent, isTrainingOver } from '../../backend/protocol/training-facts.ts';
import { trainingConfigSchema, type Training } from '../../backend/protocol/training.ts';
import type { FoundTests } from '../../backend/protocol/test-command.ts';
import { workerConfigSchema, workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import type * as Betting from '../../backend/train/statistics/betting.ts';
import { checkAdapterBase } from '../../backend/train/trainings/adapter-base.ts';
import { CheckpointStore } from '../../backend/train/grpo/checkpoint-store.ts';
import { TrainingFolder } from '../../backend/train/trainings/training-folder.ts';
import { TrainingRefusedError } from '../../backend/train/trainings/training-error.ts';
import { TrainingManager } from '../../backend/train/trainings/training-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { delay } from '../../backend/workers/limits/delay.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { modelFolder } from '../golden/golden.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { MINI, MINI_PLAN_TOKENS, unequalAnswer, unequalWorkers } from '../support/unequal-workers.ts';

/*
 * Whole trainings: what is learned is tested elsewhere, and here that a training begins, stops, goes on, ends and is adopted as people
 * expect. The texts of a tiny random model are no plans, so nothing is learned from them; what is to be adopted is learned by conductor-mini.
 */

const CONFIG = trainingConfigSchema.parse({
  tasks: { project: false, heldOut: 0.4 }, steps: 3, tasksPerStep: 2, groupSize: 3, maxTokens: 5, learningRate: { peak: 0.01 },
  adapter: { rank: 2, alpha: 4 }, evaluation: { samples: 2 },
});

/** What is said of held-out tasks, where it is not what they tell: a training of two steps makes nothing better. */
const heldOut = vi.hoisted((): { side: 'above' | 'below' | 'as they tell' } => ({ side: 'as they tell' }));
vi.mock('../../backend/train/statistics/betting.ts', async (original) => {
  const real = await original<typeof Betting>();
  return { ...real, isShown: (...args: Parameters<typeof real.isShown>) => (heldOut.side === 'as they tell' ? real.isShown(...args) : args[0].length > 0 && args[2] === heldOut.side) };
});

/** Of which something is learned, with `unequal`. */
const LEARNS = { ...CONFIG, steps: 2, tasksPerStep: 1, groupSize: 4, maxTokens: MINI_PLAN_TOKENS, evaluation: { ...CONFIG.evaluation, samples: 1 } };

/** The same, with all weights. At the adapter's rate they forget how to write plans. */
const WHOLE = { ...LEARNS, train: 'weights' as const, learningRate: { ...CONFIG.learningRate, peak: 1e-4 } };

let folder: string;
let opens: string;
let workspace: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
let workers: WorkersFile;
let sandboxed: boolean;
let found: readonly FoundTests[];
/** What the clients have, by name; undefined where there is no client. */
let keys: Readonly<Record<string, string>> | undefined;
/** Of the weights of the model that is part of Conductor. */
let base: string;
/** Why the machine cannot train all weights of a model. */
let noRoom: string | undefined;
/** What the training was said to have on the disk when that was last asked. */
let held: number | undefined;
const BUNDLED = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: 'conductor-mini', promptProfile: 'mini', enabled: false });
const opened: { manager: TrainingManager; journal: Journal }[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  workspace = path.join(folder, 'project');
  await mkdir(workspace);
  const lines = Array.from({ length: 8 }, (_, index) => JSON.stringify({ id: `t${index}`, question: `What is ${index}?`, grader: { kind: 'exact', answer: String(index) } }));
  await writeFile(path.join(workspace, 'conductor.tasks.jsonl'), lines.join('\n'));
  script = () => 'The answer is 3.';
  server = await ScriptedServer.start((request) => script(request));
  opens = modelFolder('qwen2-tiny');
  sandboxed = true;
  found = [];
  keys = {};
  base = 'first';
  noRoom = undefined;
  heldOut.side = 'as they tell';
  workers = workersFileSchema.parse({
    version: 1,
    conductor: 'tiny',
    workers: [
      { id: 'tiny', provider: 'local', model: 'tiny', enabled: false },
      { id: 'one', model: 'one', provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 }, simulated: true },
    ],
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const { manager, journal } of opened.splice(0)) {
    await manager.close();
    journal.close();
  }
  await server.close();
});

/** conductor-mini plans, and one of two workers is right. */
function unequal(side: typeof heldOut.side = 'above'): void {
  heldOut.side = side;
  opens = MINI;
  script = unequalAnswer;
  workers = workersFileSchema.parse({
    version: 1, conductor: 'tiny',
    workers: [{ id: 'tiny', provider: 'local', model: 'tiny', promptProfile: 'mini', enabled: false }, ...unequalWorkers(server.baseUrl)],
  });
}

/** A backend's life with trainings. */
async function begin(): Promise<TrainingManager> {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'));
  const prices = await loadPrices();
  const manager = new TrainingManager({
    trainings: path.join(folder, 'trainings'),
    adapters: path.join(folder, 'adapters'),
    parts: {
      journal, prices, delay,
      caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
      verifier: { verify: () => Promise.reject(new Error('no project')), onBase: () => Promise.reject(new Error('no project')), notices: () => Promise.reject(new Error('no project')), testBase: () => Promise.reject(new Error('no project')), tryTests: () => Promise.reject(new Error('no project')) },
      sandboxAvailability: async () => ({ available: sandboxed, reason: 'bubblewrap is missing.' }),
      findTestCommands: async () => found,
      runnerOf: async ({ runner, command }) => runner ?? (command.includes('vitest') ? 'vitest' : 'exit-code'),
      gatherContext: () => Promise.reject(new Error('no project')),
      modelFolder: () => Promise.reject(new Error('no folder is needed')),
      graderTools: { programs: { run: () => Promise.reject(new Error('no program')) }, comparer: { same: () => Promise.reject(new Error('no mathematics')) } },
      openModel: async ({ weights }, trains) => {
        const open = (trainable: 'adapter' | 'weights' | undefined): Promise<LocalModel> => LocalModel.open({
          settings: { folder: weights ?? opens, device: 'cpu', precision: 'full', adapters: trainable === 'adapter', trainable, storage: folder },
          device: 'cpu', deviceReasons: [], threads: 1,
        });
        const [model, before] = [await open(trains), trains === 'weights' ? await open(undefined) : undefined];
        return { model, before, close: async () => void (await Promise.all([model.close(), before?.close()])) };
      },
      weightsTraining: async (_conductor, heldBytes) => ((held = heldBytes), { needs: 'a little memory', problem: noRoom }),
      baseOf: async ({ model, weights }) => (model === BUNDLED.model && weights === undefined ? base : undefined),
      now: Date.now,
    },
    bundledConductor: BUNDLED,
    clients: {
      secret: async (name) => keys && (keys[name] ?? null), confirm: async () => undefined, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}),
    },
    loadWorkers: async () => workers,
    changeWorkers: async (change) => {
      workers = change(workers);
    },
    priced: (worker) => worker,
    log: () => {},
  });
  opened.push({ manager, journal });
  await manager.open();
  return manager;
}

async function end(): Promise<void> {
  const { manager, journal } = opened.pop()!;
  await manager.close();
  journal.close();
}

const until = (manager: TrainingManager, id: string, isThere: (training: Training) => boolean): Promise<Training> => {
  const there = Promise.withResolvers<Training>();
  const look = (training: Training): void => {
    if (training.trainingId === id && isThere(training)) there.resolve(training);
  };
  const stop = manager.listen(look);
  look(manager.get(id));
  return there.promise.finally(stop);
};
const over = (manager: TrainingManager, id: string): Promise<Training> =>
  until(manager, id, ({ state }) => (isTrainingOver(state) || state === 'paused')).then(async (training) => {
    while (manager.active > 0) await new Promise(setImmediate);
    return manager.get(training.trainingId);
  });

/** The states of trainings cannot be written while the disk is full. */
function fullDisk(): { isFull: boolean } {
  const disk = { isFull: false };
  const { saveTraining } = TrainingFolder.prototype;
  vi.spyOn(TrainingFolder.prototype, 'saveTraining').mockImplementation(function (this: TrainingFolder, training) {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    return disk.isFull ? Promise.reject(full) : saveTraining.call(this, training);
  });
  return disk;
}

const weights = (id: string, step: number = CONFIG.steps): Promise<Buffer> =>
  readFile(path.join(folder, 'trainings', id, 'versions', `step-00000${step}`, 'adapter_model.safetensors'));

describe('a training', { timeout: 120_000 }, () => {
  it('runs to its comparison, is adopted, and taken back', async () => {
    unequal();
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: LEARNS });
    const training = await over(manager, trainingId);
    expect(training).toMatchObject({
      state: 'completed', step: 2, adopted: false, simulated: true, conductor: 'tiny',
      comparison: { pairs: 6, before: { formatRate: 1 }, says: 'better' }, message: expect.stringMatching(/^Better on held-out tasks, after 6 pairs of tries for \$0\.\d+\. Adopt it if you like\.$/),
    });
    expect(training.tasks.train + training.tasks.heldOut).toBe(8);
    expect(training.metrics).toHaveLength(2);
    expect(training.metrics[0]).toMatchObject({ format_rate: 1, reward: expect.any(Number) });
    expect(training.metrics.every((step) => step['learning_rate']! > 0)).toBe(true);
    const curves = await readFile(path.join(folder, 'trainings', trainingId, 'metrics.jsonl'), 'utf8');
    expect(curves.trim().split('\n').map((line) => JSON.parse(line).step)).toEqual([1, 2]);

    expect((await manager.adopt(trainingId)).adopted).toBe(true);
    const { adapter } = workers.workers[0]!;
    expect(await readFile(path.join(adapter!, 'adapter_model.safetensors'))).toEqual(await weights(trainingId, LEARNS.steps));
    expect((await manager.goBack(trainingId)).adopted).toBe(false);
    expect(workers.workers[0]!.adapter).toBeUndefined();
  });

  it('of all weights plans as a model of its own once it is adopted, is learned on from, and is taken back', async () => {
    unequal();
    const manager = await begin();
    const { terms } = await manager.check({ workspace, config: WHOLE });
    expect(terms).toEqual(['All weights of "tiny" are trained, on the processor. That takes a little memory; the trained model stays on the disk until the training is removed.']);
    const { trainingId } = await manager.start({ workspace, config: WHOLE });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 2, comparison: { says: 'better', before: { formatRate: 1 } } });
    // The last weights alone are kept, and nothing to go on from.
    const kept = path.join(folder, 'trainings', trainingId);
    expect(await readdir(path.join(kept, 'versions'))).toEqual(['step-000002']);
    expect(await readdir(kept)).not.toContain('checkpoints');

    await manager.adopt(trainingId);
    const { adapter, weights: adopted } = workers.workers[0]!;
    expect(adapter).toBeUndefined();
    const trained = await openCheckpoint(adopted!);
    expect(trained.config).toEqual((await openCheckpoint(MINI)).config);
    expect(await readFile(path.join(adopted!, 'model.safetensors'))).toEqual(await readFile(path.join(kept, 'versions', 'step-000002', 'model.safetensors')));

    // An adapter of these weights, and going back from it, leave them.
    const { trainingId: second } = await manager.start({ workspace, config: LEARNS });
    expect(await over(manager, second)).toMatchObject({ state: 'completed', weightsBefore: adopted });
    await manager.adopt(second);
    expect(workers.workers[0]).toMatchObject({ weights: adopted, adapter: path.join(folder, 'adapters', second) });
    await expect(manager.start({ workspace, config: WHOLE })).rejects.toThrow('All weights cannot be trained: the Conductor plans with an adapter, and weights are trained without one');
    // What is planned with below an adapter is not removed with its training.
    await manager.remove(trainingId);
    expect(await readdir(adopted!)).toContain('model.safetensors');
    await manager.goBack(second);
    expect(workers.workers[0]).toMatchObject({ weights: adopted });
    expect(workers.workers[0]!.adapter).toBeUndefined();
  });

  it('of all weights that is taken back leaves the model as it was', async () => {
    unequal();
    const manager = await begin();
    const before = workers;
    const { trainingId } = await manager.start({ workspace, config: { ...WHOLE, train: 'auto' } });
    expect((await over(manager, trainingId)).config.train).toBe('weights');
    await manager.adopt(trainingId);
    expect((await manager.goBack(trainingId)).adopted).toBe(false);
    expect(workers).toEqual(before);
    await manager.remove(trainingId);
    expect(await readdir(path.join(folder, 'adapters'))).toEqual([]);
  });

  it('of all weights that is interrupted, and goes on in another backend, ends with the same weights, bit for bit', async () => {
    unequal();
    const config = { ...WHOLE, steps: 3 };
    const trained = async (interrupts: boolean): Promise<Buffer> => {
      let manager = await begin();
      const { trainingId } = await manager.start({ workspace, config });
      if (interrupts) {
        await until(manager, trainingId, ({ step }) => step >= 1);
        await end();
        manager = await begin();
      }
      expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 3 });
      return await readFile(path.join(folder, 'trainings', trainingId, 'versions', 'step-000003', 'model.safetensors'));
    };
    expect((await trained(true)).equals(await trained(false))).toBe(true);
  });

  it('of all weights is refused where there is no room, or an adapter is trained instead and why is said', async () => {
    noRoom = 'that takes about 9.0 GB of memory, and 2.0 GB of memory are free';
    const manager = await begin();
    await expect(manager.check({ workspace, config: WHOLE })).rejects.toThrow(TrainingRefusedError);
    await expect(manager.start({ workspace, config: WHOLE })).rejects.toThrow(`All weights cannot be trained: ${noRoom}. Set "train" to "adapter", or change that.`);
    const paper = trainingConfigSchema.parse({ preset: 'paper' });
    expect((await manager.check({ workspace, config: paper })).terms).toEqual([
      `An adapter is trained instead of all weights: ${noRoom}.`,
      'At a rate of 0.000001 an adapter learns next to nothing: set "learningRate.peak" to ten times as much.',
    ]);
    const { trainingId, config: { train } } = await manager.start({ workspace, config: { ...CONFIG, train: 'auto' } });
    expect(train).toBe('adapter');
    expect((await over(manager, trainingId)).state).toBe('completed');
  });

  it('of all weights does not go on where there is no room any more, and does once there is', async () => {
    unequal();
    let manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: WHOLE });
    await until(manager, trainingId, ({ step }) => step >= 1);
    await end();
    noRoom = 'that takes much, and little is free';
    manager = await begin();
    // Weights and both moments of a checkpoint are not needed once more.
    const { size } = await stat(path.join(opens, 'model.safetensors'));
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message: `All weights cannot be trained now: ${noRoom}. Make room, then resume the training.` });
    expect(held).toBeGreaterThan(size);
    noRoom = undefined;
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 2 });
  });

  it('of the model that is part of Conductor has it stand in workers.json while it has what it learned', async () => {
    unequal();
    const { conductor: _nobody, ...rest } = workers;
    workers = { ...rest, workers: workers.workers.filter(({ id }) => id !== 'tiny') };
    const before = workers;
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: LEARNS });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', conductor: 'conductor-mini', model: 'conductor-mini', base: 'first' });
    await manager.adopt(trainingId);
    const adapter = path.join(folder, 'adapters', trainingId);
    expect(workers).toEqual({ ...before, conductor: 'conductor-mini', workers: [...before.workers, { ...BUNDLED, adapter }] });
    await checkAdapterBase(adapter, 'first');
    await expect(checkAdapterBase(adapter, 'second')).rejects.toThrow(/earlier version of the model that is part of Conductor.*train back/);

    // It goes on from what it has learned.
    const next = await manager.start({ workspace, config: { ...LEARNS, steps: 1 } });
    expect(await over(manager, next.trainingId)).toMatchObject({ state: 'completed', adapterBefore: adapter });
    await manager.goBack(trainingId);
    expect(workers).toEqual(before);
  });

  it('of an earlier version of the model that is part of Conductor is not adopted and does not go on', async () => {
    unequal();
    const { conductor: _nobody, ...rest } = workers;
    workers = { ...rest, workers: workers.workers.filter(({ id }) => id !== 'tiny') };
    const manager = await begin();
    const done = await manager.start({ workspace, config: LEARNS });
    await over(manager, done.trainingId);
    const { trainingId } = await manager.start({ workspace, config: LEARNS });
    await until(manager, trainingId, ({ step }) => step === 1);
    await manager.pause(trainingId);
    base = 'second';
    await expect(manager.adopt(done.trainingId)).rejects.toThrow('earlier version');
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message: expect.stringContaining('earlier version') });
  });

  it('is of the model that is part of Conductor while another plans, and lets it plan once it is adopted', async () => {
    unequal();
    workers = { ...workers, conductor: 'right', workers: workers.workers.filter(({ id }) => id !== 'tiny') };
    const before = workers;
    const manager = await begin();
    expect(await manager.check({ workspace, config: LEARNS })).toMatchObject({ conductor: 'conductor-mini' });
    const { trainingId } = await manager.start({ workspace, config: LEARNS });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', conductor: 'conductor-mini' });
    expect(workers).toEqual(before);
    expect(await manager.adopt(trainingId)).toMatchObject({ plannerBefore: 'right' });
    expect(workers.conductor).toBe('conductor-mini');
    await manager.goBack(trainingId);
    expect(workers).toEqual(before);
  });

  it('that was adopted by an earlier version leaves the model that is part of Conductor as the planner', async () => {
    unequal();
    const { conductor: _nobody, ...rest } = workers;
    workers = { ...rest, workers: workers.workers.filter(({ id }) => id !== 'tiny') };
    const others = workers.workers;
    const first = await begin();
    const { trainingId } = await first.start({ workspace, config: LEARNS });
    await over(first, trainingId);
    await first.adopt(trainingId);
    await end();
    const file = path.join(folder, 'trainings', trainingId, 'training.json');
    const { plannerBefore: _unknown, ...written } = JSON.parse(await readFile(file, 'utf8')) as Training;
    await writeFile(file, JSON.stringify(written));
    await (await begin()).goBack(trainingId);
    expect(workers).toMatchObject({ conductor: 'conductor-mini', workers: others });
  });

  it('says what it lacks before it is begun: a worker, a sandbox, what judges', async () => {
    const manager = await begin();
    const lacks = async (config = CONFIG): Promise<unknown> => (await manager.check({ workspace, config })).missing?.what;
    expect(await manager.check({ workspace, config: CONFIG })).toEqual({ conductor: 'tiny', workers: [{ id: 'one', priced: true, simulated: true }] });
    await rm(path.join(workspace, 'conductor.tasks.jsonl'));
    expect(await lacks()).toBe('tests');
    const tests = { ...CONFIG.tasks, project: true };
    const judgedBy = async (test?: { command?: string; runner?: string }): Promise<unknown> => (await manager.check({ workspace, config: { ...CONFIG, tasks: { ...tests, ...(test && { test }) } } })).missing;
    expect(await judgedBy()).toMatchObject({ what: 'tests', message: expect.stringMatching(/^No tests were found/) });
    expect(await judgedBy({ command: 'npx vitest run' })).toBeUndefined();
    expect(await judgedBy({ command: './check' })).toMatchObject({ what: 'tests', message: expect.stringMatching(/^"\.\/check" tells by its exit code alone/) });
    found = [{ command: 'npm test', runner: 'mocha', folder: '' }];
    expect(await judgedBy()).toBeUndefined();
    expect(await judgedBy({ runner: 'jest' })).toMatchObject({ what: 'tests', message: expect.stringMatching(/^No tests that jest runs/) });
    found = [];
    sandboxed = false;
    expect(await lacks()).toBe('sandbox');
    workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, enabled: false })) };
    expect(await lacks()).toBe('worker');
    expect(manager.list()).toEqual([]);
  });

  it('of which nothing is learned says so and why, while it goes on and at its end, and offers nothing', async () => {
    const manager = await begin();
    const told = new Set<string>();
    manager.listen(({ message }) => told.add(message));
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    const training = await over(manager, trainingId);
    const reason = 'taught nothing: plans were cut off. The Conductor wrote more than maxTokens allows. Raise maxTokens, or train another Conductor.';
    expect(told).toContain(`Training. The only step ${reason}`);
    expect(told).toContain(`Training. 2 of 2 steps ${reason}`);
    const message = `Nothing was learned, so there is nothing to adopt. 3 of 3 steps ${reason}`;
    expect(training).toMatchObject({ state: 'completed', step: 3, learned: false, message });
    expect(training.comparison).toBeUndefined();
    expect(server.requests).toEqual([]);
    await expect(manager.adopt(trainingId)).rejects.toThrow(message);
    expect(manager.list()).toMatchObject([{ trainingId, learned: false }]);
    await end();
    expect((await begin()).get(trainingId)).toMatchObject({ state: 'completed', learned: false, message });
  });

  it('whose workers are all right, or all wrong, is told as flat', async () => {
    unequal();
    const manager = await begin();
    const ended = async (): Promise<string> => (await over(manager, (await manager.start({ workspace, config: { ...LEARNS, steps: 1 } })).trainingId)).message;
    script = ({ text }) => unequalAnswer({ model: 'right', text });
    expect(await ended()).toMatch(/^Nothing was learned.* The only step taught nothing: .* Every plan was verified\. Add harder tasks/);
    script = ({ text }) => unequalAnswer({ model: 'wrong', text });
    expect(await ended()).toMatch(/^Nothing was learned.* No plan did better than another\. Add easier tasks or a stronger worker/);
    workers = { ...workers, workers: workers.workers.filter(({ id }) => id !== 'right') };
    expect(await ended()).toMatch(/there is only one worker, so plans differ little\. Add a worker\.$/);
  });

  it('leaves out what is too long for the Conductor to read, and says so', async () => {
    const tasks = path.join(workspace, 'conductor.tasks.jsonl');
    const long = JSON.stringify({ id: 'long', question: 'What is it? '.repeat(20_000), grader: { kind: 'exact', answer: '1' } });
    await writeFile(tasks, `${await readFile(tasks, 'utf8')}\n${long}`);
    const manager = await begin();
    const told: (string | undefined)[] = [];
    manager.listen(({ message }) => told.push(message));
    const { trainingId } = await manager.start({ workspace, config: { ...CONFIG, steps: 1 } });
    const { state, tasks: { train, heldOut } } = await over(manager, trainingId);
    expect([state, train + heldOut]).toEqual(['completed', 8]);
    expect(told).toContain('Training. 1 task too long for the Conductor to read: left out.');

    await writeFile(tasks, long);
    const all = await manager.start({ workspace, config: { ...CONFIG, tasks: { ...CONFIG.tasks, heldOut: 0 } } });
    expect(await over(manager, all.trainingId)).toMatchObject({ state: 'failed', message: expect.stringMatching(/^Every task is too long/) });
  });

  it('trains on all of a file where another is held out, and refuses a task that both have', async () => {
    const heldOutFile = 'held-out.jsonl';
    const task = (question: string): string => JSON.stringify({ id: 'h', question, grader: { kind: 'exact', answer: '3' } });
    await writeFile(path.join(workspace, heldOutFile), task('What is another?'));
    const manager = await begin();
    const config = { ...CONFIG, steps: 1, tasks: { ...CONFIG.tasks, heldOutFile } };
    const { trainingId } = await manager.start({ workspace, config });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', tasks: { train: 8, heldOut: 1 } });

    await writeFile(path.join(workspace, heldOutFile), task('What is 3?'));
    const shared = await manager.start({ workspace, config });
    expect(await over(manager, shared.trainingId)).toMatchObject({ state: 'failed', message: expect.stringContaining('is trained on, too') as string });
  });

  it('trains on tasks that are drawn from several files', async () => {
    const answers = (name: string, count: number): Promise<void> => writeFile(
      path.join(workspace, name),
      Array.from({ length: count }, (_, index) => JSON.stringify({ id: `${index}`, question: `In ${name}, what is ${index}?`, grader: { kind: 'exact', answer: '3' } })).join('\n'),
    );
    await answers('one.jsonl', 6);
    await answers('two.jsonl', 9);
    const manager = await begin();
    const mix = { files: ['one.jsonl', 'two.jsonl'], each: 3, heldOut: 2 };
    const { trainingId } = await manager.start({ workspace, config: { ...CONFIG, steps: 1, tasks: { ...CONFIG.tasks, mix } } });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', tasks: { train: 6, heldOut: 4 } });
    const { tasks } = await manager.tasks(trainingId, { offset: 0, limit: 1 });
    expect(tasks[0]).toMatchObject({ state: 'train', reason: 'It was drawn from one.jsonl, two.jsonl.' });

    const config = { ...CONFIG, tasks: { ...CONFIG.tasks, file: 'one.jsonl', mix } };
    const both = await manager.start({ workspace, config });
    expect(await over(manager, both.trainingId)).toMatchObject({ state: 'failed', message: expect.stringContaining('leave out tasks.file') as string });
    expect(await manager.check({ workspace, config: { ...CONFIG, tasks: { ...CONFIG.tasks, mix: { ...mix, files: ['none.jsonl'] } } } })).toMatchObject({ missing: { what: 'tests' } });
  });

  it('asks workers by settings of its own, and in the comparison by others', async () => {
    unequal();
    const manager = await begin();
    const config = {
      ...LEARNS, steps: 1,
      workers: { '*': { maxOutputTokens: 77, temperature: 0.2 }, 'wrong': { maxOutputTokens: 66, extraBody: { top_k: 20 } } },
      evaluation: { ...LEARNS.evaluation, workers: { right: { maxOutputTokens: 99 } } },
    };
    const { trainingId } = await manager.start({ workspace, config });
    await until(manager, trainingId, ({ state }) => state === 'evaluating');
    const sent = (): unknown[] => server.requests.map(({ model, body }) => [model, body['max_tokens'], body['temperature'], body['top_k']]);
    const trained = sent().length;
    expect(sent()).toContainEqual(['right', 77, 0.2, undefined]);
    expect(sent()).toContainEqual(['wrong', 66, undefined, 20]);
    await over(manager, trainingId);
    const compared = new Set(sent().slice(trained).map((request) => JSON.stringify(request)));
    expect([...compared].sort()).toEqual(['["right",99,null,null]', '["wrong",8192,null,null]']);

    await expect(manager.start({ workspace, config: { ...config, workers: { nobody: {} } } })).rejects.toThrow('name the worker "nobody", which takes no part in it; those are right, wrong.');
  });

  it.each([true, false])('has a step that plans of a group share paid for once, if it is to share steps: %s', async (sharedSteps) => {
    unequal();
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: { ...LEARNS, sharedSteps, steps: 1, groupSize: 12 } });
    await until(manager, trainingId, ({ state }) => state === 'evaluating');
    const asked = server.requests.map(({ model, body }) => JSON.stringify([model, body['messages']]));
    expect(new Set(asked).size === asked.length).toBe(sharedSteps);
    await over(manager, trainingId);
  });

  it('tells each change once, small, and the changes together are the training', async () => {
    const manager = await begin();
    let followed: Training | undefined;
    const sizes: number[] = [];
    manager.listen((training, event) => {
      followed = event && followed ? applyTrainingEvent(followed, event) : training;
      if (event) sizes.push(JSON.stringify(event).length);
    });
    const { trainingId } = await manager.start({ workspace, config: { ...CONFIG, steps: 12 } });
    const training = await over(manager, trainingId);
    expect(followed).toEqual(training);
    expect(training.seq).toBe(sizes.length);
    // Twelve steps of figures are more than that.
    expect(Math.max(...sizes)).toBeLessThan(1_500);
    expect(JSON.stringify(training.metrics).length).toBeGreaterThan(3_000);
  });

  it('shows the plans of its last step with what came of them, and the whole of each', async () => {
    const manager = await begin();
    const outcomes = new Set<string>();
    manager.listen((_training, event) => event?.change.rollouts?.list.forEach(({ outcome }) => outcomes.add(outcome)));
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    const { rollouts } = await over(manager, trainingId);
    expect(rollouts?.step).toBe(3);
    expect(rollouts?.list.map(({ place, sample }) => `${place}.${sample}`).sort()).toEqual(['0.0', '0.1', '0.2', '1.0', '1.1', '1.2']);
    expect(rollouts?.list[0]).toMatchObject({ outcome: 'unparseable', reward: 0, steps: [], question: expect.stringMatching(/^What is \d\?$/) });
    expect(outcomes).toEqual(new Set(['running', 'unparseable']));
    const { runId, question } = rollouts!.list[0]!;
    expect(manager.rollout(trainingId, runId)).toMatchObject({ runId, question, steps: [], message: expect.any(String) });
    expect(() => manager.rollout(trainingId, 'another.0.0.0')).toThrow(TrainingRefusedError);
  });

  it('names its tasks with where they come from, so many at a time', async () => {
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    const { tasks: { train } } = await over(manager, trainingId);
    const all = await manager.tasks(trainingId, { offset: 0, limit: 100 });
    expect(all).toMatchObject({ total: 8, train, heldOut: 8 - train, leftOut: 0, untried: 0 });
    expect(all.tasks.map(({ state }) => state)).toEqual([...Array(train).fill('train'), ...Array(8 - train).fill('held-out')]);
    expect(all.tasks[0]).toMatchObject({ source: 'file', reason: 'It is in conductor.tasks.jsonl, whose tasks are used as they are.' });
    expect((await manager.tasks(trainingId, { offset: 6, limit: 2 })).tasks).toEqual(all.tasks.slice(6));
  });

  it('that is paused, or whose backend ends, goes on to the same end as one that was left alone', async () => {
    const manager = await begin();
    const whole = await manager.start({ workspace, config: CONFIG });
    await over(manager, whole.trainingId);
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    await until(manager, trainingId, ({ step }) => step === 1);
    await manager.pause(trainingId);
    expect(manager.get(trainingId)).toMatchObject({ state: 'paused', message: 'Paused.' });
    await end();

    const second = await begin();
    expect(second.get(trainingId).state).toBe('paused');
    // Its tasks are kept: people work on meanwhile.
    await rm(path.join(workspace, 'conductor.tasks.jsonl'));
    await second.resume(trainingId);
    await until(second, trainingId, ({ step }) => step === 2);
    await end();

    const third = await begin();
    expect(await over(third, trainingId)).toMatchObject({ state: 'completed', step: 3 });
    expect(third.get(trainingId).metrics).toEqual(third.get(whole.trainingId).metrics);
    expect(await weights(trainingId)).toEqual(await weights(whole.trainingId));
  });

  it('whose learning rate nobody chose goes on in another backend', async () => {
    const config = trainingConfigSchema.parse({ ...CONFIG, steps: 2, learningRate: {} });
    const { trainingId } = await (await begin()).start({ workspace, config });
    await until(opened.at(-1)!.manager, trainingId, ({ step }) => step === 1);
    await end();
    expect(await over(await begin(), trainingId)).toMatchObject({ state: 'completed', step: 2 });
  });

  it('goes on with those who began it: not with a worker that is added, and without a client that has their keys', async () => {
    keys = { ONE_KEY: 'secret' };
    workers = { ...workers, workers: workers.workers.map((worker) => (worker.id === 'one' ? { ...worker, key: 'ONE_KEY' } : worker)) };
    const left = await begin();
    const { trainingId } = await left.start({ workspace, config: CONFIG });
    await until(left, trainingId, ({ step }) => step >= 1);
    await end();
    keys = undefined;
    workers = { ...workers, workers: [...workers.workers, { ...workers.workers[1]!, id: 'another', model: 'another' }] };
    const again = await begin();
    expect(await over(again, trainingId)).toMatchObject({ state: 'completed', step: 3, pool: [{ id: 'one', model: 'one' }] });
  });

  it('does not go on without a worker that began it, says which, and goes on once that is back', async () => {
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    await until(manager, trainingId, ({ step }) => step >= 1);
    await manager.pause(trainingId);
    const before = workers;
    for (const [changed, why] of [
      [{ enabled: false }, 'the worker "one", which is disabled'],
      [{ model: 'two' }, 'the worker "one" (one), which has another model now'],
      [{ id: 'other' }, 'the worker "one", which is not in workers.json any more'],
    ] as const) {
      workers = { ...before, workers: before.workers.map((worker) => (worker.id === 'one' ? { ...worker, ...changed } : worker)) };
      await manager.resume(trainingId);
      expect(await over(manager, trainingId)).toMatchObject({
        state: 'failed', message: `This training was started with ${why}. Set that right and resume it, or start another one.`,
      });
    }
    workers = { ...before, workers: before.workers.filter(({ id }) => id !== 'tiny'), conductor: undefined };
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message: expect.stringContaining('"tiny" as the Conductor, which is not in workers.json any more') });
    workers = before;
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 3 });
  });

  it('under way is held by a budget that it is given meanwhile', async () => {
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    await until(manager, trainingId, ({ state }) => state === 'training');
    await manager.resume(trainingId, { usd: 50 });
    expect(manager.get(trainingId)).toMatchObject({ state: 'training', config: { budget: { usd: 50, tokens: 20_000_000 } } });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', config: { budget: { usd: 50 } } });
  });

  it('without a held-out task is not begun, unless none is wanted', async () => {
    await writeFile(path.join(workspace, 'conductor.tasks.jsonl'), JSON.stringify({ id: 't1', question: 'What is 1?', grader: { kind: 'exact', answer: '1' } }));
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: { ...CONFIG, tasks: { ...CONFIG.tasks, heldOut: 0.01 } } });
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', step: 0, message: expect.stringMatching(/^No task is held out/) });
    const wanted = await manager.start({ workspace, config: { ...CONFIG, tasks: { ...CONFIG.tasks, heldOut: 0 } } });
    expect(await over(manager, wanted.trainingId)).toMatchObject({ state: 'completed', step: 3 });
  });

  it.each(['under way', 'paused'])('that is ended early while it is %s is compared with what it has learned by then, and can be adopted', async (state) => {
    unequal();
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: { ...LEARNS, steps: 40 } });
    await expect(manager.finish(trainingId)).rejects.toThrow('No step is done yet');
    await until(manager, trainingId, ({ step }) => step >= 1);
    if (state === 'paused') await manager.pause(trainingId);
    await manager.finish(trainingId);
    const training = await over(manager, trainingId);
    expect(training).toMatchObject({ state: 'completed', comparison: { says: 'better' } });
    expect(training.step).toBeLessThan(40);
    await manager.adopt(trainingId);
    const adopted = workers.workers.find(({ id }) => id === 'tiny')?.adapter ?? '';
    expect(await readFile(path.join(adopted, 'adapter_model.safetensors'))).toEqual(await weights(trainingId, training.step));
    await expect(manager.finish(trainingId)).rejects.toThrow('is over');
  });

  it.each([
    ['better', 'above', 'Better on held-out tasks, after 6 pairs of tries for $'],
    ['not-better', 'below', 'Held-out tasks on the way show no gain of 10 points or more, so the training has ended and nothing is offered.'],
  ] as const)('stops by itself where held-out tasks tell on the way that it is %s', async (says, side, message) => {
    unequal(side);
    const manager = await begin();
    const messages = new Set<string>();
    manager.listen((training) => messages.add(training.message));
    const { trainingId } = await manager.start({ workspace, config: { ...LEARNS, steps: 40, evaluation: { ...LEARNS.evaluation, onTheWay: 1 } } });
    const training = await over(manager, trainingId);
    expect(training).toMatchObject({ state: 'completed', step: 3, comparison: { says }, message: expect.stringContaining(message) });
    expect(training.looks!.map(({ step, isFinal }) => [step, isFinal])).toEqual(says === 'better' ? [[3, false], [3, true]] : [[3, false]]);
    expect([...messages]).toContainEqual(expect.stringMatching(/^Training\..* On held-out tasks after step 3: 6 pairs of tries for \$\S+, verified [+−]\d+ points \([+−]\d+ to [+−]\d+\) more often than before\.$/));
    if (says === 'better') await manager.adopt(trainingId);
    else await expect(manager.adopt(trainingId)).rejects.toThrow('Only what held-out tasks show to be better can be adopted.');
    await expect(manager.resume(trainingId)).rejects.toThrow('is over');
  });

  it('that is not known to be better is not offered, and gets as many tries again when it is resumed', async () => {
    unequal('as they tell');
    const first = await begin();
    const { trainingId } = await first.start({ workspace, config: LEARNS });
    const training = await over(first, trainingId);
    expect(training).toMatchObject({ state: 'completed', step: 2, comparison: { says: 'not-known', pairs: 6 }, message: expect.stringMatching(/^Whether it is better .* is not known after 6 pairs .* not offered\.$/) });
    await expect(first.adopt(trainingId)).rejects.toThrow('Only what held-out tasks show to be better');
    await end();

    const second = await begin();
    await second.resume(trainingId);
    const more = await over(second, trainingId);
    expect(more).toMatchObject({ state: 'completed', step: 2, comparison: { says: 'not-known', pairs: 12 } });
    expect(more.looks!.slice(0, 1)).toEqual(training.looks);
    heldOut.side = 'above';
    await second.resume(trainingId);
    expect(await over(second, trainingId)).toMatchObject({ comparison: { says: 'better' } });
    expect(await second.adopt(trainingId)).toMatchObject({ adopted: true });
  });

  it('that is killed while it compares goes on with the tries that are made', async () => {
    unequal('as they tell');
    const first = await begin();
    const { trainingId } = await first.start({ workspace, config: { ...LEARNS, evaluation: { ...LEARNS.evaluation, samples: 4 } } });
    await until(first, trainingId, ({ looks }) => looks?.length === 2);
    const { looks } = first.get(trainingId);
    await end();
    const training = await over(await begin(), trainingId);
    expect(training).toMatchObject({ state: 'completed', comparison: { pairs: 24 } });
    expect(training.looks).toHaveLength(4);
    expect(training.looks!.slice(0, 2)).toEqual(looks);
  });

  it('that is cancelled stays so, and cannot be adopted', async () => {
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: { ...CONFIG, steps: 50 } });
    await expect(manager.start({ workspace, config: CONFIG })).rejects.toThrow('room for one');
    await until(manager, trainingId, ({ step }) => step === 1);
    await manager.cancel(trainingId);
    expect(manager.get(trainingId).state).toBe('cancelled');
    await expect(manager.resume(trainingId)).rejects.toThrow(TrainingRefusedError);
    await expect(manager.adopt(trainingId)).rejects.toThrow('let the training run to its end');
    await end();
    expect((await begin()).list()).toMatchObject([{ trainingId, state: 'cancelled' }]);
  });

  it('is the only one under way, however many are begun or resumed together', async () => {
    const manager = await begin();
    const paused: string[] = [];
    while (paused.length < 3) {
      const { trainingId } = await manager.start({ workspace, config: CONFIG });
      await manager.pause(trainingId);
      paused.push(trainingId);
    }
    const begun = await Promise.allSettled([...paused.map((id) => manager.resume(id)), manager.start({ workspace, config: CONFIG })]);
    expect(begun.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect(begun[1]).toMatchObject({ reason: expect.any(TrainingRefusedError) });
    expect(manager.active).toBe(1);
    await manager.cancel(paused[0]!);
    expect(await Promise.allSettled([manager.start({ workspace, config: CONFIG }), manager.start({ workspace, config: CONFIG })]))
      .toMatchObject([{ status: 'fulfilled' }, { reason: expect.any(TrainingRefusedError) }]);
  });

  it('whose state cannot be written fails, says why, keeps no other from going on, and is resumed when it can', async () => {
    const manager = await begin();
    const disk = fullDisk();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    await until(manager, trainingId, ({ step }) => step === 1);
    disk.isFull = true;
    const message = 'The training could not be saved: the disk is full (ENOSPC: no space left on device, write). Fix this, then resume the training.';
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message });
    await expect(manager.start({ workspace, config: CONFIG })).rejects.toThrow(message);
    disk.isFull = false;
    const other = await manager.start({ workspace, config: CONFIG });
    await manager.cancel(other.trainingId);
    expect(manager.get(other.trainingId).state).toBe('cancelled');
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 3 });
  });

  it.each([
    ['its tasks', TrainingFolder, 'saveTasks', 'ENOSPC', 'the disk is full'],
    ['a checkpoint', CheckpointStore, 'save', 'EIO', 'the disk reports an error'],
    ['a version', LocalModel, 'exportTrained', 'ENOSPC', 'the disk is full'],
    ['its state', TrainingFolder, 'saveTraining', 'EIO', 'the disk reports an error'],
  ])('that cannot write %s says so, and goes on to the same end when it can', async (_what, owner, method, code, problem) => {
    const manager = await begin();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    const write = vi.spyOn(owner.prototype as unknown as Record<string, () => Promise<void>>, method)
      .mockRejectedValue(Object.assign(new Error(`${code}: write`), { code }));
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message: expect.stringContaining(`could not be saved: ${problem} (${code}: write).`) });
    write.mockRestore();
    await manager.resume(trainingId);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'completed', step: 3 });
  });

  it('is let go of when the backend ends, although nothing can be written', async () => {
    const manager = await begin();
    const disk = fullDisk();
    const { trainingId } = await manager.start({ workspace, config: CONFIG });
    disk.isFull = true;
    await expect(manager.resume(trainingId, { usd: 50 })).rejects.toThrow('could not be saved');
    await manager.close();
    expect(manager.active).toBe(0);
  });

  it('is removed with its runs, once it is over and not planned with', async () => {
    unequal();
    const manager = await begin();
    const { journal } = opened.at(-1)!;
    const { trainingId } = await manager.start({ workspace, config: LEARNS });
    await expect(manager.remove(trainingId)).rejects.toThrow('cancel it before it is removed');
    await over(manager, trainingId);
    const kept = (await over(manager, (await manager.start({ workspace, config: LEARNS })).trainingId)).trainingId;
    await manager.adopt(trainingId);
    await expect(manager.remove(trainingId)).rejects.toThrow('go back before it is removed');
    await manager.goBack(trainingId);
    const runs = [trainingId, `${trainingId}.evaluation`].map((parent) => journal.childrenOf(parent).length);
    expect(runs.every((count) => count > 0)).toBe(true);

    const removed: string[] = [];
    manager.listenForRemovals((id) => removed.push(id));
    await manager.remove(trainingId);
    expect(removed).toEqual([trainingId]);
    expect(manager.list().map((training) => training.trainingId)).toEqual([kept]);
    expect([trainingId, `${trainingId}.evaluation`].flatMap((parent) => journal.childrenOf(parent))).toEqual([]);
    expect(journal.childrenOf(kept)).not.toEqual([]);
    expect(await readdir(path.join(folder, 'trainings'))).toEqual([kept]);
    expect(await readdir(path.join(folder, 'adapters'))).toEqual([]);
    await end();
    expect((await begin()).list().map((training) => training.trainingId)).toEqual([kept]);
  });

  it('that was planned with when a later one began leaves what that goes back to', async () => {
    unequal();
    const manager = await begin();
    const first = (await over(manager, (await manager.start({ workspace, config: LEARNS })).trainingId)).trainingId;
    await manager.adopt(first);
    const second = (await over(manager, (await manager.start({ workspace, config: LEARNS })).trainingId)).trainingId;
    await manager.adopt(second);
    await manager.remove(first);
    await manager.goBack(second);
    expect(workers.workers[0]!.adapter).toBe(path.join(folder, 'adapters', first));
    expect(await readdir(workers.workers[0]!.adapter!)).toContain('adapter_model.safetensors');
  });

  it('says in one sentence why it cannot be made', async () => {
    const manager = await begin();
    const failed = async (config = CONFIG): Promise<string> => (await over(manager, (await manager.start({ workspace, config })).trainingId)).message;
    sandboxed = false;
    expect(await failed()).toBe('Training runs code that models write, and there is no sandbox for it: bubblewrap is missing.');
    sandboxed = true;
    expect(await failed({ ...CONFIG, tasks: { ...CONFIG.tasks, file: 'nowhere.jsonl' } })).toContain('nowhere.jsonl');
  });
});
