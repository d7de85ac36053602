import { cpSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conductorPrompt } from '../../backend/conductor/conductor-prompt.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { roleOfStep } from '../../backend/protocol/step-role.ts';
import { isTrainingOver } from '../../backend/protocol/training-facts.ts';
import type { Training } from '../../backend/protocol/training.ts';
import { workerConfigSchema, workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { TrainingManager } from '../../backend/train/trainings/training-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { delay } from '../../backend/workers/limits/delay.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { MINI } from '../support/unequal-workers.ts';
import { fillJournal, fillWithOwnPlans, POOL, questionAt, RIGHT } from './outcome-journal.ts';

/* conductor-mini learns from the outcomes of a real journal. Nobody is asked: the workers' addresses lead nowhere. */

const BUNDLED = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: 'conductor-mini', promptProfile: 'mini', enabled: false });

/** A fifth of them has enough of both kinds. */
const QUESTIONS = 80;
/** Of these, the right worker is right more often, and the others are right at times: some of the verified plans are another worker's. */
const OWN_QUESTIONS = 28;

let folder: string;
let workers: WorkersFile;
const opened: { manager: TrainingManager; journal: Journal }[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  workers = workersFileSchema.parse({ version: 1, workers: POOL });
});
afterEach(async () => {
  for (const { manager, journal } of opened.splice(0)) {
    await manager.close();
    journal.close();
  }
});

const openModel = async (): Promise<LocalModel> => LocalModel.open({
  settings: { folder: MINI, device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: folder }, device: 'cpu', deviceReasons: [], threads: 1,
});
const nothing = (): Promise<never> => Promise.reject(new Error('nothing is paid'));

async function begin(): Promise<{ manager: TrainingManager; journal: Journal }> {
  let clock = 1_000;
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { now: () => (clock += 1_000) });
  const prices = await loadPrices();
  const manager = new TrainingManager({
    trainings: path.join(folder, 'trainings'), adapters: path.join(folder, 'adapters'),
    parts: {
      journal, prices, delay, now: Date.now, caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
      verifier: { verify: nothing, onBase: nothing, notices: nothing, testBase: nothing, tryTests: nothing },
      sandboxAvailability: async () => ({ available: false, reason: 'none' }), findTestCommands: async () => [], runnerOf: async () => 'exit-code',
      gatherContext: nothing, modelFolder: nothing, graderTools: { programs: { run: nothing }, comparer: { same: nothing } },
      openModel: async () => {
        const model = await openModel();
        return { model, close: () => model.close() };
      },
      baseOf: async () => 'first', weightsTraining: nothing,
    },
    bundledConductor: BUNDLED,
    clients: { secret: async () => null, confirm: async () => undefined, model: nothing, changed: () => new Promise(() => {}) },
    loadWorkers: async () => workers,
    changeWorkers: async (change) => {
      workers = change(workers);
    },
    priced: (worker) => worker,
    log: () => {},
  });
  opened.push({ manager, journal });
  await manager.open();
  return { manager, journal };
}

async function end(): Promise<void> {
  const { manager, journal } = opened.pop()!;
  await manager.close();
  journal.close();
}

async function until(manager: TrainingManager, id: string, isThere: (training: Training) => boolean): Promise<void> {
  const there = Promise.withResolvers<void>();
  const look = (training: Training): void => {
    if (training.trainingId === id && isThere(training)) there.resolve();
  };
  const stop = manager.listen(look);
  look(manager.get(id));
  await there.promise.finally(stop);
}

async function over(manager: TrainingManager, id: string): Promise<Training> {
  await until(manager, id, ({ state }) => isTrainingOver(state));
  while (manager.active > 0) await new Promise(setImmediate);
  return manager.get(id);
}

