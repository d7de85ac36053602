import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { randomNumbers } from '../decode/random.ts';
import { ensureModel, isModelName, type ModelName, MODELS } from './models.ts';
import {
  type Case, caseName, type Continuing, continuingTable, type Inside, insideTable, type Measured, type Precision, type Sizes, speedTable,
  stepBytes,
} from './report.ts';
import type { Answer, Bandwidth, Profiled } from './requests.ts';
import { Side } from './side.ts';

/*
 * Ours against PyTorch's `generate` on the same random weights, in turn:
 *     bench.ts --device cuda|cpu --out FOLDER --cache FOLDER [--models 0.5b,7b] [--precisions bf16,4-bit] [--batches 1,64] [--prompt 512]
 *              [--new-tokens 128] [--rounds 2] [--peer-caches dynamic,static] [--compile] [--four-bit-compute float16] [--limit MINUTES]
 *              [--python PATH] [--no-peer] [--no-profile] [--quick] [--adapters] [--repack]
 * --adapters opens ours so that requests may name an adapter; --repack lets onnxruntime repack weights on the GPU too, which it needs for
 * its own products of 4-bit weights (ORT_FPA_INTB_GEMM=1 in the environment).
 * What is left when the limit has passed is left out and named.
 */

const { values } = parseArgs({
  options: {
    'device': { type: 'string', default: 'cuda' },
    'out': { type: 'string', default: '.' },
    'cache': { type: 'string', default: path.join(os.tmpdir(), 'conductor-gpu-bench') },
    'models': { type: 'string', default: '0.5b,7b' },
    'precisions': { type: 'string', default: 'bf16,4-bit' },
    'batches': { type: 'string', default: '1,64' },
    'prompt': { type: 'string' },
    'new-tokens': { type: 'string' },
    'rounds': { type: 'string' },
    'peer-caches': { type: 'string', default: 'dynamic,static' },
    'compile': { type: 'boolean', default: false },
    'four-bit-compute': { type: 'string', default: 'float16' },
    'limit': { type: 'string', default: '9' },
    'python': { type: 'string', default: 'python3' },
    'no-peer': { type: 'boolean', default: false },
    'no-profile': { type: 'boolean', default: false },
    'quick': { type: 'boolean', default: false },
    'adapters': { type: 'boolean', default: false },
    'repack': { type: 'boolean', default: false },
  },
});
const device = values.device === 'cpu' ? 'cpu' : 'cuda';
const sizes: Sizes = {
  promptTokens: Number(values.prompt ?? (values.quick ? 128 : 512)),
  newTokens: Number(values['new-tokens'] ?? (values.quick ? 16 : 128)),
};
const rounds = Number(values.rounds ?? (values.quick ? 1 : 2));
const CONTEXT_STEP = 64;
const PROFILED_TOKENS = 16;
const CHUNKS = 4;
/** Enough that no cache holds it. */
const READ_BYTES = device === 'cuda' ? 4e9 : 1e9;
const deadline = performance.now() + 60_000 * Number(values.limit);

const measured: Measured[] = [];
const continuing: Continuing[] = [];
const inside: Inside[] = [];
const notes: string[] = [];
let bandwidth: Bandwidth | undefined;

const out = path.resolve(values.out);
await mkdir(out, { recursive: true });
for (const model of values.models.split(',')) {
  if (!isModelName(model)) throw new Error(`There is no model '${model}': choose of ${Object.keys(MODELS).join(', ')}.`);
  await step(`the ${model} model`, () => measureModel(model));
  await writeResults();
}
console.log(`\n${await writeResults()}`);

