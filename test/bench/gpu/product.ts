import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import { machineProbe } from '../../../backend/lm/device/device-probe.ts';
import type { ModelSettings } from '../../../backend/lm/language-model.ts';
import { memoryOf } from '../../../backend/lm/model-memory.ts';
import { ModelClient } from '../../../backend/lm/process/model-client.ts';
import { planDevice } from '../../../backend/lm/process/plan-device.ts';
import { workerConfigSchema } from '../../../backend/protocol/worker-config.ts';
import { randomNumbers } from '../decode/random.ts';
import { heldBytes } from './memory.ts';
import { ensureModel } from './models.ts';

/*
 * The product's own way to a model on the GPU: the probe of the machine, the choice of the device, a process of its own with the libraries in
 * its environment, requests over its channel:
 *     product.ts --device cuda|cpu --cache FOLDER [--model 0.5b]
 * Only the download of the libraries is left out: CONDUCTOR_CUDA is the folder that it would have filled.
 */

const { values } = parseArgs({
  options: { device: { type: 'string', default: 'cuda' }, cache: { type: 'string', default: os.tmpdir() }, model: { type: 'string', default: '0.5b' } },
});
const wanted = values.device === 'cpu' ? 'cpu' : 'cuda';
const script = fileURLToPath(new URL('../../../backend/model-process.ts', import.meta.url));
const MINI = fileURLToPath(new URL('../../../media/conductor-mini', import.meta.url));
const WORKERS = ['a careful programmer', 'a quick one', 'one who knows SQL'].map((description, index) =>
  workerConfigSchema.parse({ id: `worker-${index}`, provider: 'openai', model: `model-${index}`, description }));
const QUESTIONS = ['Write a function that adds two numbers.', 'Why does this loop never end?', 'Name the tables that this query locks.'];
const storage = await mkdtemp(path.join(os.tmpdir(), 'conductor-gpu-product-'));
const { signal } = new AbortController();
let failed = false;

try {
  await part('conductor-mini writes plans', writesPlans);
  await part(`memory of the ${values.model} model against the estimate before loading`, memory);
  await part('a cancelled text ends and the next one is written', cancels);
} finally {
  await rm(storage, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function part(name: string, run: () => Promise<string>): Promise<void> {
  try {
    console.log(`PASS  ${name}: ${await run()}`);
  } catch (error) {
    failed = true;
    console.log(`FAIL  ${name}: ${error instanceof Error ? `${error.name}: ${error.message}`.replaceAll(/\s+/g, ' ').slice(0, 600) : String(error)}`);
  }
}

function client(settings: Omit<ModelSettings, 'adapters' | 'storage'>): ModelClient {
  return new ModelClient({
    settings: { ...settings, adapters: true, storage }, script, idleMs: 2 ** 31 - 1,
    chooseDevice: (asked) => planDevice(asked, {
      probe: machineProbe(process.env),
      cudaLibraries: () => Promise.resolve(path.resolve(process.env['CONDUCTOR_CUDA'] ?? '.')),
      trial: () => Promise.reject(new DeviceError('untried', 'Only CUDA is meant here.')),
    }),
  });
}

async function withModel<T>(settings: Omit<ModelSettings, 'adapters' | 'storage'>, use: (model: ModelClient) => Promise<T>): Promise<T> {
  const model = client(settings);
  try {
    const { device, deviceReasons } = await model.describe();
    if (device !== settings.device) throw new Error(`The product chose the ${device}: ${deviceReasons.join(' ')}`);
    return await use(model);
  } finally {
    await model.close();
  }
}

async function writesPlans(): Promise<string> {
  const planner = MINI_PLANNER;
  const profile = PROMPT_PROFILES[planner.promptProfile as 'mini'];
  const write = (device: 'cpu' | 'cuda', temperature: number) => withModel({ folder: MINI, device, precision: 'full' }, async (model) => {
    const started = performance.now();
    const texts = [];
    for (const question of QUESTIONS) {
      const { messages, prefill } = conductorPrompt({ question, context: '', pool: WORKERS, rounds: [] }, profile);
      texts.push(...await model.write({
        messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: 8, seeds: [1, 2, 3, 4, 5, 6, 7, 8], maxTokens: 256, temperature,
      }));
    }
    return { texts, seconds: (performance.now() - started) / 1000 };
  });
  const there = await write(wanted, 0);
  const here = await write('cpu', 0);
  const same = there.texts.filter(({ text }, at) => text === here.texts[at]?.text).length;
  const drawn = await write(wanted, 1);
  const again = await write(wanted, 1);
  const repeated = drawn.texts.filter(({ text }, at) => text === again.texts[at]?.text).length;
  const plans = drawn.texts.filter(({ text, finishReason }) =>
    parsePlan(text, { workerCount: WORKERS.length, round: 0, truncated: finishReason === 'length' }).kind === 'plan').length;
  const count = there.texts.length;
  // A GPU computes in the type of the weights, bfloat16, and a CPU in float32: texts may part where two tokens are nearly as likely.
  const told = `${repeated} of ${count} drawn texts repeated by their seeds, ${plans} of them plans; ${same} of ${count} most likely texts equal the CPU's; ` +
    `${there.seconds.toFixed(1)} s against ${here.seconds.toFixed(1)} s on the CPU`;
  if (repeated < count || plans < count / 2) throw new Error(told);
  return told;
}

async function memory(): Promise<string> {
  const folder = await ensureModel(values.model as '0.5b', values.cache);
  const checkpoint = await openCheckpoint(folder);
  const lines: string[] = [];
  for (const precision of ['full', '8-bit', '4-bit'] as const) {
    const contextLength = 4096;
    const plan = memoryOf(checkpoint, { precision, contextLength, adapters: true }, wanted);
    const before = heldBytes(wanted);
    const began = performance.now();
    await withModel({ folder, device: wanted, precision, contextLength }, async (model) => {
      const loaded = (performance.now() - began) / 1000;
      const idle = heldBytes(wanted) - before;
      const random = randomNumbers(3);
      const prompt = Array.from({ length: 3_072 }, () => Math.floor(random() * checkpoint.config.vocabularySize));
      await model.generate({ prompts: [prompt], samples: 1, maxTokens: 64, temperature: 1, seeds: [1] });
      const used = heldBytes(wanted) - before;
      const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
      lines.push(`${precision} ${megabytes(plan.totalBytes)} MB estimated, ${megabytes(idle)} loaded (${loaded.toFixed(1)} s), ${megabytes(used)} used`);
    });
  }
  return lines.join('; ');
}

async function cancels(): Promise<string> {
  const folder = await ensureModel(values.model as '0.5b', values.cache);
  return withModel({ folder, device: wanted, precision: 'full', contextLength: 4096 }, async (model) => {
    const ask = (maxTokens: number, cancel?: AbortSignal) =>
      model.generate({ prompts: [[1, 2, 3]], samples: 1, maxTokens, temperature: 1, seeds: [1], signal: cancel ?? signal });
    await ask(8);
    const cancelling = new AbortController();
    const asked = ask(3_000, cancelling.signal);
    setTimeout(() => cancelling.abort(new Error('cancelled')), 300);
    const began = performance.now();
    await asked.then(() => { throw new Error('It was not cancelled.'); }, (error: unknown) => {
      if (!(error instanceof Error) || error.message !== 'cancelled') throw error;
    });
    const after = performance.now() - began - 300;
    const [row] = await ask(8);
    if (row?.tokens.length !== 8) throw new Error('The next text is missing.');
    return `${Math.max(0, after).toFixed(0)} ms after the cancel`;
  });
}