/** The share of steps that conductor-mini gives to the right worker, for questions that were never asked, of plans that can be carried out. */
async function chosenRight(adapter: string | undefined): Promise<{ right: number; valid: number }> {
  const model = await openModel();
  try {
    let [right, valid, steps, texts] = [0, 0, 0, 0];
    for (let index = 500; index < 512; index += 1) {
      const { messages, prefill } = conductorPrompt({ question: questionAt(index), context: '', pool: POOL, rounds: [] }, PROMPT_PROFILES.mini);
      const written = await model.write({ messages: messages.map(({ role, content }) => ({ role, content })), prefill, maxTokens: 256, temperature: 1, samples: 8, seeds: Array.from({ length: 8 }, (_, seed) => seed), adapter });
      for (const { text } of written) {
        texts += 1;
        const parsed = parsePlan(text, { workerCount: POOL.length, round: 0 });
        if (parsed.kind !== 'plan') continue;
        valid += 1;
        const { modelIds, subtasks } = parsed.plan;
        const writer = modelIds[subtasks.map(roleOfStep).lastIndexOf('write')];
        steps += 1;
        if (writer !== undefined && POOL[writer]?.id === RIGHT) right += 1;
      }
    }
    return { right: right / steps, valid: valid / texts };
  } finally {
    await model.close();
  }
}

let untrained: ReturnType<typeof chosenRight> | undefined;
/** By the model as it is bundled: measured once for all tests. */
const chosenRightBefore = (): ReturnType<typeof chosenRight> => (untrained ??= chosenRight(undefined));

const version = (id: string, step: number): string => path.join(folder, 'trainings', id, 'versions', `step-${String(step).padStart(6, '0')}`);
const weights = (id: string, step: number): Promise<Buffer> => readFile(path.join(version(id, step), 'adapter_model.safetensors'));

