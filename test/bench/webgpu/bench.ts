import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import type { DeviceChoice } from '../../../backend/lm/device/choose-device.ts';
import { ONNXRUNTIME_VERSION } from '../../../backend/lm/device/cuda-files.ts';
import { machineProbe } from '../../../backend/lm/device/device-probe.ts';
import type { DeviceTrial } from '../../../backend/lm/device/device-trial.ts';
import type { Precision } from '../../../backend/lm/language-model.ts';
import { findTrial } from '../../../backend/lm/process/device-trials.ts';
import { ModelClient } from '../../../backend/lm/process/model-client.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { ensureCheckpoint } from '../decode/checkpoint.ts';
import { ensureGguf } from '../decode/gguf-models.ts';
import { Peer } from '../decode/peer.ts';

/*
 * How fast this machine writes by WebGPU, on the CPU, and with llama.cpp's Vulkan build where it is installed:
 *     npm run bench -- webgpu [--model FOLDER] [--precisions full,8-bit,4-bit] [--prompt 256] [--tokens 64] [--cache FOLDER] [--without-llama]
 * Without a model: random weights with the geometry of Qwen2.5-0.5B. See README.md.
 */

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    precisions: { type: 'string', default: 'full,8-bit,4-bit' },
    prompt: { type: 'string', default: '256' },
    tokens: { type: 'string', default: '64' },
    cache: { type: 'string', default: path.join(os.homedir(), '.cache', 'conductor-bench') },
    'without-llama': { type: 'boolean', default: false },
  },
});
const cache = path.resolve(values.cache);
const [promptTokens, newTokens] = [Number(values.prompt), Number(values.tokens)];
const script = fileURLToPath(new URL('../../../backend/model-process.ts', import.meta.url));
const llama = fileURLToPath(new URL('node_modules/node-llama-cpp/dist/index.js', import.meta.url));
const ROUNDS = 3;

interface Speed {
  /** Seconds until the first token. */
  readonly firstSeconds: number;
  readonly tokensPerSecond: number;
}

const drivers = await machineProbe(process.env).gpuDrivers();
const [cpu] = os.cpus();
console.log(`Date: ${new Date().toISOString().slice(0, 10)}`);
console.log(`System: ${os.type()} ${os.release()} ${os.arch()}, ${cpu?.model} (${os.cpus().length} threads), ${(os.totalmem() / 2 ** 30).toFixed(0)} GB`);
console.log(`GPU: ${drivers?.name ?? 'none'}`);
console.log(`Drivers: ${drivers?.versions.join('; ') ?? 'none'}`);
console.log(`onnxruntime: ${ONNXRUNTIME_VERSION}`);
if (!drivers) {
  console.log('No driver for WebGPU was found: install the Vulkan driver of your GPU, then run this again.');
  process.exit(1);
}
const trial = await tried();
console.log(`Trial: ${JSON.stringify(trial)}`);

const folder = values.model === undefined ? await ensureCheckpoint(cache) : path.resolve(values.model);
const { config } = await openCheckpoint(folder);
const prompt = Array.from({ length: promptTokens }, (_, place) => 1 + ((31 * place + 7 * place * place) % (config.vocabularySize - 1)));
console.log(`Model: ${path.basename(folder)}; ${promptTokens} tokens in, ${newTokens} out, the best of ${ROUNDS}\n`);

const cells = (speed: Speed | string): string => (typeof speed === 'string' ? `${speed} | ` : `${speed.firstSeconds.toFixed(2)} | ${speed.tokensPerSecond.toPrecision(3)}`);
console.log('| weights | CPU: first token, s | tokens/s | WebGPU: first token, s | tokens/s | WebGPU to CPU | llama.cpp, Vulkan: first token, s | tokens/s |');
console.log('|---|---:|---:|---:|---:|---:|---:|---:|');
for (const precision of values.precisions.split(',') as Precision[]) {
  const onCpu = await speedOf(precision, { device: 'cpu', reasons: [] });
  const onGpu = await speedOf(precision, {
    device: 'webgpu', memoryBytes: os.totalmem(), environment: (base) => base, traits: { attention: trial.attention, hasFloat16: trial.hasFloat16 }, reasons: [],
  });
  const ratio = typeof onCpu === 'string' || typeof onGpu === 'string' ? '' : (onGpu.tokensPerSecond / onCpu.tokensPerSecond).toPrecision(2);
  console.log(`| ${precision} | ${cells(onCpu)} | ${cells(onGpu)} | ${ratio} | ${cells(await speedOfLlama(precision))} |`);
}

