import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gpu } from '../../../backend/lm/device/nvidia.ts';
import { recordFile } from '../../../backend/lm/hub/pulled-models.ts';
import { LocalModels, type LocalModelsOptions, type LocalModelSettings, type LocalModelState } from '../../../backend/lm/process/local-models.ts';
import { measureMemory } from '../../../backend/lm/process/measure-memory.ts';
import { modelFolder } from '../../golden/golden.ts';
import { MODEL_PROCESS } from './model-process-script.ts';

const TINY = modelFolder('qwen2-tiny');
const OTHER = modelFolder('qwen3-tiny');
const GPU: Gpu = {
  name: 'Imaginary 4090', uuid: 'GPU-00000000', capability: { major: 8, minor: 9 }, driver: '580.65.06', memoryBytes: 24e9, freeBytes: 23e9,
};
const NO_GPU = {
  platform: 'linux', arch: 'x64', findDriver: async () => false, hasCard: async () => true, listGpus: async () => [],
  hasDisplay: async () => false, gpuDrivers: async () => undefined,
};
const ONE_GPU = { ...NO_GPU, findDriver: async () => true, listGpus: async () => [GPU] };
const REQUEST = { messages: [{ role: 'user', content: 'Why?' }], samples: 1, seeds: [1], maxTokens: 4, temperature: 1 } as const;

let storage: string;
let states: LocalModelState[];
let settings: LocalModelSettings;
let watchers: Set<(state: LocalModelState) => void>;
const opened: LocalModels[] = [];

beforeEach(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'conductor-local-models-'));
  states = [];
  watchers = new Set();
  settings = { device: 'auto', precision: 'auto', adapters: false };
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((models) => models.close()));
  await rm(storage, { recursive: true, force: true });
});

function localModels(change: Partial<LocalModelsOptions> = {}): LocalModels {
  const models = new LocalModels({
    storage,
    script: MODEL_PROCESS,
    probe: NO_GPU,
    settings: async () => settings,
    confirmCuda: () => Promise.reject(new Error('nobody is asked here')),
    onState: (state) => {
      states.push(state);
      for (const watch of watchers) watch(state);
    },
    idleMs: 600_000,
    threads: 1,
    ...change,
  });
  opened.push(models);
  return models;
}

const until = (wanted: LocalModelState['state']): Promise<LocalModelState> => new Promise((resolve) => {
  const watch = (state: LocalModelState): void => {
    if (state.state !== wanted) return;
    watchers.delete(watch);
    resolve(state);
  };
  watchers.add(watch);
});

