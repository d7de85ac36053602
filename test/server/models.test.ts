import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainModelError, modelParts, type ModelParts } from '../../backend/wiring/models.ts';
import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import type { LocalModelStatus, PullProgress } from '../../backend/protocol/local-models.ts';
import { PoolEditor } from '../../backend/server/handlers/workers-handlers.ts';
import { ClientRegistry } from '../../backend/server/client-registry.ts';
import { loadWorkersFile } from '../../backend/workers/workers-file.ts';
import { modelFolder } from '../golden/golden.ts';
import { FakeHub, type FakeFile } from '../lm/hub/fake-hub.ts';
import { serve, type Serving } from './support/serving.ts';

/* The requests about models of this machine, from a client's socket to a real model and a hub on a real server. */

const TINY = modelFolder('qwen2-tiny');
const GONE = 'Qwen/Qwen3-0.6B';

let home: string;
let hub: FakeHub;
let parts: ModelParts;
let serving: Serving;
let client: BackendClient;
let workersFile: string;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'conductor-models-'));
  workersFile = path.join(home, 'workers.json');
  const files = await Promise.all((await readdir(TINY)).map(async (name): Promise<FakeFile> => ({
    name, content: await readFile(path.join(TINY, name)), isLarge: name.endsWith('.safetensors'),
  })));
  hub = await FakeHub.start(files);
  parts = modelParts({
    home, loadWorkers: () => loadWorkersFile(workersFile), confirmCuda: async () => undefined, log: () => {},
  });
  const access = {
    file: workersFile,
    tryWorker: () => Promise.reject(new Error('not here')),
    priceOf: () => ({ inputPerMillion: 1, outputPerMillion: 2, origin: { list: 'worker' as const } }),
    whyNoModel: ({ model }: { model: string }) => parts.access.inspect(model).then(() => undefined, (error: Error) => error.message),
    findServers: () => Promise.resolve({ servers: [], looked: [] }), findAgents: () => Promise.resolve([]),
    nextPlanner: () => undefined, listModels: () => Promise.reject(new Error('not here')),
  };
  serving = await serve({ models: parts.access, pool: new PoolEditor(access, new ClientRegistry()), explain: explainModelError });
  client = await serving.open();
  await client.request('models/configure', { hubEndpoint: hub.url, device: 'cpu' });
});
afterEach(async () => {
  await serving.close();
  await parts.close();
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

describe('a model on the hub', () => {
  test('is fetched from the endpoint of the settings, with its progress told to the client that asked', async () => {
    const other = await serving.open();
    const progress: PullProgress[] = [];
    client.on('model/pullProgress', (step) => progress.push(step));
    other.on('model/pullProgress', () => { throw new Error('Nobody asked here.'); });
    const pulled = await client.request('models/pull', { repo: hub.repo });
    expect(pulled).toMatchObject({ repo: hub.repo, commit: hub.commit });
    expect(await readdir(pulled.folder)).toContain('model.safetensors');
    expect(progress.at(-1)).toMatchObject({ repo: hub.repo, receivedBytes: pulled.sizeBytes, totalBytes: pulled.sizeBytes });
    expect((await client.request('models/list', {})).pulled).toEqual([pulled]);
  });

  test('that wants a token says so by its kind, and is fetched with one', async () => {
    hub.token = 'hf_secret';
    await expect(client.request('models/pull', { repo: hub.repo })).rejects.toMatchObject({ kind: 'gated', message: expect.stringContaining(hub.repo) });
    await client.request('models/pull', { repo: hub.repo, token: 'hf_secret' });
    expect(await readFile(workersFile, 'utf8')).not.toContain('hf_secret');
  });

  test('is left as it is when its download is cancelled', async () => {
    const cancelled = new AbortController();
    const pulling = client.request('models/pull', { repo: hub.repo }, cancelled.signal);
    cancelled.abort();
    await expect(pulling).rejects.toBe(cancelled.signal.reason);
    expect((await client.request('models/list', {})).pulled).toEqual([]);
  });
});

describe('a model of this machine', () => {
  test('that is chosen plays the Conductor and answers, under a name that is free', async () => {
    await client.request('worker/save', { worker: { id: 'qwen2-tiny', provider: 'openai', model: 'gpt' } });
    const pool = await client.request('model/choose', { model: TINY });
    expect(pool).toMatchObject({
      conductor: 'qwen2-tiny-2',
      workers: [{ worker: { id: 'qwen2-tiny' } }, { worker: { id: 'qwen2-tiny-2', provider: 'local', model: TINY, enabled: true }, ready: true, priced: true }],
    });
  });

  test('that is chosen again stays one worker, and may be left with planning alone', async () => {
    await client.request('model/choose', { model: TINY });
    const pool = await client.request('model/choose', { model: TINY, worker: false });
    expect(pool.workers).toMatchObject([{ worker: { id: 'qwen2-tiny', enabled: false } }]);
    expect(pool.conductor).toBe('qwen2-tiny');
  });

  test('that is not there, or is none, is not chosen', async () => {
    await expect(client.request('model/choose', { model: GONE })).rejects.toMatchObject({ kind: 'not-found', message: expect.stringContaining(GONE) });
    await expect(client.request('model/choose', { model: home })).rejects.toMatchObject({
      kind: 'model-unusable', message: expect.stringContaining('config.json'),
    });
    expect((await client.request('pool/get', {})).workers).toEqual([]);
  });

  test('that is missing makes its worker one that is not ready', async () => {
    const pool = await client.request('worker/save', { worker: { id: 'gone', provider: 'local', model: GONE } });
    expect(pool.workers).toMatchObject([{ ready: false, reason: expect.stringContaining(GONE) }]);
  });

  test('is loaded and unloaded on request, and every client is told how it stands', async () => {
    const other = await serving.open();
    const told: LocalModelStatus[] = [];
    const unloaded = Promise.withResolvers<void>();
    other.on('model/status', (status) => {
      told.push(status);
      if (status.state === 'unloaded') unloaded.resolve();
    });
    const status = await client.request('model/load', { model: TINY });
    expect(status).toEqual({
      model: TINY, state: 'ready',
      loaded: { device: 'cpu', precision: 'full', weightBytes: expect.any(Number), contextLength: 2_048, reasons: [] },
    });
    expect(await client.request('model/status', {})).toEqual({ models: [status] });
    await client.request('model/unload', { model: TINY });
    await unloaded.promise;
    expect(told.map(({ state, phase }) => phase ?? state)).toEqual(expect.arrayContaining(['choosing-device', 'loading', 'ready', 'unloaded']));
  });
});

describe('the settings of local models', () => {
  test('stand in workers.json, and a null takes one back', async () => {
    await client.request('models/configure', { precision: '4-bit', packageIndex: 'https://index.example/simple' });
    expect(JSON.parse(await readFile(workersFile, 'utf8'))).toMatchObject({
      local: { device: 'cpu', precision: '4-bit', packageIndex: 'https://index.example/simple', hubEndpoint: hub.url },
    });
    expect(await client.request('models/configure', { device: null, packageIndex: null })).toEqual({
      device: 'auto', precision: '4-bit', hubEndpoint: hub.url,
    });
  });

  test('hold no account and no other address than the web\'s', async () => {
    for (const packageIndex of ['https://ada:secret@index.example/simple', 'file:///etc']) {
      await expect(client.request('models/configure', { packageIndex })).rejects.toMatchObject({ kind: 'invalid-params' });
    }
  });

  test('come with what suits this machine', async () => {
    const { offered, recommended, settings } = await client.request('models/list', {});
    expect(settings).toMatchObject({ device: 'cpu' });
    expect(offered.map(({ repo }) => repo)).toContain(GONE);
    if (recommended) expect(recommended).toMatchObject({ device: 'cpu', reason: expect.stringMatching(/\.$/) });
  });
});
