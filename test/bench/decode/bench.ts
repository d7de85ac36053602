import { availableParallelism, cpus, homedir, loadavg, totalmem } from 'node:os';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { ensureCheckpoint } from './checkpoint.ts';
import { CONFIG } from './geometry.ts';
import { ensureGguf } from './gguf-models.ts';
import { Peer, type PeerSetting } from './peer.ts';
import { busyMs, quiet } from './quiet.ts';
import { randomNumbers } from './random.ts';
import { type Case, caseName, isDisturbed, type Measured, memoryLimit, type Precision, table } from './report.ts';

/*
 * npm run bench [-- --quick] [--peers ours,transformers,llama.cpp] [--precisions float32,4-bit] [--rounds N] [--threads N]
 *               [--cases 1x64,1x1500,16x64,16x1500] [--attempts N] [--patience SECONDS] [--python PATH] [--cache FOLDER]
 *               [--json FILE]
 */

const userCache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    peers: { type: 'string', default: 'ours,transformers,llama.cpp' },
    precisions: { type: 'string', default: 'float32,4-bit' },
    cases: { type: 'string' },
    rounds: { type: 'string' },
    attempts: { type: 'string', default: '3' },
    threads: { type: 'string', default: String(availableParallelism()) },
    python: { type: 'string', default: path.join(import.meta.dirname, '.venv', 'bin', 'python') },
    cache: { type: 'string', default: path.join(userCache, 'conductor-bench') },
    patience: { type: 'string', default: '60' },
    json: { type: 'string' },
  },
});

/** Batch x prompt. */
const QUICK_CASES = '1x64,1x1500,16x64';
const ALL_CASES = `${QUICK_CASES},16x1500`;
const NEW_TOKENS = 96;
/** Enough that no cache of a processor holds it. */
const READ_BYTES = 2e9;
/** Tokens that all must agree on before anything is timed. */
const AGREEMENT = { prompts: 4, length: 48, newTokens: 16 } as const;

const cases = (values.cases ?? (values.quick ? QUICK_CASES : ALL_CASES)).split(',').map((name): Case => {
  const [batch, prompt] = name.split('x').map(Number);
  if (!batch || !prompt) throw new Error(`${name} is no case: write it as 16x64.`);
  return { batch, prompt };
});
const context = Math.max(...cases.map(({ prompt }) => prompt), AGREEMENT.length) + NEW_TOKENS;
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const measured: Measured[] = [];
let bandwidth: number | undefined;

