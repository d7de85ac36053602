import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { planRequest } from '../../backend/conductor/plan-request.ts';
import { profileOf } from '../../backend/conductor/prompt-profile.ts';
import { trainingSchema, type Training } from '../../backend/protocol/training.ts';
import { workerConfigSchema, workersFileSchema, type WorkerConfig, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { Adoption } from '../../backend/train/trainings/adoption.ts';
import { castToBegin, castToGoOn } from '../../backend/train/trainings/training-cast.ts';
import { TrainingRegistry } from '../../backend/train/trainings/training-registry.ts';
import { rollOut, withdraw } from '../../backend/workers/roll-out.ts';
import { LocalServer } from '../support/local-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { MINI } from '../support/unequal-workers.ts';
import { MemoryBooks, MemoryKeys } from '../workers/harness.ts';
import { INPUT, servedCaller, servedConductor, trainedAdapter } from '../workers/served/served-parts.ts';
import { SimulatedVllm } from '../workers/served/simulated-vllm.ts';

/* A training whose Conductor plans at a server. The server is a simulation of vLLM's answers; what was trained, and the switch, are real. */

let made: string;
/** Two short trainings; a busy machine takes long. */
const TRAINED_WITHIN_MS = 180_000;
beforeAll(async () => {
  made = await mkdtemp(path.join(tmpdir(), 'served-adoption-'));
  for (const [name, seed] of [['one', 1], ['two', 2]] as const) await trainedAdapter(made, name, { seed });
}, TRAINED_WITHIN_MS);
afterAll(() => rm(made, { recursive: true, force: true }));

let server: SimulatedVllm;
let workers: WorkersFile;
let registry: TrainingRegistry;
let adoption: Adoption;
let adapters: string;
let plans: (worker: WorkerConfig) => Promise<string>;

beforeEach(async () => {
  const folder = await temporaryFolder();
  adapters = path.join(folder, 'adapters');
  server = await SimulatedVllm.start();
  workers = workersFileSchema.parse({ version: 1, conductor: 'served', workers: [servedConductor(server.baseUrl)] });
  registry = new TrainingRegistry(path.join(folder, 'trainings'), Date.now);
  const caller = await servedCaller();
  adoption = new Adoption({
    registry, adapters,
    changeWorkers: async (change) => (workers = workersFileSchema.parse(change(workers))),
    loadWorkers: async () => workers,
    baseOf: async () => undefined,
    rollOut: (worker) => rollOut(worker, { caller, keys: new MemoryKeys(), signal: AbortSignal.timeout(20_000) }),
    withdraw: (worker, earlier) => withdraw(worker, earlier, { caller, keys: new MemoryKeys(), signal: AbortSignal.timeout(20_000) }),
  });
  plans = async (worker) => {
    const books = new MemoryBooks();
    return (await caller.call(worker, planRequest(worker, INPUT), { ledger: books, attempts: books, keys: new MemoryKeys(), signal: AbortSignal.timeout(20_000), onText: () => {} })).reply.model;
  };
});

/** A training of the served Conductor that is shown to be better. */
async function trained(trainingId: string, adapter: string, adapterBefore?: string): Promise<Training> {
  const estimate = { mean: 0.5, low: 0.4, high: 0.6 };
  const side = { verified: estimate, formatRate: 1, costUsd: 0 };
  const training = trainingSchema.parse({
    trainingId, workspace: '/project', conductor: 'served', model: MINI, config: {}, state: 'completed', message: 'Done.', startedAt: 1, updatedAt: 1,
    tasks: { train: 1, heldOut: 1 }, step: 3, metrics: [], spentUsd: 0, spentTokens: 0, adopted: false, simulated: false, adapterBefore,
    comparison: { tasks: 1, before: side, after: side, difference: estimate, says: 'better' },
  });
  await registry.add(training);
  const version = registry.folder(trainingId).version(3);
  await mkdir(path.dirname(version), { recursive: true });
  await cp(path.join(made, adapter), version, { recursive: true });
  return training;
}

const planner = (): WorkerConfig => workers.workers[0] as WorkerConfig;

describe('what a training made', () => {
  it('is ready at the server before it plans, and the one before plans again after going back', async () => {
    await trained('first', 'one');
    expect((await adoption.adopt('first')).adopted).toBe(true);
    const [one] = [...server.adapters.keys()];
    expect(one).toMatch(/^conductor-first-[\da-f]{8}$/);
    expect(planner().adapter).toBe(path.join(adapters, 'first'));
    expect(await plans(planner())).toBe(one);

    await trained('second', 'two', planner().adapter);
    await adoption.adopt('second');
    expect(await plans(planner())).toMatch(/^conductor-second-/);
    // The server was started again meanwhile.
    server.forget();
    expect((await adoption.goBack('second')).adopted).toBe(false);
    expect(await plans(planner())).toBe(one);
    await adoption.goBack('first');
    expect(planner().adapter).toBeUndefined();
    expect(await plans(planner())).toBe('conductor-mini');
  });

  it('leaves the server once another two have planned since, and is loaded again where it is still asked for', async () => {
    const loaded = (): string[] => [...server.adapters.keys()].map((name) => name.replace(/-[\da-f]{8}$/, '')).sort();
    // Somebody else's, and one of a training whose id begins alike.
    for (const name of ['swapped', 'conductor-first-x-12345678']) server.adapters.set(name, '/elsewhere');
    await trained('first', 'one');
    await adoption.adopt('first');
    const begun = planner();
    await trained('second', 'two', begun.adapter);
    await adoption.adopt('second');
    expect(loaded()).toEqual(['conductor-first', 'conductor-first-x', 'conductor-second', 'swapped']);
    await trained('third', 'one', planner().adapter);
    await adoption.adopt('third');
    expect(loaded()).toEqual(['conductor-first-x', 'conductor-second', 'conductor-third', 'swapped']);
    // A run that has been under way all the time.
    expect(await plans(begun)).toMatch(/^conductor-first-/);
    await adoption.goBack('third');
    expect(loaded()).toEqual(['conductor-first-x', 'conductor-second', 'conductor-third', 'swapped']);
    await adoption.goBack('second');
    expect(loaded()).toEqual(['conductor-first', 'conductor-first-x', 'conductor-second', 'swapped']);
  });

  it('is not adopted where the server does not take it, and the one before plans on', async () => {
    await trained('first', 'one');
    await adoption.adopt('first');
    const before = structuredClone(workers);
    await trained('second', 'two', planner().adapter);
    workers = { ...workers, workers: [{ ...planner(), served: { model: MINI, serverFolder: '/not/there' } }] };
    await expect(adoption.adopt('second')).rejects.toThrow(/^Nothing was changed, and "served" plans as before\. .*finds no whole adapter at \/not\/there\/conductor-second-/);
    expect([planner().adapter, registry.get('second').adopted, registry.get('first').adopted]).toEqual([path.join(adapters, 'first'), false, true]);
    workers = before;
    expect(await plans(planner())).toMatch(/^conductor-first-/);
  });

  it('stays where going back needs a server that does not answer', async () => {
    await trained('first', 'one');
    await adoption.adopt('first');
    await trained('second', 'two', planner().adapter);
    await adoption.adopt('second');
    const gone = await LocalServer.start(() => {});
    await gone.stop();
    workers = { ...workers, workers: [{ ...planner(), baseUrl: `${gone.url}/v1` }] };
    await expect(adoption.goBack('second')).rejects.toThrow(`Nothing was changed, and "served" plans as before. Worker "served": nothing answers at ${gone.url}`);
    expect([planner().adapter, registry.get('second').adopted]).toEqual([path.join(adapters, 'second'), true]);
  });
});

describe('a training of a served Conductor', () => {
  const sources = {
    priced: (worker: WorkerConfig) => worker, loadWorkers: async () => ({ ...workers, workers: [...workers.workers, workerConfigSchema.parse({ id: 'w', provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:9/v1' })] }),
    clients: { secret: async () => null } as never,
  };

  it('is of the model of this machine that it is: its server is not asked, and nobody pays for its plans', async () => {
    workers = { ...workers, workers: [{ ...planner(), price: { inputPerMillion: 1, outputPerMillion: 1 }, extraBody: { x: 1 }, hands: 'tools' }] };
    const { conductor, pool } = await castToBegin(sources);
    expect(workerConfigSchema.parse(conductor)).toMatchObject({ id: 'served', provider: 'local', model: MINI });
    expect(Object.keys(conductor).filter((name) => ['baseUrl', 'price', 'served', 'extraBody', 'hands'].includes(name))).toEqual([]);
    expect(pool.map(({ id }) => id)).toEqual(['w']);
    // It is asked in the same words, and continues the same ones.
    expect(profileOf(conductor)).toBe(profileOf(planner()));
    expect(planRequest(planner(), INPUT).messages).toEqual(planRequest(conductor, INPUT).messages);
  });

  it('goes on with the adapter that it began with, and not with another model', async () => {
    const training = await trained('first', 'one', '/adapters/before');
    expect((await castToGoOn({ ...training, pool: [] }, sources)).conductor).toMatchObject({ provider: 'local', model: MINI, adapter: '/adapters/before' });
    workers = { ...workers, workers: [{ ...planner(), served: { model: '/another' } }] };
    await expect(castToGoOn({ ...training, pool: [] }, sources)).rejects.toThrow('has another model now');
  });
});
