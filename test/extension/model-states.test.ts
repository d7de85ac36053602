import { describe, expect, it } from 'vitest';
import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { localModelsOf, modelTitle } from '../../extension/workers/local-models-of.ts';
import { ModelStates } from '../../extension/workers/model-states.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

const MODEL = 'Qwen/Qwen3-0.6B';

function statesOn(...backends: FakeBackend[]) {
  const { connection } = connectionOver(backends);
  return { connection, models: new ModelStates(connection) };
}

const next = (models: ModelStates): Promise<LocalModelStatus> => new Promise((resolve) => {
  const end = models.changed.on((status) => {
    end();
    resolve(status);
  });
});

describe('the models of this machine', () => {
  it('are in no memory before the backend has said anything', () => {
    expect(statesOn().models.of(MODEL)).toEqual({ model: MODEL, state: 'unloaded' });
  });

  it('are as the backend says when it is reached, and as it says later', async () => {
    const backend = new FakeBackend().answer('model/status', () => ({ models: [{ model: MODEL, state: 'loading', phase: 'reading' }] }));
    const { connection, models } = statesOn(backend);
    const told = next(models);
    await connection.client();
    expect(await told).toMatchObject({ state: 'loading' });
    backend.emit('model/status', { model: MODEL, state: 'ready' });
    expect(models.of(MODEL)).toMatchObject({ state: 'ready' });
  });

  it('are not set back by an answer that is older than what was told meanwhile', async () => {
    const answered = Promise.withResolvers<unknown>();
    const asked = Promise.withResolvers<void>();
    const backend = new FakeBackend().answer('model/status', () => {
      asked.resolve();
      return answered.promise;
    });
    const { connection, models } = statesOn(backend);
    await connection.client();
    await asked.promise;
    backend.emit('model/status', { model: MODEL, state: 'ready' });
    const other = next(models);
    answered.resolve({ models: [{ model: MODEL, state: 'loading' }, { model: 'other', state: 'unloaded' }] });
    await other;
    expect(models.of(MODEL)).toMatchObject({ state: 'ready' });
  });

  it('are forgotten with the backend that had them', async () => {
    const first = new FakeBackend().answer('model/status', () => ({ models: [{ model: MODEL, state: 'ready' }] }));
    const second = new FakeBackend().answer('model/status', () => ({ models: [{ model: 'other', state: 'ready' }] }));
    const { connection, models } = statesOn(first, second);
    const ready = next(models);
    await connection.client();
    await ready;
    const again = next(models);
    first.lose();
    expect(await again).toMatchObject({ model: 'other' });
    expect(models.of(MODEL)).toEqual({ model: MODEL, state: 'unloaded' });
  });
});

describe('the models on show', () => {
  const local = workerConfigSchema.parse({ id: 'local', provider: 'local', model: MODEL });
  const folder = workerConfigSchema.parse({ id: 'folder', provider: 'local', model: '/models/tiny' });
  const paid = workerConfigSchema.parse({ id: 'paid', provider: 'openai', model: 'gpt-5' });
  const pool = (planner: typeof local, ...workers: (typeof local)[]): Pool => ({
    file: 'workers.json', planner: { worker: planner, choice: { why: 'chosen', estimate: { plans: 0 } } }, workers: workers.map((worker) => ({ worker, ready: true, priced: true })),
  });
  const statusOf = (model: string): LocalModelStatus => ({ model, state: 'unloaded' });

  it('are those of the pool, the planning one first, each once', () => {
    const models = localModelsOf({ run: undefined, pool: pool(local, folder, paid, local), statusOf });
    expect(models.map(({ name, plans, answers }) => [name, plans, answers])).toEqual([[MODEL, true, true], ['tiny', false, true]]);
  });

  it('are not those of workers that are switched off', () => {
    expect(localModelsOf({ run: undefined, pool: pool(paid, { ...local, enabled: false }, paid), statusOf })).toEqual([]);
  });

  it('are those of the run on show, whatever the pool is by now', () => {
    const run = { pool: [paid], policy: { kind: 'local', worker: folder, model: folder.model, promptVersion: 'x' } } as unknown as RunSnapshot;
    expect(localModelsOf({ run, pool: pool(local, local), statusOf })).toMatchObject([{ model: '/models/tiny', plans: true, answers: false }]);
  });

  it.each([['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B'], ['/home/ada/models/tiny/', 'tiny'], ['C:\\models\\tiny', 'tiny']])(
    '%s is called %s', (model, title) => expect(modelTitle(model)).toBe(title),
  );
});