await mkdir(values.cache, { recursive: true });
const folder = await ensureCheckpoint(values.cache);
const gibibytes = Math.round(totalmem() / 2 ** 30);
const processor = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, ${gibibytes} GiB`;
console.log(`${processor}; load before ${loadavg()[0]?.toFixed(1)}\n`);
for (const precision of values.precisions.split(',') as Precision[]) await measure(precision);
console.log(`\nLoad after ${loadavg()[0]?.toFixed(1)}.`);
if (values.json) await writeFile(values.json, JSON.stringify({ bandwidth, measured }, null, 2));

async function measure(precision: Precision): Promise<void> {
  const peers: Peer[] = [];
  try {
    for (const setting of await settings(precision)) {
      const peer = await Peer.start(setting);
      console.log(`${precision} ${peer.name}: ${peer.ready.version}, loaded in ${peer.ready.loadSeconds.toFixed(1)} s`);
      peers.push(peer);
    }
    await compareTokens(precision, peers);
    for (let round = 0; round < rounds; round += 1) {
      await measureBandwidth(peers);
      for (const which of cases) {
        // In turn, so that whatever else the machine does meets all of them.
        for (const peer of peers) await time(precision, which, peer, prompts(which.batch, which.prompt, round + 1));
      }
    }
    await measureBandwidth(peers);
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
  console.log(`\n${precision}${bandwidth ? `, memory read at ${(bandwidth / 1e9).toFixed(0)} GB/s` : ''}\n`);
  const limitSeconds = (which: Case): number | undefined => bandwidth && memoryLimit(precision, which, NEW_TOKENS) / bandwidth;
  console.log(table(measured.filter((one) => one.precision === precision), limitSeconds));
}

/** The best seen: on a shared machine it changes from minute to minute. */
async function measureBandwidth(peers: readonly Peer[]): Promise<void> {
  const transformers = peers.find(({ name }) => name === 'transformers');
  if (!transformers) return;
  await quiet(1000 * Number(values.patience));
  bandwidth = Math.max(bandwidth ?? 0, READ_BYTES / (await transformers.read(READ_BYTES)).seconds);
}

async function settings(precision: Precision): Promise<PeerSetting[]> {
  const wanted = new Set(values.peers.split(','));
  const sizes = ['--threads', values.threads, '--context', String(context)];
  const storage = path.join(values.cache, 'storage');
  const node = (file: string, ...args: string[]): Pick<PeerSetting, 'command' | 'args'> =>
    ({ command: process.execPath, args: [path.join(import.meta.dirname, 'peers', file), ...args, ...sizes] });
  const found: PeerSetting[] = [];
  if (wanted.has('ours')) {
    const inFewBits = precision === '4-bit' ? ['--quantized-in', storage] : [];
    found.push({ name: 'ours', ...node('ours.ts', '--model', folder, ...inFewBits) });
  }
  if (wanted.has('transformers') && precision === 'float32') {
    const script = path.join(import.meta.dirname, 'peers', 'transformers_peer.py');
    found.push({ name: 'transformers', command: values.python, args: [script, '--model', folder, '--threads', values.threads] });
  }
  if (wanted.has('llama.cpp')) {
    const gguf = await ensureGguf(folder, values.cache, precision === '4-bit' ? await quantizedWeights(storage) : undefined);
    const sequences = String(Math.max(...cases.map(({ batch }) => batch), AGREEMENT.prompts));
    found.push({ name: 'llama.cpp', ...node('llama-cpp.ts', '--model', gguf, '--sequences', sequences) });
  }
  return found;
}

async function quantizedWeights(storage: string) {
  const { tensors } = await openQuantized(await openCheckpoint(folder), {
    bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage, signal: new AbortController().signal,
  });
  return tensors;
}

/**
 * Whether the peers compute the same thing: the greedy tokens of short runs. In 4 bits each rounds activations in its own way,
 * and tokens may part; in float32 they may not, as long as a prompt is alone.
 */
async function compareTokens(precision: Precision, peers: readonly Peer[]): Promise<void> {
  const asked = prompts(AGREEMENT.prompts, AGREEMENT.length, 0);
  const tokensOf = async (peer: Peer, batches: number[][][]): Promise<number[]> => {
    const tokens: number[] = [];
    for (const batch of batches) tokens.push(...(await peer.generate(batch, AGREEMENT.newTokens)).tokens.flat());
    return tokens;
  };
  const [first, ...others] = peers;
  if (!first) return;
  const expected = await tokensOf(first, asked.map((prompt) => [prompt]));
  for (const peer of others) {
    const equal = (tokens: readonly number[]): number => tokens.filter((token, place) => token === expected[place]).length;
    const alone = equal(await tokensOf(peer, asked.map((prompt) => [prompt])));
    const together = equal(await tokensOf(peer, [asked]));
    console.log(`${peer.name} gives ${alone} of the ${expected.length} greedy tokens of ${first.name}; as a batch ${together}`);
    if (precision === 'float32' && alone < expected.length) {
      throw new Error('The peers do not compute the same thing: comparing their speed means nothing.');
    }
  }
}

function prompts(batch: number, length: number, seed: number): number[][] {
  const random = randomNumbers(1000 * seed + length);
  return Array.from({ length: batch }, () => Array.from({ length }, () => Math.floor(random() * CONFIG.vocab_size)));
}

/** Measured again when something else used the machine meanwhile, but not for ever. */
async function time(precision: Precision, which: Case, peer: Peer, asked: number[][]): Promise<void> {
  for (let attempt = 0; attempt < Number(values.attempts); attempt += 1) {
    const one = await timeOnce(precision, which, peer, asked);
    measured.push(one);
    const times = `prefill ${one.prefillSeconds.toFixed(2)} s, ${(1000 * one.stepSeconds).toFixed(1)} ms a step`;
    console.log(`  ${caseName(which)} ${peer.name}: ${times}; others used ${one.othersCores.toFixed(2)} cores`);
    if (!isDisturbed(one)) return;
  }
}

async function timeOnce(precision: Precision, which: Case, peer: Peer, asked: number[][]): Promise<Measured> {
  await quiet(1000 * Number(values.patience));
  const begun = performance.now();
  const busyBefore = busyMs();
  const { firstTokenSeconds, fromTokens, fromSeconds, endSeconds, cpuSeconds } = await peer.generate(asked, NEW_TOKENS);
  const othersCores = ((busyMs() - busyBefore) / 1000 - cpuSeconds) / ((performance.now() - begun) / 1000);
  const stepSeconds = (endSeconds - fromSeconds) / (NEW_TOKENS - fromTokens);
  return { precision, which, peer: peer.name, prefillSeconds: firstTokenSeconds, stepSeconds, othersCores };
}
