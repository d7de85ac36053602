import { existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ModelSettings } from '../../../backend/lm/language-model.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { perplexity, perplexityChange } from '../../../backend/lm/quantize/perplexity.ts';
import { type Gguf, readGguf, type Value } from '../../lm/real-model/gguf.ts';
import { downloadSmolLm2, writeModelFolder } from '../../lm/real-model/smollm2.ts';
import { type Metadata, type MetadataValue, writeGguf } from './gguf-writer.ts';
import { Peer } from './peer.ts';
import { randomNumbers } from './random.ts';

/*
 * npm run real-model [-- --tokens N] [--cache FOLDER] [--noise] [--quantized Q4_0=FILE.gguf,…]
 * SmolLM2-135M-Instruct with our runtime and with llama.cpp: how well each knows a text, in all its precisions, and whether both write the
 * same tokens. With `--noise`, its weights are first moved off the levels of Q4_1, as if they had never been rounded. Further GGUF files of
 * the same weights are those that quantize_gguf.py makes of the one in float32.
 */

const userCache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '4096' }, noise: { type: 'boolean', default: false }, quantized: { type: 'string', default: '' },
    cache: { type: 'string', default: path.join(userCache, 'conductor-bench', 'smollm2') },
  },
});
/** Tokens that are read as one text. */
const WINDOW = 512;
const NEW_TOKENS = 64;
const modules = path.join(import.meta.dirname, '..', '..', '..', 'node_modules');
/** Texts of strangers, of pinned versions. */
const TEXTS = ['undici', 'zod', 'ws'].map((name) => path.join(modules, name, 'README.md'));
const QUESTIONS = ['What is the capital of France?', 'Write a JavaScript function that adds two numbers.', 'Why is the sky blue? Answer in three sentences.', 'Explain what a binary search does.'];

await mkdir(values.cache, { recursive: true });
const packed = path.join(values.cache, 'smollm2.gguf');
if (!existsSync(packed)) await downloadSmolLm2(values.cache);
const folder = path.join(values.cache, values.noise ? 'noise' : 'float32');
const wide = path.join(values.cache, values.noise ? 'smollm2-noise.gguf' : 'smollm2-f32.gguf');
if (!existsSync(path.join(folder, 'model.safetensors')) || !existsSync(wide)) {
  const weights = values.noise ? withNoise(await readGguf(packed)) : await readGguf(packed);
  await writeModelFolder(weights, folder, 'float32');
  await writeWide(weights, wide);
}
const files: (readonly [name: string, file: string])[] = [
  ['llama.cpp, float32', wide],
  ...(values.noise ? [] : [['llama.cpp, Q4_1 (the package\'s own file)', packed] as const]),
  ...values.quantized.split(',').filter(Boolean).map((entry) => [`llama.cpp, ${entry.split('=')[0]}`, entry.split('=')[1]!] as const),
];

const settings: ModelSettings = { folder, device: 'cpu', precision: 'full', adapters: false, storage: path.join(values.cache, 'storage') };
const openOurs = (precision: ModelSettings['precision']): Promise<LocalModel> =>
  LocalModel.open({ settings: { ...settings, precision }, device: 'cpu', deviceReasons: [], threads: availableParallelism() });
const openTheirs = (file: string): Promise<Peer> => Peer.start({
  name: 'llama.cpp', command: process.execPath,
  args: [path.join(import.meta.dirname, 'peers', 'llama-cpp.ts'), '--model', file, '--threads', String(availableParallelism()), '--context', String(2 * WINDOW), '--sequences', '1'],
});

const full = await openOurs('full');
const { texts, prompts } = await tokens(full);
const count = texts.reduce((sum, text) => sum + text.length - 1, 0);
const reference = await scores(full);
const written = await greedy(full);
await full.close();
console.log(`${count} tokens of ${TEXTS.length} READMEs, in texts of ${WINDOW}\n`);
console.log('| weights | perplexity | against float32, ours |\n| --- | ---: | ---: |');
row('ours, float32', reference);
for (const precision of ['8-bit', '4-bit'] as const) {
  const model = await openOurs(precision);
  row(`ours, ${precision}`, await scores(model));
  await model.close();
}
const sameTokens: string[] = [];
for (const [name, file] of files) {
  const peer = await openTheirs(file);
  row(name, await peer.score(texts));
  const theirs = await Promise.all((await inTurn(prompts, async (prompt) => (await peer.generate([prompt], NEW_TOKENS)).tokens[0] ?? [])));
  sameTokens.push(`${name}: ${written.map((own, index) => `${agreement(own, theirs[index] ?? [])} of ${own.length}`).join(', ')}`);
  await peer.stop();
}
console.log(`\nGreedy tokens equal to ours in float32, for each of ${QUESTIONS.length} questions:\n${sameTokens.join('\n')}`);

