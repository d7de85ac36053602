import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeviceProbe, machineProbe } from '../../../backend/lm/device/device-probe.ts';
import type { DeviceTrial } from '../../../backend/lm/device/device-trial.ts';
import { findTrial, keptTrial, type TrialRequest } from '../../../backend/lm/process/device-trials.ts';
import { LocalModels, type LocalModelState } from '../../../backend/lm/process/local-models.ts';
import { measureMemory } from '../../../backend/lm/process/measure-memory.ts';
import { modelFolder } from '../../golden/golden.ts';
import { useSoftwareVulkan, whyNoSoftwareVulkan } from '../../support/software-vulkan.ts';
import { MODEL_PROCESS } from './model-process-script.ts';

const DRIVERS = { name: 'Test GPU', versions: ['1.0'] };
const TRIAL: DeviceTrial = { attention: 'plain', hasFloat16: false, failures: {}, speeds: { full: { cpu: 1, device: 2 } }, seconds: 3 };
/** A software device on a busy machine. */
const TIMEOUT_MS = 900_000;

describe('the trial of a device', () => {
  let storage: string;
  let log: string;
  beforeEach(async () => {
    storage = await mkdtemp(path.join(tmpdir(), 'device-trials-'));
    log = path.join(storage, 'log');
  });
  afterEach(() => rm(storage, { recursive: true, force: true }));

  /** A process in place of the model's, which notes what it is asked to try. `answer` is its code. */
  async function find(answer: string, change: Partial<TrialRequest> = {}): Promise<DeviceTrial> {
    const script = path.join(storage, 'process.mjs');
    await writeFile(script, `
      import { appendFileSync } from 'node:fs';
      process.on('message', (request) => {
        if (request.type !== 'try') return;
        appendFileSync(${JSON.stringify(log)}, request.attentions.join() + '\\n');
        ${answer}
      });`);
    return findTrial({ storage, script, device: 'webgpu', drivers: DRIVERS, signal: new AbortController().signal, ...change });
  }
  const asked = async (): Promise<string[]> => (await readFile(log, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  const say = (value: unknown): string => `process.send({ type: 'result', id: request.id, value: ${JSON.stringify(value)} });`;

  it('is made once for the versions of the drivers, and again for others', async () => {
    await expect(find(say(TRIAL))).resolves.toEqual(TRIAL);
    await expect(find('process.abort();')).resolves.toEqual(TRIAL);
    expect(await asked()).toEqual(['fused,plain']);
    await expect(find(say({ ...TRIAL, attention: 'fused' }), { drivers: { name: 'Test GPU', versions: ['1.1'] } })).resolves.toMatchObject({ attention: 'fused' });
    expect(await keptTrial(storage, 'webgpu', DRIVERS)).toEqual(TRIAL);
  });

  it('is made again without fused attention where the process dies of it', async () => {
    await expect(find(`if (request.attentions.includes('fused')) process.abort(); else ${say(TRIAL)}`)).resolves.toEqual(TRIAL);
    expect(await asked()).toEqual(['fused,plain', 'plain']);
  });

  it('that ends its process each time is not made again: a sentence says what to do', async () => {
    for (let time = 0; time < 2; time += 1) {
      const error = await find('process.abort();').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'DeviceError', kind: 'untried' });
      expect((error as Error).message).toMatch(/^Test GPU could not be tried by WebGPU: its process was ended by SIGABRT; the model runs on the CPU \(to try again, remove .*webgpu-\w+\.json\)\.$/);
    }
    expect(await asked()).toEqual(['fused,plain', 'plain']);
  });

  it('that takes too long is ended and not made again', async () => {
    await expect(find('', { timeoutMs: 1 })).rejects.toThrow('could not be tried by WebGPU: it took too long');
    await expect(find(say(TRIAL))).rejects.toThrow('it took too long');
  });

  it('that is cancelled ends with the reason, and nothing is kept', async () => {
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const cancelled = find("process.send({ type: 'progress', id: request.id, progress: { phase: 'trying', fraction: 0.5 } });", {
      signal: controller.signal, onProgress: () => controller.abort(reason),
    });
    await expect(cancelled).rejects.toBe(reason);
    expect(await keptTrial(storage, 'webgpu', DRIVERS)).toBeUndefined();
    await expect(find(say(TRIAL))).resolves.toEqual(TRIAL);
  });

  it('that fails for another reason than the device leaves the model to the CPU, and is made again', async () => {
    const broken = "process.send({ type: 'error', id: request.id, error: { name: 'Error', message: 'No space left on device.', data: {} } });";
    await expect(find(broken)).rejects.toMatchObject({
      name: 'DeviceError', kind: 'untried', message: 'Test GPU could not be tried by WebGPU, so the model runs on the CPU: No space left on device.',
    });
    await expect(find(say(TRIAL))).resolves.toEqual(TRIAL);
  });

  it('whose file is damaged is made again', async () => {
    await find(say(TRIAL));
    const [name] = await readdir(path.join(storage, 'trials'));
    for (const text of ['{"attention"', '{"attention":"none"}']) {
      await writeFile(path.join(storage, 'trials', name as string), text);
      await expect(find(say(TRIAL))).resolves.toEqual(TRIAL);
    }
    expect(await asked()).toHaveLength(3);
  });
});

