import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, homedir, loadavg, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { trainedTokens } from '../../../backend/lm/chunk-tokens.ts';
import { quiet } from '../decode/quiet.ts';
import { ensureModel, isModelName, MODELS } from '../gpu/models.ts';
import type { Job } from './job.ts';
import { type Aim, type Base, disagreements, type Measured, summarise, table, verdicts } from './report.ts';
import { runSide, type SideRun } from './run-side.ts';

/*
 * Tokens per second and peak memory of a GRPO update, ours against PyTorch with peft:
 *     node with-node.mjs node test/bench/train/bench.ts [--python PATH] [--quick] [--device cpu|cuda] [--model 0.5b|7b|tiny]
 *         [--precision full|4-bit] [--rows 4] [--length 1024] [--prompt 256] [--rank 16] [--micro-batch N] [--prompts separate,shared]
 *         [--sides ours,float32,float32-checkpointing,…] [--updates 1] [--rounds 2] [--threads N] [--patience SECONDS] [--cache FOLDER]
 *         [--json FILE] [--profile-in FOLDER]
 * README.md says what is compared. --profile-in says where the time of ours goes, and measures nothing.
 */

const userCache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
const { values } = parseArgs({
  options: {
    'python': { type: 'string', default: process.env['CONDUCTOR_BENCH_PYTHON'] ?? path.join(import.meta.dirname, '.venv', 'bin', 'python') },
    'quick': { type: 'boolean', default: false },
    'device': { type: 'string', default: 'cpu' },
    'model': { type: 'string' },
    'precision': { type: 'string', default: 'full' },
    'rows': { type: 'string', default: '4' },
    'length': { type: 'string' },
    'prompt': { type: 'string' },
    'rank': { type: 'string', default: '16' },
    'micro-batch': { type: 'string' },
    'prompts': { type: 'string', default: 'separate,shared' },
    'sides': { type: 'string' },
    'updates': { type: 'string', default: '1' },
    'rounds': { type: 'string' },
    'threads': { type: 'string', default: String(availableParallelism()) },
    'patience': { type: 'string', default: '60' },
    'cache': { type: 'string', default: path.join(userCache, 'conductor-bench') },
    'json': { type: 'string' },
    'profile-in': { type: 'string' },
  },
});
const device = values.device === 'cuda' ? 'cuda' : 'cpu';
const name = values.model ?? (device === 'cuda' ? '7b' : '0.5b');
if (!isModelName(name)) throw new Error(`There is no model '${name}': choose of ${Object.keys(MODELS).join(', ')}.`);
const precision = values.precision === '4-bit' ? '4-bit' : 'full';
const rows = Number(values.rows);
const length = Number(values.length ?? (device === 'cuda' ? 2048 : 1024));
const promptTokens = Number(values.prompt ?? length / 4);
const threads = Number(values.threads);
const rounds = Number(values.rounds ?? (values.quick ? 1 : 2));
/** On a CPU no slower than the fastest other and no larger than the leanest; on a GPU a 7B has to fit what people have. */
const AIM: Aim = device === 'cuda' ? { speed: 0.8, bytes: precision === '4-bit' ? 12e9 : 24e9 } : { speed: 1 };
/** The paper's clip (0.2 on both sides), a learning rate for LoRA, and the norm to which transformers clips gradients. */
const RECIPE = { clip: { low: 0.2, high: 0.2 }, learningRate: 1e-4, gradientClip: 1 } as const;

interface Side {
  readonly name: string;
  readonly base: Base;
  readonly command: string;
  readonly args: readonly string[];
}