/** One part; if it fails, or there is no time for it, it is noted and the rest goes on. */
async function step<T>(what: string, run: () => Promise<T>): Promise<T | undefined> {
  if (performance.now() > deadline) {
    notes.push(`Left out for lack of time: ${what}.`);
    return undefined;
  }
  try {
    return await run();
  } catch (error) {
    const said = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').slice(0, 300) : String(error);
    notes.push(`${what} failed: ${said}`);
    console.error(`${what} failed: ${said}`);
    return undefined;
  }
}

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await run();
  note(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

function note(text: string): void {
  notes.push(text);
  console.log(text);
}

function cases(): Case[] {
  return values.batches.split(',').map(Number).flatMap((batch): Case[] =>
    (batch === 1 ? [{ prompts: 1, samples: 1 }] : [{ prompts: 1, samples: batch }, { prompts: batch, samples: 1 }]));
}

async function measureModel(model: ModelName): Promise<void> {
  const folder = await timed(`${model}: writing random weights`, () => ensureModel(model, values.cache));
  const peer = values['no-peer'] ? undefined : await step(`${model}: transformers`, () => Side.start('transformers', values.python, [
    path.join(import.meta.dirname, 'transformers_peer.py'), '--model', folder, '--device', device, ...(values.compile ? ['--compile'] : []),
  ]));
  try {
    if (peer) {
      note(`${model} transformers: ${peer.loaded.version}, loaded in ${peer.loaded.loadSeconds.toFixed(1)} s`);
      bandwidth ??= await peer.ask<Bandwidth>({ kind: 'bandwidth', bytes: READ_BYTES });
    }
    for (const [index, precision] of (values.precisions.split(',') as Precision[]).entries()) {
      await step(`${model} ${precision}`, () => measurePrecision(model, precision, folder, index === 0 ? peer : undefined));
    }
  } finally {
    await peer?.stop();
  }
}

async function measurePrecision(model: ModelName, precision: Precision, folder: string, peer: Side | undefined): Promise<void> {
  const args = await oursArguments(model, precision, folder);
  const ours = await Side.start('ours', process.execPath, args);
  try {
    const { version, loadSeconds, weightsHeldBytes = 0 } = ours.loaded;
    note(`${model} ${precision} ours: ${version}, loaded in ${loadSeconds.toFixed(1)} s, ${(weightsHeldBytes / 1e9).toFixed(1)} GB held`);
    for (const which of cases()) {
      await step(`${model} ${precision} ${caseName(which)}`, () => measureCase(model, precision, which, ours, peer));
    }
    for (const prompts of new Set(values.batches.split(',').map(Number))) {
      const which = { prompts, samples: 1 };
      await step(`${model} ${precision} ${caseName(which)}: going on`, () => measureContinuing(model, precision, which, ours));
    }
  } finally {
    await ours.stop();
  }
  if (!values['no-profile']) await step(`${model} ${precision}: profile`, () => profile(model, precision, args));
}

async function oursArguments(model: ModelName, precision: Precision, folder: string): Promise<string[]> {
  const storage = path.join(values.cache, 'storage');
  if (precision === '4-bit') await timed(`${model}: quantising`, async () => quantize(folder, storage));
  const compute = device === 'cpu' ? 'float32' : precision === '4-bit' ? values['four-bit-compute'] : 'bfloat16';
  const context = Math.ceil((2 * sizes.promptTokens + sizes.newTokens) / CONTEXT_STEP) * CONTEXT_STEP;
  return [
    path.join(import.meta.dirname, 'ours.ts'), '--model', folder, '--device', device, '--compute', compute, '--context', String(context),
    ...(precision === '4-bit' ? ['--quantized-in', storage] : []),
    ...(values.adapters ? ['--adapters'] : []), ...(values.repack ? ['--repack'] : []),
  ];
}

async function quantize(folder: string, storage: string): Promise<void> {
  const { signal } = new AbortController();
  await openQuantized(await openCheckpoint(folder), { bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage, signal });
}

interface Contender {
  readonly name: string;
  readonly ask: (newTokens: number, seed: number) => Promise<Answer>;
}

async function measureCase(model: ModelName, precision: Precision, which: Case, ours: Side, peer: Side | undefined): Promise<void> {
  const { samples } = which;
  const request = (newTokens: number, seed: number) => ({ kind: 'generate', prompts: prompts(model, which, seed), samples, newTokens }) as const;
  const contenders: Contender[] = [{ name: 'ours', ask: (newTokens, seed) => ours.ask<Answer>(request(newTokens, seed)) }];
  for (const cache of peer ? (values['peer-caches'].split(',') as ('dynamic' | 'static')[]) : []) {
    contenders.push({
      name: `transformers, ${cache} cache`,
      ask: (newTokens, seed) => (peer as Side).ask<Answer>({ ...request(newTokens, seed), cache }),
    });
  }
  const best = new Map<string, { first: number; all: number; last: Answer; failure?: string | undefined }>();
  // The first round warms up: libraries choose their kernels, memory is taken.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, ask } of contenders) {
      if (best.get(name)?.failure) continue;
      const first = await ask(1, 2 * round);
      const last = first.failure ? first : await ask(sizes.newTokens, 2 * round + 1);
      if (round === 0 && !last.failure) continue;
      const known = best.get(name);
      best.set(name, {
        first: Math.min(known?.first ?? Infinity, first.seconds), all: Math.min(known?.all ?? Infinity, last.seconds),
        last, failure: last.failure,
      });
    }
  }
  const fastest = bandwidth && Math.max(bandwidth.copyBytesPerSecond, bandwidth.readBytesPerSecond);
  const limitSeconds = fastest && stepBytes(model, precision, which, sizes) / fastest;
  for (const [side, { first, all, last, failure }] of best) {
    const stepSeconds = (all - first) / (sizes.newTokens - 1);
    const { fedBytes, fetchedBytes = 0, heldBytes, tokens } = last;
    const one: Measured = {
      model, precision, which, side, stepSeconds, prefillSeconds: first - stepSeconds, limitSeconds, heldBytes, failure,
      bytesPerToken: fedBytes === undefined ? undefined : (fedBytes + fetchedBytes) / tokens,
    };
    measured.push(one);
    const times = `${(1000 * stepSeconds).toFixed(2)} ms a step, prompts in ${one.prefillSeconds.toFixed(3)} s`;
    console.log(`  ${model} ${precision} ${caseName(which)} ${side}: ${failure ?? times}`);
  }
}