function row(name: string, logprobs: readonly (readonly number[])[]): void {
  const { relativeChange, standardError } = perplexityChange(reference, logprobs);
  console.log(`| ${name} | ${perplexity(logprobs).toFixed(3)} | ${(100 * relativeChange).toFixed(2)} % ± ${(100 * standardError).toFixed(2)} |`);
}

async function tokens(model: LocalModel): Promise<{ texts: number[][]; prompts: number[][] }> {
  const texts: number[][] = [];
  for (const file of TEXTS) {
    const { tokenIds } = await model.encode({ messages: [] }, { text: await readFile(file, 'utf8'), ends: false });
    const most = Math.floor(Number(values.tokens) / TEXTS.length / WINDOW);
    for (let at = 0; at + WINDOW <= tokenIds.length && at < most * WINDOW; at += WINDOW) texts.push([...tokenIds.slice(at, at + WINDOW)]);
  }
  const prompts = await inTurn(QUESTIONS, async (content) => {
    const { promptTokenIds } = await model.encode({ messages: [{ role: 'user', content }] }, { text: '', ends: false });
    return [...promptTokenIds];
  });
  return { texts, prompts };
}

async function scores(model: LocalModel): Promise<number[][]> {
  return await inTurn(texts, async (text) => (await model.score({ sequences: [text], promptLengths: [1] }))[0] ?? []);
}

async function greedy(model: LocalModel): Promise<number[][]> {
  return await inTurn(QUESTIONS, async (content) => {
    const [said] = await model.write({ messages: [{ role: 'user', content }], maxTokens: NEW_TOKENS, temperature: 0, samples: 1, seeds: [1] });
    return [...(said?.tokenIds ?? [])];
  });
}

/** How many tokens both begin with. */
function agreement(own: readonly number[], theirs: readonly number[]): number {
  const parted = own.findIndex((token, index) => token !== theirs[index]);
  return parted < 0 ? own.length : parted;
}

async function inTurn<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) done.push(await act(item));
  return done;
}

/** Each projection's weights with Gaussian noise as large as what rounding them to Q4_1 cost: blocks of 32 with 16 levels from the least to the greatest. */
function withNoise({ metadata, names, tensor }: Gguf): Gguf {
  const moved = new Map<string, ReturnType<Gguf['tensor']>>();
  const random = randomNumbers(1);
  const move = (name: string): ReturnType<Gguf['tensor']> => {
    const { shape, data } = tensor(name);
    if (!/(attn_(q|k|v|output)|ffn_(gate|up|down))\.weight$/.test(name)) return { shape, data };
    const weights = Float32Array.from(data);
    for (let from = 0; from < weights.length; from += 32) {
      const block = weights.subarray(from, from + 32);
      const deviation = (Math.max(...block) - Math.min(...block)) / 15 / Math.sqrt(12);
      block.forEach((weight, index) => {
        block[index] = weight + deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      });
    }
    return { shape, data: weights };
  };
  return {
    metadata, names,
    tensor: (name) => {
      const found = moved.get(name) ?? move(name);
      moved.set(name, found);
      return found;
    },
  };
}

/** All weights in float32, which are then the ones that our runtime has. */
async function writeWide({ metadata, names, tensor }: Gguf, target: string): Promise<void> {
  const kept = [...metadata].flatMap(([key, value]): [string, MetadataValue][] => {
    const typed = key === 'general.file_type' ? undefined : typedValue(key, value);
    return typed ? [[key, typed]] : [];
  });
  const file = await open(target, 'w');
  try {
    await writeGguf(file, Object.fromEntries(kept) as Metadata, names.map((name) => {
      const { shape, data } = tensor(name);
      return { name, shape, type: 'F32', byteLength: data.byteLength, bytes: async function* () { yield new Uint8Array(data.buffer, data.byteOffset, data.byteLength); } };
    }));
  } finally {
    await file.close();
  }
}

function typedValue(key: string, value: Value): MetadataValue | undefined {
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: /epsilon|freq_base/.test(key) ? 'float32' : 'uint32', value };
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return { type: 'strings', value };
  return undefined;
}