const script = (file: string): string => path.join(import.meta.dirname, file);
await mkdir(values.cache, { recursive: true });
const folder = await ensureModel(name, values.cache);
const { config } = await openCheckpoint(folder);
const together = Math.floor(trainedTokens({ device, config }).most / length);
const microBatch = Number(values['micro-batch'] ?? Math.min(rows, Math.max(1, together)));
const gibibytes = Math.round(totalmem() / 2 ** 30);
const machine = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, ${gibibytes} GiB; load before ${loadavg()[0]?.toFixed(1)}`;
console.log(machine);
console.log(`${name}, ${rows} sequences of ${length} tokens, ${promptTokens} of them prompt; PyTorch takes ${microBatch} at once; ${threads} threads\n`);

const work = await mkdtemp(path.join(tmpdir(), 'conductor-bench-train-'));
const measured: Measured[] = [];
try {
  for (const prompts of values.prompts.split(',') as Measured['prompts'][]) {
    const job = path.join(work, `${prompts}.json`);
    await prepare(job, prompts);
    if (values['profile-in'] === undefined) measured.push(...await measure(job, prompts));
    else await runSide('ours', process.execPath, [script('ours.ts'), '--job', job, '--precision', precision, '--profile-in', values['profile-in']]);
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
const different = disagreements(measured);
if (different.length > 0) {
  console.error(`\nThe sides do not compute the same thing, so comparing their speed means nothing:\n${different.join('\n')}`);
  process.exitCode = 1;
} else if (measured.length > 0) await report();

async function report(): Promise<void> {
  const loadAfter = loadavg()[0] as number;
  console.log(`\n${table(measured)}\n\n${verdicts(measured, AIM).join('\n')}\nLoad after ${loadAfter.toFixed(1)}.`);
  if (values.json === undefined) return;
  const setting = { model: name, device, precision, rows, length, promptTokens, rank: Number(values.rank), microBatch, threads, ...RECIPE };
  const summaries = measured.filter(({ runs }) => runs.length > 0).map(summarise);
  await writeFile(values.json, `${JSON.stringify({ machine, loadAfter, setting, summaries, measured }, null, 2)}\n`);
}

async function prepare(job: string, prompts: Measured['prompts']): Promise<void> {
  const begun: Omit<Job, 'sequences' | 'oldLogprobs' | 'advantages'> = {
    model: folder, adapter: path.join(values.cache, `adapter-${name}-${values.rank}`), storage: path.join(values.cache, 'storage'), device, threads,
    promptTokens, microBatch, updates: 1 + Number(values.updates), ...RECIPE,
  };
  await writeFile(job, JSON.stringify(begun));
  const args = [
    script('prepare.ts'), '--job', job, '--precision', precision, '--rank', values.rank, '--prompts', prompts, '--rows', values.rows,
    '--length', String(length),
  ];
  await promisify(execFile)(process.execPath, args);
}

/** In turn, round by round, so that whatever else the machine does meets all of them. A side that fails is left out from then on. */
async function measure(job: string, prompts: Measured['prompts']): Promise<Measured[]> {
  const found = sides(job).map((side) => ({ side, runs: [] as SideRun[], failure: undefined as string | undefined }));
  for (let round = 0; round < rounds; round += 1) {
    for (const one of found.filter(({ failure }) => failure === undefined)) {
      const { name, command, args } = one.side;
      await quiet(1000 * Number(values.patience));
      try {
        const run = await runSide(name, command, args);
        one.runs.push(run);
        const times = run.updates.map(({ seconds, cpuSeconds, othersCores }) =>
          `${seconds.toFixed(2)} s (${cpuSeconds.toFixed(1)} CPU seconds, others used ${othersCores.toFixed(2)} cores)`);
        console.log(`  ${prompts} prompts, ${name} (${run.version}, loaded in ${run.loadSeconds.toFixed(1)} s): ${times.join(', ')}`);
      } catch (error) {
        one.failure = error instanceof Error ? error.message : String(error);
        console.error(`  ${prompts} prompts, ${name}: ${one.failure}. README.md says what it needs.`);
      }
    }
  }
  return found.map(({ side, runs, failure }) => ({ prompts, side: side.name, base: side.base, tokens: rows * length, runs, failure }));
}

/** Ours computes in float32 on a CPU, and on a GPU in the type of the checkpoint. PyTorch may choose. */
function sides(job: string): Side[] {
  const ours: Base = precision === '4-bit' ? '4-bit' : device === 'cpu' ? 'float32' : 'bfloat16';
  const bases: Base[] = precision === '4-bit' ? ['4-bit'] : device === 'cpu' ? ['float32', 'bfloat16'] : ['bfloat16'];
  const all: Side[] = [
    ...['', '-checkpointing'].map((how): Side => ({
      name: `ours${how}`, base: ours, command: process.execPath,
      args: [script('ours.ts'), '--job', job, '--precision', precision, ...(how === '' ? [] : ['--checkpointing'])],
    })),
    ...bases.flatMap((base) => ['', '-checkpointing'].map((how): Side => ({
      name: `${base}${how}`, base, command: values.python,
      args: [script('peft_peer.py'), '--job', job, '--base', base, ...(how === '' ? [] : ['--checkpointing'])],
    }))),
  ];
  const wanted = values.sides?.split(',');
  return all.filter((side) => !wanted || wanted.includes(side.name));
}