/** Both ways after the same number of chunks; the second by the time that reading a prompt of the middle length takes. */
async function measureContinuing(model: ModelName, precision: Precision, which: Case, ours: Side): Promise<void> {
  const ask = (tokens: number, newTokens: number, chunkTokens: number): Promise<Answer> => ours.ask<Answer>({
    kind: 'generate', prompts: prompts(model, which, 99, tokens), samples: 1, newTokens, chunkTokens,
  });
  const { promptTokens, newTokens } = sizes;
  const middle = promptTokens + Math.floor(newTokens / 2);
  await ask(promptTokens, newTokens, Math.ceil(newTokens / CHUNKS));
  const inOne = await ask(promptTokens, newTokens, newTokens);
  const inChunks = await ask(promptTokens, newTokens, Math.ceil(newTokens / CHUNKS));
  const again = await ask(middle, 1, 1);
  const carrySeconds = (inChunks.seconds - inOne.seconds) / (CHUNKS - 1);
  continuing.push({ model, precision, which, carrySeconds, againSeconds: again.seconds });
}

async function profile(model: ModelName, precision: Precision, args: readonly string[]): Promise<void> {
  const side = await Side.start('ours, profiled', process.execPath, [...args, '--profile-in', values.cache]);
  try {
    const asked = prompts(model, { prompts: 1, samples: 1 }, 7);
    inside.push({ model, precision, profile: await side.ask<Profiled>({ kind: 'profile', prompts: asked, newTokens: PROFILED_TOKENS }) });
  } finally {
    await side.stop();
  }
}

function prompts(model: ModelName, which: Case, seed: number, length = sizes.promptTokens): number[][] {
  const random = randomNumbers(1000 * seed + length);
  return Array.from({ length: which.prompts }, () => Array.from({ length }, () => Math.floor(random() * MODELS[model].vocab_size)));
}

/** After each model, so that what was measured is there even if the rest is cut off. @returns the Markdown. */
async function writeResults(): Promise<string> {
  const pace = (bytesPerSecond: number): string => `${(bytesPerSecond / 1e9).toFixed(0)} GB/s`;
  const memory = bandwidth && ` Memory: ${pace(bandwidth.readBytesPerSecond)} read, ${pace(bandwidth.copyBytesPerSecond)} copied (read and written).`;
  const text = [
    `${sizes.promptTokens} tokens in, ${sizes.newTokens} new ones, best of ${rounds} rounds.${memory ?? ''}`,
    speedTable(measured, sizes),
    continuingTable(continuing),
    insideTable(inside),
    notes.map((line) => `- ${line}`).join('\n'),
  ].join('\n\n');
  await writeFile(path.join(out, 'bench.md'), `${text}\n`);
  await writeFile(path.join(out, 'bench.json'), JSON.stringify({ sizes, rounds, bandwidth, measured, continuing, inside, notes }, null, 2));
  return text;
}
