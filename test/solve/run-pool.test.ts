import { describe, expect, it } from 'vitest';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { workerConfigSchema, workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { castFor, type CastSources } from '../../backend/solve/run-pool.ts';

const file = workersFileSchema.parse({
  version: 1,
  conductor: 'planner',
  budget: { runUsd: 0.5 },
  workers: [
    { id: 'planner', provider: 'openai', model: 'p', key: 'PLANNER_KEY' },
    { id: 'paid', provider: 'anthropic', model: 'a', key: 'PAID_KEY' },
    { id: 'free', provider: 'openai-compatible', model: 'f', baseUrl: 'http://127.0.0.1:11434/v1', promptProfile: 'compact' },
    { id: 'off', provider: 'openai-compatible', model: 'o', baseUrl: 'http://127.0.0.1:11434/v1', enabled: false },
  ],
});

const cast = (input: Partial<RunRequestInput>, keys: readonly string[], workers = file) =>
  castFor(runRequestSchema.parse({ question: 'why?', ...input }), {
    file: workers, hasKey: async (name) => keys.includes(name), priced: (worker) => worker,
    adapterVersion: async () => undefined,
  });
const MINI = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: 'conductor-mini', promptProfile: 'mini', enabled: false });

/** The cast where the file names nobody, unless it is changed so, and every key is there. */
const automatic = (changes: Partial<WorkersFile> = {}, input: Partial<RunRequestInput> = {}, sources: Partial<CastSources> = {}) => {
  const { conductor: _named, ...unnamed } = file;
  return castFor(runRequestSchema.parse({ question: 'why?', ...input }), {
    file: { ...unnamed, ...changes }, hasKey: async () => true, priced: (worker) => worker, adapterVersion: async () => undefined,
    bundledConductor: MINI, ...sources,
  });
};
const ids = (pool: readonly { id: string }[]): string[] => pool.map(({ id }) => id);

describe('who takes part in a run', () => {
  it('is every enabled worker whose key is there, in the order of the file', async () => {
    expect(ids((await cast({}, ['PLANNER_KEY', 'PAID_KEY'])).pool)).toEqual(['planner', 'paid', 'free']);
    expect(ids((await cast({}, ['PLANNER_KEY'])).pool)).toEqual(['planner', 'free']);
  });

  it('is whom the request names, in its order, even if switched off', async () => {
    expect(ids((await cast({ workers: ['off', 'free'] }, ['PLANNER_KEY'])).pool)).toEqual(['off', 'free']);
  });

  it('is planned for by the worker that plays the Conductor, with its own prompt profile', async () => {
    expect((await cast({}, ['PLANNER_KEY'])).policy).toMatchObject({ model: 'p', promptVersion: 'standard-3' });
    expect((await cast({ conductor: 'free' }, [])).policy).toMatchObject({ model: 'f', promptVersion: 'compact-3' });
  });

  it('keeps what the bundled model learned: with an adapter it plans without being named', async () => {
    const learned = { ...MINI, enabled: false, adapter: '/home/me/adapters/one' };
    const { policy } = await automatic({ workers: [...file.workers, learned] });
    expect(policy).toMatchObject({ kind: 'local', worker: { id: 'conductor-mini', adapter: '/home/me/adapters/one' }, choice: { why: 'trained' } });
  });

  it('keeps a planner that was chosen, also the bundled model, which need not be listed', async () => {
    expect((await automatic({ conductor: 'paid' })).policy).toMatchObject({ model: 'a', choice: { why: 'chosen' } });
    const free = await automatic({ conductor: 'conductor-mini' });
    expect(free.policy).toMatchObject({ kind: 'local', model: 'conductor-mini', promptVersion: expect.stringContaining('mini'), choice: { why: 'chosen', estimate: { usd: 0 } } });
    expect(ids(free.pool)).toEqual(['planner', 'paid', 'free']);
    expect((await automatic({ conductor: 'paid' }, { conductor: 'conductor-mini' })).policy.choice?.why).toBe('asked');
  });

  it('is refused rather than planned for at a cost if the chosen bundled model cannot run', async () => {
    await expect(automatic({ conductor: 'conductor-mini' }, {}, { bundledConductor: undefined })).rejects.toMatchObject({
      kind: 'no-conductor', message: expect.stringContaining('"conductor-mini" was chosen to plan, but it cannot run on this machine'),
    });
  });

  it('is planned for by the best planner for its price where nobody was chosen', async () => {
    const price = { inputPerMillion: 2, outputPerMillion: 10 };
    const { policy, pool } = await automatic({ workers: file.workers.map((worker) => (worker.id === 'paid' ? { ...worker, price } : worker)) });
    expect(policy).toMatchObject({ kind: 'endpoint', model: 'a', choice: { why: 'strongest', estimate: { plans: 0, usd: expect.closeTo(0.025, 2) } } });
    expect(ids(pool)).toEqual(['planner', 'paid', 'free']);
  });

  it('is planned for by the bundled model where no worker can plan, all are simulated, or one worker is only to be chosen', async () => {
    const simulated = file.workers.map((worker) => ({ ...worker, simulated: true }));
    expect((await automatic({ workers: simulated })).policy).toMatchObject({ model: 'conductor-mini', choice: { why: 'simulated' } });
    const tiny = file.workers.map((worker) => ({ ...worker, model: 'qwen2.5-coder:0.5b' }));
    expect((await automatic({ workers: tiny })).policy).toMatchObject({ model: 'conductor-mini', choice: { why: 'none-can' } });
    expect((await automatic({ workers: tiny }, {}, { bundledConductor: undefined })).policy).toMatchObject({ worker: { id: 'planner' }, choice: { why: 'first' } });
    expect((await automatic({}, {}, { isRouting: true })).policy).toMatchObject({ model: 'conductor-mini', choice: { why: 'routing' } });
    expect((await automatic({ conductor: 'paid' }, {}, { isRouting: true })).policy.model).toBe('a');
  });

  it('is planned for by a worker that takes part, never by one that is switched off, left out or without its key', async () => {
    const price = { inputPerMillion: 2, outputPerMillion: 10 };
    const workers = file.workers.map((worker) => (worker.id === 'off' || worker.id === 'paid' ? { ...worker, price } : worker));
    expect((await automatic({ workers }, { workers: ['free'] })).policy.model).toBe('f');
    const keyless = { hasKey: async (name: string) => name !== 'PAID_KEY' };
    expect((await automatic({ workers }, {}, keyless)).policy.model).toBe('p');
  });

  it('is held by the request\'s limits before the file\'s', async () => {
    expect((await cast({ budget: { runTokens: 10 } }, ['PLANNER_KEY'])).budget).toMatchObject({ runUsd: 0.5, runTokens: 10 });
  });

  it.each([
    ['no worker at all', {}, workersFileSchema.parse({ version: 1, workers: [] }), 'no-worker', 'Add Worker'],
    ['an unknown worker', { workers: ['free', 'gtp'] }, file, 'unknown-worker', '"gtp"'],
    ['an unknown Conductor', { conductor: 'gtp' }, file, 'unknown-worker', '"gtp"'],
    ['a Conductor without its key', {}, file, 'no-conductor', 'PLANNER_KEY'],
    ['nobody with a key', {}, workersFileSchema.parse({ version: 1, workers: [file.workers[1]] }), 'no-worker', 'PAID_KEY'],
  ])('%s is refused with a sentence that says what to do', async (_name, input, workers, kind, part) => {
    await expect(cast(input, [], workers)).rejects.toMatchObject({ kind, message: expect.stringContaining(part) });
  });
});
