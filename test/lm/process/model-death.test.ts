import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cudaEnvironment } from '../../../backend/lm/device/cuda-libraries.ts';
import type { DeviceChoice } from '../../../backend/lm/device/choose-device.ts';
import { ModelDiedError } from '../../../backend/lm/process/errors.ts';
import { modelClients, seeds } from './model-clients.ts';
import { MODEL_PROCESS } from './model-process-script.ts';

const open = modelClients();
let folder: string;
beforeEach(async () => { folder = await mkdtemp(path.join(tmpdir(), 'conductor-death-')); });
afterEach(() => rm(folder, { recursive: true, force: true }));

const GENERATION = { prompts: [[1], [2]], samples: 8, seeds: seeds(16), maxTokens: 1_000, temperature: 1 };

describe('a process that dies', () => {
  it.each(['SIGKILL', 'SIGABRT'] as const)('by %s tells its request, and those behind it are answered', async (signal) => {
    const { client } = open();
    const first = Promise.withResolvers<void>();
    const death = client.generate({ ...GENERATION, onTokens: () => first.resolve() }).catch((error: unknown) => error);
    const behind = [1, 2, 3].map(() => client.score({ sequences: [[1, 2, 3]], promptLengths: [1] }));
    await first.promise;
    const { pid } = client;
    process.kill(pid as number, signal);
    const scores = await Promise.all(behind);
    expect(scores[0]?.[0]).toHaveLength(2);
    expect(scores[1]).toEqual(scores[0]);
    expect(await death).toBeInstanceOf(ModelDiedError);
    expect(await death).toMatchObject({ signal, retryable: true, message: expect.stringContaining(signal) });
    expect(client.pid).not.toBe(pid);
    expect(await client.generate({ ...GENERATION, maxTokens: 5 })).toHaveLength(16);
  });

  it('while nobody asks is started again by the next request', async () => {
    const { client, until } = open();
    await client.describe();
    process.kill(client.pid as number, 'SIGKILL');
    await until(({ state }) => state === 'unloaded');
    await expect(client.describe()).resolves.toMatchObject({ name: 'qwen2-tiny' });
  });

  it('three times while it loads is not started again at once, and says so with its last words', async () => {
    const script = path.join(folder, 'crashes.mjs');
    const log = path.join(folder, 'starts');
    await writeFile(script, `
      import { appendFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(log)}, 'x');
      process.stderr.write('terminate called after throwing');
      process.on('message', () => process.abort());`);
    const { client } = open('qwen2-tiny', { script });
    const death = await client.describe().catch((error: unknown) => error);
    expect(death).toBeInstanceOf(ModelDiedError);
    expect(death).toMatchObject({ retryable: false, signal: 'SIGABRT', lastOutput: expect.stringContaining('terminate called') });
    expect((death as Error).message).toMatch(/died 3 times within a minute while it loaded \(SIGABRT\)/);
    await expect(client.score({ sequences: [[1, 2]], promptLengths: [1] })).rejects.toMatchObject({ retryable: false });
    await expect(readFile(log, 'utf8')).resolves.toBe('xxx');
    expect(client.status).toEqual({ state: 'unloaded' });
  });

  it('once while it loads is started again before anybody is told', async () => {
    const script = path.join(folder, 'crashes-once.mjs');
    await writeFile(script, `
      import { existsSync, writeFileSync } from 'node:fs';
      if (existsSync(${JSON.stringify(path.join(folder, 'done'))})) await import(${JSON.stringify(MODEL_PROCESS)});
      else {
        writeFileSync(${JSON.stringify(path.join(folder, 'done'))}, '');
        process.on('message', () => process.exit(1));
      }`);
    const { client } = open('qwen2-tiny', { script });
    await expect(client.describe()).resolves.toMatchObject({ name: 'qwen2-tiny' });
  });

  it('by nonsense it sends is killed and told like any other death', async () => {
    const script = path.join(folder, 'babbles.mjs');
    await writeFile(script, "process.on('message', ({ id }) => process.send({ type: 'result', id, value: { name: 7 } }));");
    const { client } = open('qwen2-tiny', { script });
    const death = await client.describe().catch((error: unknown) => error);
    expect(death).toMatchObject({ name: 'ModelDiedError', signal: 'SIGKILL' });
    expect((death as ModelDiedError).lastOutput).toContain('invalid message');
  });
});

describe('CUDA that fails when the model is opened', () => {
  /** A GPU that is there by all that was asked, and libraries that are not. */
  const chooseCuda = async (): Promise<DeviceChoice> => ({
    device: 'cuda',
    memoryBytes: 8e9,
    environment: (base) => cudaEnvironment(folder, { uuid: 'GPU-00000000' }, base),
    reasons: [],
  });

  it.each(['auto', 'cuda'] as const)('is replaced by the CPU with its reason where the user wanted %s', async (device) => {
    const { client } = open('qwen2-tiny', { settings: { device }, chooseDevice: chooseCuda });
    const description = await client.describe();
    expect(description.device).toBe('cpu');
    expect(description.deviceReasons).toHaveLength(1);
    expect(description.deviceReasons[0]).toMatch(/CUDA/);
    await expect(client.score({ sequences: [[1, 2]], promptLengths: [1] })).resolves.toHaveLength(1);
  });

  it('is not blamed for a model that is damaged', async () => {
    const { client } = open('qwen2-tiny', { settings: { folder }, chooseDevice: chooseCuda });
    await expect(client.describe()).rejects.toMatchObject({ name: 'CheckpointError' });
  });
});

describe("the model's process", () => {
  it('ends when its backend is killed in the middle of a generation', async () => {
    const program = fileURLToPath(new URL('programs/killed-backend.ts', import.meta.url));
    const backend = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [pidText] = await once(backend.stdout.setEncoding('utf8'), 'data') as [string];
    const pid = Number(pidText);
    expect(() => process.kill(pid, 0)).not.toThrow();
    const closed = once(backend, 'close');
    backend.kill('SIGKILL');
    await closed;
    // It is nobody's child now, so its end sends no event.
    await expect.poll(() => isGone(pid), { timeout: 20_000 }).toBe(true);
  });

  it('is told nothing of the environment but what it needs', async () => {
    const script = path.join(folder, 'tells.mjs');
    await writeFile(script, `
      process.on('message', ({ id }) => {
        const message = JSON.stringify(process.env);
        process.send({ type: 'error', id, error: { name: 'ModelRequestError', message, data: {} } });
      });`);
    const environment = { PATH: '/bin', OPENAI_API_KEY: 'secret', ORT_DISABLE_TELEMETRY: '0', CUDA_VISIBLE_DEVICES: '1' };
    const { client } = open('qwen2-tiny', { script, environment });
    const { message } = await client.describe().catch((error: unknown) => error) as Error;
    expect(JSON.parse(message)).toEqual({
      PATH: '/bin', CUDA_VISIBLE_DEVICES: '1', ORT_DISABLE_TELEMETRY: '1', ELECTRON_RUN_AS_NODE: '1',
    });
  });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
