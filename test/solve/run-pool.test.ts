import { describe, expect, it } from 'vitest';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { workerConfigSchema, workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { castFor } from '../../backend/solve/run-pool.ts';

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
    expect((await cast({}, ['PLANNER_KEY'])).policy).toMatchObject({ model: 'p', promptVersion: 'standard-1' });
    expect((await cast({ conductor: 'free' }, [])).policy).toMatchObject({ model: 'f', promptVersion: 'compact-1' });
  });

  it('is planned for by the bundled model where workers.json names nobody', async () => {
    const bundledConductor = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: 'conductor-mini', promptProfile: 'mini' });
    const { conductor: _named, ...unnamed } = file;
    const sources = { hasKey: async () => true, priced: <T,>(worker: T): T => worker, bundledConductor, adapterVersion: async () => undefined };
    const request = runRequestSchema.parse({ question: 'why?' });
    const { policy, pool } = await castFor(request, { file: unnamed, ...sources });
    expect(policy).toMatchObject({ kind: 'local', model: 'conductor-mini', worker: { model: 'conductor-mini' }, promptVersion: 'mini-3' });
    expect(ids(pool)).toEqual(['planner', 'paid', 'free']);
    expect((await castFor(request, { file, ...sources })).policy.model).toBe('p');

    // What it has learned stands there, and it still plans without being named.
    const learned = { ...bundledConductor, enabled: false, adapter: '/home/me/adapters/one' };
    const adapted = await castFor(request, { file: { ...unnamed, workers: [...unnamed.workers, learned] }, ...sources });
    expect(adapted.policy.worker).toMatchObject({ id: 'conductor-mini', adapter: '/home/me/adapters/one' });
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