describe.skipIf(whyNoSoftwareVulkan)(`WebGPU on SwiftShader${whyNoSoftwareVulkan ? ` (${whyNoSoftwareVulkan})` : ''}`, () => {
  let storage: string;
  let probe: DeviceProbe;
  beforeAll(async () => {
    useSoftwareVulkan();
    storage = await mkdtemp(path.join(tmpdir(), 'device-trials-'));
    // As on a machine with a GPU, where it would be tried without being asked for.
    probe = { ...machineProbe(process.env), findDriver: async () => false, hasCard: async () => false, hasDisplay: async () => true };
  });
  afterAll(() => rm(storage, { recursive: true, force: true }));

  /** A model of this machine, and the states on its way. */
  async function withModel<T>(device: 'auto' | 'webgpu', use: (model: LocalModels, states: readonly LocalModelState[]) => Promise<T>): Promise<T> {
    const states: LocalModelState[] = [];
    const models = new LocalModels({
      storage, probe, script: MODEL_PROCESS, idleMs: TIMEOUT_MS,
      settings: async () => ({ device, precision: 'full', adapters: false }),
      confirmCuda: async () => undefined,
      onState: (state) => { states.push(state); },
    });
    try {
      return await use(models, states);
    } finally {
      await models.close();
    }
  }

  const model = modelFolder('qwen2-tiny');
  const signal = new AbortController().signal;

  it('is tried before the first use: fused attention fails, plain operations write and train as the CPU does, and it is not taken, being slower', async () => {
    await withModel('auto', async (models, states) => {
      const { device, deviceReasons } = await models.load(model, signal);
      expect(device).toBe('cpu');
      expect(deviceReasons[0]).toMatch(/^.+ writes more slowly by WebGPU than the CPU \([\d.]+ tokens a second, the CPU [\d.]+\), so the model runs on the CPU\.$/);
      const fractions = states.filter(({ phase }) => phase === 'trying').map(({ fraction }) => fraction);
      expect(fractions.length).toBeGreaterThan(5);
    });
    const kept = await keptTrial(storage, 'webgpu', (await probe.gpuDrivers())!);
    console.info(JSON.stringify(kept));
    expect(kept).toMatchObject({ attention: 'plain', hasFloat16: false, failures: {} });
    const { accelerator } = await measureMemory({ storage, probe }, { device: 'auto' });
    expect(accelerator).toBeUndefined();
  }, TIMEOUT_MS);

  it('is taken where it is asked for by name, and writes what the CPU writes', async () => {
    const ask = { prompts: [[5, 6, 7, 8]], samples: 1, maxTokens: 6, temperature: 1, seeds: [3] };
    const [there, device] = await withModel('webgpu', async (models, states) => {
      const { device: found } = await models.load(model, signal);
      expect(states.some(({ phase }) => phase === 'trying')).toBe(false);
      return [await models.model(model).generate(ask), found] as const;
    });
    expect(device).toBe('webgpu');
    const here = await withModel('auto', (models) => models.model(model).generate(ask));
    expect(there.map(({ tokens }) => tokens)).toEqual(here.map(({ tokens }) => tokens));
  }, TIMEOUT_MS);
});