describe('the models of this machine', () => {
  it('are loaded by the first who asks, once for all who ask', async () => {
    const models = localModels();
    await Promise.all([models.model(TINY).write(REQUEST), models.model(TINY).describe(), models.model(TINY).write(REQUEST)]);
    expect(states.filter(({ phase }) => phase === 'choosing-device')).toHaveLength(1);
    expect(models.processIds).toHaveLength(1);
    expect(models.states).toMatchObject([{ model: TINY, state: 'ready', loaded: { device: 'cpu', precision: 'full' } }]);
  });

  it('make room for one another, and say so', async () => {
    const models = localModels();
    await models.model(TINY).describe();
    const [first] = models.processIds;
    await models.model(OTHER).describe();
    expect(models.processIds).toHaveLength(1);
    expect(models.processIds).not.toContain(first);
    expect(models.states).toMatchObject([{ model: TINY, state: 'unloaded', loaded: { device: 'cpu' } }, { model: OTHER, state: 'ready' }]);
  });

  it('make no room while they are asked', async () => {
    const models = localModels();
    const texts = models.model(TINY).write({ ...REQUEST, maxTokens: 200, onText: () => begun.resolve() });
    const begun = Promise.withResolvers<void>();
    await begun.promise;
    await models.model(OTHER).describe();
    expect(await texts).toHaveLength(1);
  });

  it('are loaded again as the settings have it by now', async () => {
    const models = localModels();
    await models.model(TINY).describe();
    settings = { ...settings, precision: '8-bit' };
    expect(await models.model(TINY).describe()).toMatchObject({ precision: '8-bit' });
    expect(models.processIds).toHaveLength(1);
  });

  it('are found by the name they were pulled under', async () => {
    const commit = '0123456789abcdef0123456789abcdef01234567';
    const folder = path.join(storage, 'models', 'acme--tiny', commit);
    await mkdir(path.dirname(folder), { recursive: true });
    await cp(TINY, folder, { recursive: true });
    await writeFile(recordFile(folder), JSON.stringify({ version: 1, repo: 'acme/tiny', commit, files: [{ name: 'LICENSE', sizeBytes: 0 }] }));
    await writeFile(path.join(folder, 'LICENSE'), '');
    expect(await localModels().model('acme/tiny').describe()).toMatchObject({ name: 'acme/tiny' });
    await expect(localModels().model('acme/other').describe()).rejects.toMatchObject({ name: 'ModelMissingError', model: 'acme/other' });
  });

  it('that cannot be loaded say why, until they are loaded', async () => {
    const folder = path.join(storage, 'broken');
    await cp(TINY, folder, { recursive: true });
    await writeFile(path.join(folder, 'model.safetensors'), 'too short');
    const models = localModels();
    settings = { ...settings, precision: 'full' };
    const problem = await models.model(folder).describe().then(() => undefined, (error: Error) => error.message);
    expect(problem).toContain('model.safetensors');
    expect(models.states).toEqual([{ model: folder, state: 'unloaded', problem }]);
    await cp(TINY, folder, { recursive: true });
    await models.model(folder).describe();
    expect(models.states[0]).not.toHaveProperty('problem');
  });

  it('are unloaded on request, which ends what they are asked, and loaded again by the next who asks', async () => {
    const models = localModels();
    const begun = Promise.withResolvers<void>();
    const texts = models.model(TINY).write({ ...REQUEST, maxTokens: 1_000, onText: () => begun.resolve() });
    texts.catch(() => {});
    await begun.promise;
    await models.unload(TINY);
    await expect(texts).rejects.toMatchObject({ name: 'ModelClosedError' });
    expect(models.states).toMatchObject([{ state: 'unloaded' }]);
    expect(await models.model(TINY).write(REQUEST)).toHaveLength(1);
  });

  it('whose loading is cancelled are not loaded, unless somebody else waits for them', async () => {
    const models = localModels();
    const alone = new AbortController();
    const loading = until('loading');
    const load = models.load(TINY, alone.signal);
    load.catch(() => {});
    await loading;
    alone.abort();
    await expect(load).rejects.toMatchObject({ name: 'ModelClosedError' });
    expect(models.processIds).toEqual([]);

    const together = new AbortController();
    const again = until('loading');
    const [second, text] = [models.load(TINY, together.signal), models.model(TINY).write(REQUEST)];
    await again;
    together.abort();
    expect(await text).toHaveLength(1);
    expect(await second).toMatchObject({ device: 'cpu' });
  });

  it('that are closed start no process for a request whose settings were still being read', async () => {
    const reading = Promise.withResolvers<void>();
    const models = localModels({ settings: async () => { await reading.promise; return settings; } });
    const requests = [models.model(TINY).write(REQUEST), models.openTrainable(TINY)];
    const closed = models.close();
    reading.resolve();
    for (const request of requests) await expect(request).rejects.toMatchObject({ name: 'ModelClosedError' });
    await closed;
    expect(models.processIds).toEqual([]);
  });
});

describe('a GPU that could be used', () => {
  it('counts for what is recommended only where its libraries are here or can be fetched', async () => {
    const machine = { storage, probe: ONE_GPU };
    expect(await measureMemory(machine, { device: 'auto' })).not.toHaveProperty('accelerator');
    expect(await measureMemory(machine, { device: 'auto', packageIndex: 'https://index.example/simple' })).toMatchObject({ accelerator: { device: 'cuda', memoryBytes: 24e9 } });
    expect(await measureMemory(machine, { device: 'cpu', packageIndex: 'https://index.example/simple' })).not.toHaveProperty('accelerator');
  });

  it('is asked about once: whoever declines its libraries has the model on the CPU, with the reason', async () => {
    let asked = 0;
    settings = { device: 'auto', precision: 'full', packageIndex: 'https://index.example/simple', adapters: false };
    const models = localModels({
      probe: ONE_GPU,
      confirmCuda: async ({ question }) => {
        asked += 1;
        expect(question).toContain('index.example');
        return false;
      },
    });
    expect(await models.model(TINY).describe()).toMatchObject({ device: 'cpu', deviceReasons: [expect.stringContaining('not downloaded')] });
    await models.unload(TINY);
    await models.model(TINY).describe();
    expect(asked).toBe(1);
  });

  it('is asked about again where nobody was there to answer', async () => {
    let asked = 0;
    settings = { device: 'auto', precision: 'full', packageIndex: 'https://index.example/simple', adapters: false };
    const models = localModels({ probe: ONE_GPU, confirmCuda: async () => { asked += 1; return undefined; } });
    await models.model(TINY).describe();
    await models.unload(TINY);
    await models.model(TINY).describe();
    expect(asked).toBe(2);
  });
});
