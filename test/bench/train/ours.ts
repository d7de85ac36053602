import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Precision } from '../../../backend/lm/language-model.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { lossWeights } from '../../../backend/lm/trainer/loss-weights.ts';
import { heldBytes } from '../gpu/memory.ts';
import { ObservedRuntime } from '../gpu/observed-runtime.ts';
import { type NodeRuns, takeProfile } from '../gpu/profile.ts';
import type { Job, SideLine } from './job.ts';

/*
 * Updates by our trainer:  ours.ts --job FILE --precision full|4-bit [--checkpointing] [--profile-in FOLDER]
 * Reads a job and says JSON lines, see job.ts. The model is in this process, as it is in the product's own for it. With --checkpointing
 * every layer is computed again as a whole, as it is where memory is short. With --profile-in onnxruntime notes every operation, which slows
 * it, and where the time went is told on the standard error.
 */

const { values } = parseArgs({
  options: { 'job': { type: 'string' }, 'precision': { type: 'string', default: 'full' }, checkpointing: { type: 'boolean', default: false }, 'profile-in': { type: 'string' } },
});
const job = JSON.parse(await readFile(values.job as string, 'utf8')) as Job;
const profileFolder = values['profile-in'];
const PROFILE = 'train';
/** Lines of a list. */
const LISTED = 30;
if (profileFolder !== undefined) {
  const observed = await ObservedRuntime.install();
  observed.extraOptions = { enableProfiling: true, profileFilePrefix: path.join(profileFolder, PROFILE) };
}

const seconds = (since: number): number => (performance.now() - since) / 1000;
const { device, threads, storage, sequences, promptTokens, clip, learningRate, gradientClip } = job;
const began = performance.now();
const model = await LocalModel.open({
  settings: {
    folder: job.model, device, precision: values.precision as Precision, contextLength: (sequences[0] as readonly number[]).length,
    adapters: false, trainable: 'adapter', storage,
  },
  device, deviceReasons: [], threads, ...(values.checkpointing && { keepProjections: false }),
  // Nothing is written here, which is all that a second copy of the weights would be for.
  ...(values.precision === 'full' && { repackWeights: false }),
});
await model.startTraining({ adapter: job.adapter, optimizer: ADAMW_DEFAULTS });
const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
say({ kind: 'loaded', version: `onnxruntime ${version}, Node ${process.versions.node}`, seconds: seconds(began), peakBytes: await peakBytes() });
await forgetPeak();

const promptLengths = sequences.map(() => promptTokens);
const size = { completions: sequences.length, tokens: job.oldLogprobs.flat().length, maxCompletionLength: 0 };
const tokens = job.oldLogprobs.map((oldLogprobs, row) =>
  lossWeights({ tokens: oldLogprobs.length, advantage: job.advantages[row] as number, oldLogprobs }, { type: 'grpo' }, size));
for (let taken = 0; taken < job.updates; taken += 1) {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const { loss } = await model.forwardBackward({ sequences, promptLengths, tokens, clip });
  const { gradientNorm } = await model.optimStep({ learningRate, gradientClip });
  const { user, system } = process.cpuUsage(cpu);
  say({ kind: 'updated', loss, gradientNorm, seconds: seconds(start), cpuSeconds: (user + system) / 1e6 });
}
say({ kind: 'ended', peakBytes: await peakBytes() });
await model.close();
if (profileFolder !== undefined) await explain(profileFolder);

function say(line: SideLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The most memory that this process has held since `forgetPeak`; on a GPU what it holds: onnxruntime gives none back. */
async function peakBytes(): Promise<number> {
  if (device === 'cuda') return heldBytes(device);
  const status = await readFile('/proc/self/status', 'utf8');
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
}

async function forgetPeak(): Promise<void> {
  if (device === 'cpu') await writeFile('/proc/self/clear_refs', '5');
}

/** Branches and loops are left out: what is in them counts by itself. */
async function explain(folder: string): Promise<void> {
  const nodes = (await takeProfile(folder, PROFILE)).filter(({ operator }) => operator !== 'If' && operator !== 'Loop');
  const all = nodes.reduce((sum, { totalMicroseconds }) => sum + totalMicroseconds, 0);
  const list = (title: string, keyOf: (node: NodeRuns) => string): void => {
    const found = new Map<string, { microseconds: number; runs: number }>();
    for (const node of nodes) {
      const { microseconds = 0, runs = 0 } = found.get(keyOf(node)) ?? {};
      found.set(keyOf(node), { microseconds: microseconds + node.totalMicroseconds, runs: runs + node.runs });
    }
    console.error(`\nseconds  share    runs  ${title}`);
    for (const [key, { microseconds, runs }] of [...found].sort(([, a], [, b]) => b.microseconds - a.microseconds).slice(0, LISTED)) {
      const share = ((100 * microseconds) / all).toFixed(1);
      console.error(`${(microseconds / 1e6).toFixed(2).padStart(7)} ${share.padStart(5)}% ${String(runs).padStart(7)}  ${key}`);
    }
  };
  list('operator', ({ operator }) => operator);
  list('operator and what goes in', ({ operator, inputTypes }) => `${operator} ${inputTypes}`);
}