describe('learning from outcomes', { timeout: 900_000 }, () => {
  it('has conductor-mini choose the worker whose plans were verified, says so by the newest, is adopted, taken back, and learned once', async () => {
    const { manager, journal } = await begin();
    fillJournal(journal, QUESTIONS);
    const found = await manager.checkOutcomes(undefined);
    expect(found).toMatchObject({ conductor: 'conductor-mini', leftOut: [] });
    expect(found.missing).toBeUndefined();
    expect(found.learned.verified + found.learned.other).toBe(QUESTIONS * 0.8);
    expect(found.heldOut.verified + found.heldOut.other).toBe(QUESTIONS * 0.2);

    const { trainingId } = await manager.learn(undefined);
    const training = await over(manager, trainingId);
    expect(training).toMatchObject({ state: 'completed', learnsFrom: 'outcomes', spentUsd: 0, spentTokens: 0, outcomes: { learned: found.learned }, logged: { says: 'better', ...found.heldOut } });
    expect(training.comparison).toBeUndefined();
    expect(journal.list({ limit: 1_000 })).toHaveLength(QUESTIONS);
    const [before, after] = [await chosenRightBefore(), await chosenRight(version(trainingId, training.step))];
    expect(after.right).toBeGreaterThan(before.right + 0.2);
    expect(after.valid).toBeGreaterThan(0.9);

    await manager.adopt(trainingId);
    expect(workers).toMatchObject({ conductor: 'conductor-mini', workers: [...POOL, { id: 'conductor-mini' }] });
    // Nothing is learned twice, and what was held out is there to be learned.
    expect(await manager.checkOutcomes(undefined)).toMatchObject({ leftOut: [{ reason: 'learned', count: QUESTIONS * 0.8 }], missing: expect.stringMatching(/^There is too little to learn from/) });
    await manager.goBack(trainingId);
    expect(workers.workers.map(({ id }) => id)).toEqual(POOL.map(({ id }) => id));
    expect((await manager.checkOutcomes(undefined)).leftOut).toEqual([]);
  });

  it('learns from plans that it sampled itself, also from those that were not verified', async () => {
    const { manager, journal } = await begin();
    const model = await openModel();
    const runs = await fillWithOwnPlans(journal, model, OWN_QUESTIONS, BUNDLED).finally(() => model.close());
    const found = await manager.checkOutcomes(undefined);
    expect(found.own).toBe(found.learned.verified + found.learned.other);
    expect(found.own).toBeGreaterThan(0.7 * runs.length);
    const { trainingId } = await manager.learn(undefined);
    const training = await over(manager, trainingId);
    // Each step learned from eight plans of each kind: every prompt was made again as it was.
    expect(training.metrics?.at(-1)?.['examples']).toBe(16);
    const [before, after] = [await chosenRightBefore(), await chosenRight(version(trainingId, training.step))];
    expect(after.right).toBeGreaterThan(before.right + 0.2);
    expect(after.valid).toBeGreaterThan(0.9);
  });

  it('goes on after its process was killed with the weights that it would have had', async () => {
    const first = await begin();
    fillJournal(first.journal, 10, { isRight: () => true });
    const whole = await first.manager.learn(undefined);
    const { step } = await over(first.manager, whole.trainingId);
    const { trainingId } = await first.manager.learn(undefined);
    await until(first.manager, trainingId, (training) => training.state === 'training' && training.step >= 7);
    // What is on disk now is what a process that is killed leaves: the checkpoint of step 5, and nothing of steps 6 and 7.
    const left = path.join(folder, 'left');
    cpSync(path.join(folder, 'trainings'), left, { recursive: true });
    const frozen = await readFile(path.join(left, trainingId, 'outcomes.json'), 'utf8');
    await end();
    await rm(path.join(folder, 'trainings'), { recursive: true });
    await rename(left, path.join(folder, 'trainings'));
    const second = await begin();
    expect(await over(second.manager, trainingId)).toMatchObject({ state: 'completed', step });
    expect(await readFile(path.join(folder, 'trainings', trainingId, 'outcomes.json'), 'utf8')).toBe(frozen);
    expect(await weights(trainingId, step)).toEqual(await weights(whole.trainingId, step));
  });

  it('offers nothing where verdicts say nothing of the plans, and nothing that the newest do not show to be better', async () => {
    const { manager, journal } = await begin();
    let turn = 0;
    fillJournal(journal, 50, { isRight: () => (turn += 1) % 2 === 0 });
    const { trainingId } = await manager.learn(undefined);
    const training = await over(manager, trainingId);
    expect(training.logged?.says).not.toBe('better');
    await expect(manager.adopt(trainingId)).rejects.toThrow('Only what the newest outcomes show to be better can be adopted.');
    expect(workers.workers.map(({ id }) => id)).toEqual(POOL.map(({ id }) => id));
  });

  it('keeps no text of a run, and an outcome whose run was removed is gone', async () => {
    const { manager, journal } = await begin();
    const runs = fillJournal(journal, 10, { isRight: () => true });
    const { trainingId } = await manager.learn(undefined);
    await over(manager, trainingId);
    const files = await readdir(path.join(folder, 'trainings', trainingId), { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) expect(await readFile(path.join(file.parentPath, file.name), 'latin1')).not.toContain('Please fix it.');
    const before = await manager.checkOutcomes(undefined);
    journal.remove(runs.slice(0, 5));
    const after = await manager.checkOutcomes(undefined);
    const all = ({ learned, heldOut }: typeof before): number => learned.verified + learned.other + heldOut.verified + heldOut.other;
    expect([all(before), all(after)]).toEqual([10, 5]);
  });

  it('says what is missing, and fails with the same sentence', async () => {
    const { manager, journal } = await begin();
    fillJournal(journal, 10);
    const { missing } = await manager.checkOutcomes(undefined);
    expect(missing).toMatch(/^There is too little to learn from: it takes 8 verified plans/);
    const { trainingId } = await manager.learn(undefined);
    expect(await over(manager, trainingId)).toMatchObject({ state: 'failed', message: missing });
    await expect(manager.finish(trainingId)).rejects.toThrow('let it run to its end');
    workers = { ...workers, workers: [] };
    expect(await manager.checkOutcomes(undefined)).toMatchObject({ missing: expect.stringMatching(/^No worker is ready/) });
  });
});