/** Ends the benchmark where the device cannot be tried or computes wrongly. */
async function tried(): Promise<DeviceTrial> {
  try {
    const found = await findTrial({ storage: cache, script, device: 'webgpu', drivers: drivers!, signal: new AbortController().signal });
    if (found.failures.full === undefined) return found;
    console.log(`Trial: ${JSON.stringify(found)}\nThe GPU does not compute as the CPU does, so it is not measured; please send these lines.`);
  } catch (error) {
    console.log(`${error instanceof Error ? error.message : String(error)}\nPlease send these lines.`);
  }
  process.exit(1);
}

async function speedOf(precision: Precision, choice: DeviceChoice): Promise<Speed | string> {
  const client = new ModelClient({ settings: { folder, device: choice.device, precision, adapters: false, storage: cache }, script, idleMs: 2 ** 31 - 1, chooseDevice: async () => choice });
  const write = async (maxTokens: number) => {
    const begun = performance.now();
    const [row] = await client.generate({ prompts: [prompt], samples: 1, maxTokens, temperature: 1, seeds: [1] });
    return { seconds: (performance.now() - begun) / 1000, tokens: row?.tokens.length ?? 0 };
  };
  try {
    const { device, deviceReasons } = await client.describe();
    if (device !== choice.device) return `not on it: ${deviceReasons.at(-1)}`;
    const { tokens } = await write(newTokens);
    if (tokens < newTokens) return `the model ends after ${tokens} tokens: take fewer, or another model`;
    return await bestOf(async () => {
      const first = await write(1);
      return { firstSeconds: first.seconds, tokensPerSecond: (newTokens - 1) / ((await write(newTokens)).seconds - first.seconds) };
    });
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200);
  } finally {
    await client.close();
  }
}

async function speedOfLlama(precision: Precision): Promise<Speed | string> {
  if (values['without-llama']) return 'left out';
  if (!existsSync(llama)) return 'not installed: npm ci --prefix test/bench/webgpu';
  if (values.model !== undefined) return 'measured with random weights only';
  if (precision === '8-bit') return 'left out';
  const quantized = precision === '4-bit'
    ? (await openQuantized(await openCheckpoint(folder), { bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage: cache, signal: new AbortController().signal })).tensors
    : undefined;
  const model = await ensureGguf(folder, cache, quantized);
  let peer: Peer | undefined;
  try {
    peer = await Peer.start({
      name: 'llama.cpp', command: process.execPath,
      args: [
        fileURLToPath(new URL('../decode/peers/llama-cpp.ts', import.meta.url)), '--vulkan', pathToFileURL(llama).href, '--model', model,
        '--threads', String(os.availableParallelism()), '--context', String(promptTokens + newTokens + 8), '--sequences', '1',
      ],
    });
    process.stderr.write(`${peer.ready.version}\n`);
    const started = peer;
    await started.generate([prompt], 2);
    return await bestOf(async () => {
      const { firstTokenSeconds, fromTokens, fromSeconds, endSeconds } = await started.generate([prompt], newTokens);
      return { firstSeconds: firstTokenSeconds, tokensPerSecond: (newTokens - fromTokens) / (endSeconds - fromSeconds) };
    });
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200);
  } finally {
    await peer?.stop();
  }
}

async function bestOf(measure: () => Promise<Speed>): Promise<Speed> {
  let best: Speed = { firstSeconds: Infinity, tokensPerSecond: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { firstSeconds, tokensPerSecond } = await measure();
    best = { firstSeconds: Math.min(best.firstSeconds, firstSeconds), tokensPerSecond: Math.max(best.tokensPerSecond, tokensPerSecond) };
  }
  return best;
}
