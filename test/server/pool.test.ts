import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { serve, type Serving } from './support/serving.ts';

let serving: Serving;
beforeEach(async () => { serving = await serve(); });
afterEach(() => serving.close());

const worker = { id: 'fast', provider: 'openai', model: 'priced', key: 'OPENAI_API_KEY' } as const;

test('a saved worker stands in the file and in the pool, with what is missing said', async () => {
  const client = await serving.open({
    capabilities: ['secret'], handlers: { 'client/secret': () => Promise.resolve({ value: null }) },
  });
  const pool = await client.request('worker/save', { worker, conductor: true });
  expect(pool).toMatchObject({
    file: serving.workersFile, conductor: 'fast',
    workers: [{ worker: { id: 'fast' }, ready: false, reason: expect.stringContaining('OPENAI_API_KEY'), priced: true }],
  });
  expect(JSON.parse(await readFile(serving.workersFile, 'utf8'))).toMatchObject({ conductor: 'fast', workers: [{ id: 'fast' }] });
});

test('a worker is ready once its key is there, and says why when nobody can be asked', async () => {
  const blind = await serving.open();
  const [unknown] = (await blind.request('worker/save', { worker })).workers;
  expect(unknown).toMatchObject({ ready: false, reason: expect.stringContaining('No connected client') });
  await serving.open({ capabilities: ['secret'], handlers: { 'client/secret': () => Promise.resolve({ value: 'sk' }) } });
  const [status] = (await blind.request('pool/get', {})).workers;
  expect(status).toMatchObject({ ready: true });
  expect(status).not.toHaveProperty('reason');
});

test('a served Conductor says which version its server has, or what is missing of it here', async () => {
  const client = await serving.open();
  const served = { id: 'planner', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen', served: { model: 'owner/qwen' } } as const;
  const save = async (fields: object) => (await client.request('worker/save', { worker: { ...served, ...fields } })).workers[0];
  expect(await save({ adapter: '/adapters/mx1' })).toMatchObject({ ready: true, serves: 'conductor-mx1-01234567' });
  expect(await save({})).not.toHaveProperty('serves');
  expect(await save({ model: 'gone', adapter: '/adapters/mx1' })).toMatchObject({ ready: false, reason: 'It is gone.' });
});

test('a model of VS Code is ready while a VS Code is connected', async () => {
  const client = await serving.open();
  await client.request('worker/save', { worker: { id: 'copilot', provider: 'vscode', model: 'gpt' } });
  expect((await client.request('pool/get', {})).workers[0]).toMatchObject({ ready: false });
  await serving.open({ capabilities: ['model'] });
  expect((await client.request('pool/get', {})).workers[0]).toMatchObject({ ready: true });
});

test('saving again replaces, and changes of several clients at once all stay', async () => {
  const clients = await Promise.all([serving.open(), serving.open(), serving.open()]);
  await Promise.all(clients.flatMap((client, index) => [
    client.request('worker/save', { worker: { ...worker, id: `w${index}` } }),
    client.request('worker/save', { worker: { ...worker, id: 'same', model: `m${index}` } }),
  ]));
  const { workers } = await clients[0]!.request('pool/get', {});
  expect(workers.map((status) => status.worker.id).sort()).toEqual(['same', 'w0', 'w1', 'w2']);
});

test('removing a worker takes it from the pool, and from its part as Conductor', async () => {
  const client = await serving.open();
  await client.request('worker/save', { worker, conductor: true });
  const pool = await client.request('worker/remove', { id: 'fast' });
  expect(pool.workers).toEqual([]);
  expect(pool.conductor).toBeUndefined();
  await expect(client.request('worker/remove', { id: 'fast' })).rejects.toMatchObject({
    kind: 'worker-not-found', message: 'There is no worker "fast".',
  });
});

test('a file that somebody broke is reported, not overwritten', async () => {
  const client = await serving.open();
  await writeFile(serving.workersFile, '{ "version": 1, "workers": [ }');
  await expect(client.request('worker/save', { worker })).rejects.toMatchObject({
    kind: 'config-file', message: expect.stringContaining(serving.workersFile),
  });
  expect(await readFile(serving.workersFile, 'utf8')).toBe('{ "version": 1, "workers": [ }');
  await writeFile(serving.workersFile, '{ "version": 1, "workers": [] }');
  expect((await client.request('worker/save', { worker })).workers).toHaveLength(1);
});

test('who plans is chosen by name, and given back to the model that is part of Conductor', async () => {
  const bundledConductor = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: '/x/conductor-mini', promptProfile: 'mini' });
  const withBundled = await serve({ bundledConductor });
  try {
    const client = await withBundled.open();
    const first = await client.request('worker/save', { worker: { ...worker, key: undefined } });
    expect(first).toMatchObject({ bundledConductor: { id: 'conductor-mini', model: '/x/conductor-mini' } });
    expect(first).not.toHaveProperty('conductor');
    expect(await client.request('conductor/choose', { id: 'fast' })).toMatchObject({ conductor: 'fast' });
    expect(await client.request('conductor/choose', { id: null })).not.toHaveProperty('conductor');
    await expect(client.request('conductor/choose', { id: 'slow' })).rejects.toMatchObject({ kind: 'worker-not-found' });
    expect(JSON.parse(await readFile(withBundled.workersFile, 'utf8'))).not.toHaveProperty('bundledConductor');
  } finally {
    await withBundled.close();
  }
});

test('the file is written where there is none, and left as it is where there is one', async () => {
  const client = await serving.open();
  expect(await client.request('pool/create', {})).toMatchObject({ file: serving.workersFile, workers: [] });
  expect(JSON.parse(await readFile(serving.workersFile, 'utf8'))).toMatchObject({ version: 1, workers: [] });
  const own = '{ "version": 1,\n\n  "workers": [] }';
  await writeFile(serving.workersFile, own);
  await client.request('pool/create', {});
  expect(await readFile(serving.workersFile, 'utf8')).toBe(own);
});
