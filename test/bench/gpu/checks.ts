import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GenerationRequest } from '../../../backend/lm/decoder/generation-request.ts';
import type { ComputeType } from '../../../backend/lm/device/devices.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { adapterFolder, GOLDEN_MODELS, type GoldenModel, modelFolder, readFigures } from '../../golden/golden.ts';
import { heldBytes } from './memory.ts';
import { ObservedRuntime } from './observed-runtime.ts';
import { tryOperators } from './operators.ts';
import { inEveryStep, isCopy, type NodeRuns, takeProfile } from './profile.ts';

/*
 * What docs/gpu.md says only a GPU machine can tell, as lines that pass or fail:
 *     checks.ts --device cuda|cpu --out FOLDER --cache FOLDER [--only operators,placement,golden,memory] [--name NAME]
 * `--name` goes into the names of the files and the lines: gpu.sh runs the operators with and without cuDNN in reach.
 */

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' },
    out: { type: 'string' },
    cache: { type: 'string' },
    only: { type: 'string', default: 'operators,placement,golden,memory' },
    name: { type: 'string', default: '' },
  },
});
const device = options.device === 'cpu' ? 'cpu' : 'cuda';
const out = path.resolve(options.out ?? '.');
const cache = path.resolve(options.cache ?? out);
const title = options.name ? `${options.name}: ` : '';

/** What the product promises in float32; in 16 bits the worst is told and held only to what no rounding explains. */
const TOLERANCE: Readonly<Record<ComputeType, number>> = { float32: 2e-4, float16: 0.06, bfloat16: 0.5 };
/** Quantised weights are compared with float16 on the CPU. In float32 the CPU rounds activations to 8 bits: 0.52 was seen there. */
const QUANTISED_TOLERANCE = device === 'cpu' ? 0.6 : 0.05;
const OPERATOR_TOLERANCE: Readonly<Record<ComputeType, number>> = { float32: 1e-3, float16: 0.02, bfloat16: 0.1 };
const GENERATIONS = 100;
const ALLOWED_GROWTH_BYTES = 64 * 2 ** 20;
const STEPS = 8;
const computes: readonly ComputeType[] = device === 'cpu' ? ['float32'] : ['float32', 'float16', 'bfloat16'];

interface Line {
  readonly check: string;
  readonly verdict: 'PASS' | 'FAIL' | 'INFO';
  readonly detail: string;
}

const lines: Line[] = [];

function say(verdict: Line['verdict'], check: string, detail = ''): void {
  lines.push({ verdict, check: title + check, detail });
  console.log(`${verdict}  ${title}${check}${detail && `: ${detail}`}`);
}

const hold = (holds: boolean, check: string, detail = ''): void => say(holds ? 'PASS' : 'FAIL', check, detail);

/** A part that throws has failed; the others are still worth running. */
async function part(name: string, run: () => Promise<void>): Promise<void> {
  if (!options.only.split(',').includes(name)) return;
  try {
    await run();
  } catch (error) {
    hold(false, name, error instanceof Error ? error.message.replaceAll(/\s+/g, ' ').slice(0, 500) : String(error));
  }
}

await mkdir(out, { recursive: true });
await mkdir(cache, { recursive: true });
const observed = await ObservedRuntime.install();
await part('operators', operators);
await part('placement', placement);
await part('golden', golden);
await part('memory', memory);
const failed = lines.filter(({ verdict }) => verdict === 'FAIL').length;
console.log(`${title}${lines.filter(({ verdict }) => verdict === 'PASS').length} passed, ${failed} failed`);
await writeFile(path.join(out, `checks${options.name && `-${options.name.replaceAll(/\W+/g, '-')}`}.json`), JSON.stringify(lines, null, 2));
process.exitCode = failed === 0 ? 0 : 1;

async function operators(): Promise<void> {
  for (const { operator, compute, worst, failure } of await tryOperators(device)) {
    const detail = failure ?? `worst difference ${worst?.toExponential(1)}`;
    hold(worst !== undefined && worst <= OPERATOR_TOLERANCE[compute], `${operator} in ${compute}`, detail);
  }
}

interface Opened {
  readonly model: GoldenModel;
  readonly compute: ComputeType;
  readonly bits?: 4 | 8 | undefined;
}

function toleranceOf({ compute, bits }: Opened): number {
  return bits ? Math.max(QUANTISED_TOLERANCE, TOLERANCE[compute]) : TOLERANCE[compute];
}

async function open({ model, compute, bits }: Opened, on: 'cpu' | 'cuda' = device): Promise<DecoderSession> {
  const checkpoint = await openCheckpoint(modelFolder(model));
  const { signal } = new AbortController();
  const quantized = bits && (await openQuantized(checkpoint, { bits, blockSize: 32, storage: path.join(cache, 'golden'), signal })).tensors;
  return DecoderSession.open(checkpoint, { device: on, compute, adapters: true, quantized, repackWeights: on === 'cpu' });
}

function ask(prompts: readonly (readonly number[])[], changes: Partial<GenerationRequest> = {}): GenerationRequest {
  const { samples = 1 } = changes;
  const seeds = Array.from({ length: prompts.length * samples }, (_, row) => row);
  return { prompts, samples, maxTokens: STEPS, temperature: 0, topP: 1, topK: 0, seeds, stopTokenIds: [], chunkTokens: 1024, ...changes };
}

/** From onnxruntime's own profile: which nodes ran where, and what the loop's body copied. */
async function placement(): Promise<void> {
  const told: string[] = [];
  for (const bits of [undefined, 4] as const) {
    for (const compute of computes) {
      const name = `${compute}${bits ? ` ${bits}-bit` : ''}`;
      const prefix = `profile-${compute}-${bits ?? 16}`;
      observed.extraOptions = { enableProfiling: true, profileFilePrefix: path.join(cache, prefix) };
      const session = await open({ model: 'qwen2-tiny', compute, bits });
      observed.extraOptions = {};
      const { prompts, sequences, promptLengths } = await readFigures('qwen2-tiny');
      // Restricted and not: either side of the branch in the body.
      await session.generate(ask(prompts.slice(0, 2), { temperature: 1, topP: 0.9 }));
      await session.generate(ask(prompts.slice(0, 2)));
      await session.score({ sequences, promptLengths });
      await session.close();
      const nodes = await takeProfile(cache, prefix);
      const repeated = inEveryStep(nodes, STEPS);
      const onHost = device === 'cpu' ? [] : nodes.filter(({ provider }) => provider === 'CPUExecutionProvider');
      const hostInLoop = onHost.filter((node) => repeated.includes(node));
      const copiesInLoop = repeated.filter(isCopy);
      say('INFO', `${name}: nodes`, `${nodes.length} ran, ${repeated.length} of them in every step, ${onHost.length} on the host`);
      hold(onHost.every(isOfSizes), `${name}: only sizes are computed on the host`, names(onHost.filter((node) => !isOfSizes(node))));
      hold(hostInLoop.every(isOfSizes) && copiesInLoop.every(({ outputBytes, runs }) => outputBytes / runs <= 64),
        `${name}: the loop's body copies nothing but sizes`, names([...hostInLoop, ...copiesInLoop]));
      told.push(`# ${name}`, ...nodes.map(({ name: node, operator, provider, runs, outputBytes, inputTypes }) =>
        [provider.replace('ExecutionProvider', ''), operator, node, `${runs}×`, `${outputBytes} B out`, inputTypes].join('\t')), '');
    }
  }
  await writeFile(path.join(out, 'placement.txt'), told.join('\n'));
}

/** Integers, a few of them: how large something is. The outputs of a branch or loop are those of the nodes in it. */
function isOfSizes({ operator, outputBytes, runs }: NodeRuns): boolean {
  return operator === 'If' || operator === 'Loop' || outputBytes / runs <= 64;
}

function names(nodes: readonly NodeRuns[]): string {
  const each = nodes.map(({ operator, name, outputBytes, runs }) => `${operator} ${name} (${outputBytes / runs} B)`);
  return [...new Set(each)].slice(0, 20).join(', ');
}

async function golden(): Promise<void> {
  for (const model of GOLDEN_MODELS) {
    for (const compute of computes) {
      for (const bits of [undefined, 4, 8] as const) await goldenOf({ model, compute, bits });
    }
  }
}

async function goldenOf(which: Opened): Promise<void> {
  const { model, compute, bits } = which;
  const name = `${model} in ${compute}${bits ? `, ${bits}-bit` : ''}`;
  const tolerance = toleranceOf(which);
  const figures = await readFigures(model);
  const { sequences, promptLengths, prompts, newTokens, base, adapters } = figures;
  const session = await open(which);
  const reference = bits ? await open({ ...which, compute: 'float16' }, 'cpu') : undefined;
  const { config } = await openCheckpoint(modelFolder(model));
  try {
    for (const [adapterName, said] of [[undefined, base] as const, ...Object.entries(adapters)]) {
      const adapter = adapterName === undefined ? undefined : await readAdapter(adapterFolder(adapterName), config);
      const right = reference ? await reference.score({ sequences, promptLengths, adapter }) : said.completionLogprobs;
      const together = await session.score({ sequences, promptLengths, adapter });
      const alone: number[][] = [];
      for (const [at, sequence] of sequences.entries()) {
        alone.push(...(await session.score({ sequences: [sequence], promptLengths: [promptLengths[at] as number], adapter })));
      }
      const suffix = adapterName ? `, ${adapterName}` : '';
      const against = worstDifference(together, right);
      hold(against <= tolerance, `${name}${suffix}: log-probabilities`,
        `worst difference to ${bits ? 'the CPU' : 'PyTorch'} ${against.toExponential(1)}`);
      const between = worstDifference(together, alone);
      hold(between <= tolerance, `${name}${suffix}: unequal lengths in a batch against each alone`,
        `worst difference ${between.toExponential(1)}`);

      const rows = await session.generate(ask(prompts, { maxTokens: newTokens, adapter }));
      const greedy = await reference?.generate(ask(prompts, { maxTokens: newTokens, adapter }));
      const wanted = greedy?.map(({ tokens }) => tokens) ?? said.greedy.tokens;
      const same = rows.filter(({ tokens }, row) => tokens.join() === wanted[row]?.join()).length;
      const equal = `${same} of ${rows.length} rows equal`;
      if (compute === 'float32' && !bits) hold(same === rows.length, `${name}${suffix}: greedy tokens`, equal);
      else say('INFO', `${name}${suffix}: greedy tokens`, equal);
      await sampledAgrees(session, `${name}${suffix}`, which, prompts, adapter);
    }
  } finally {
    await session.close();
    await reference?.close();
  }
}

/** What generation says of the tokens it draws, one prompt at a time in chunks, is what scoring says of them. */
async function sampledAgrees(
  session: DecoderSession, name: string, which: Opened, prompts: readonly (readonly number[])[], adapter: GenerationRequest['adapter'],
): Promise<void> {
  const rows = await session.generate(ask(prompts, { samples: 2, maxTokens: 12, temperature: 0.8, topP: 0.95, chunkTokens: 5, adapter }));
  const twice = prompts.flatMap((prompt) => [prompt, prompt]);
  const sequences = rows.map(({ tokens }, row) => [...(twice[row] as readonly number[]), ...tokens]);
  const scores = await session.score({ sequences, promptLengths: twice.map(({ length }) => length), temperature: 0.8, adapter });
  const worst = worstDifference(rows.map(({ logprobs }) => logprobs), scores);
  hold(worst <= toleranceOf(which), `${name}: what is drawn is scored alike`, `worst difference ${worst.toExponential(1)}`);
}

function worstDifference(left: readonly (readonly number[])[], right: readonly (readonly number[])[]): number {
  const pairs = left.flatMap((row, at) => row.map((value, place) => Math.abs(value - (right[at]?.[place] ?? Number.NaN))));
  return pairs.reduce((worst, difference) => (difference <= worst ? worst : difference), 0);
}

/** Generations of different lengths and batches, as they come in use. */
async function memory(): Promise<void> {
  const compute = device === 'cpu' ? 'float32' : 'bfloat16';
  const before = heldBytes(device);
  const session = await open({ model: 'qwen3-tiny', compute });
  const vocabulary = 500;
  const generation = (index: number): Promise<unknown> => {
    const prompts = Array.from({ length: 1 + (index % 8) }, (_, row) => {
      const length = 1 + ((index * 37 + row * 11) % 300);
      return Array.from({ length }, (_id, at) => (at * 7 + row) % vocabulary);
    });
    return session.generate(ask(prompts, { maxTokens: 1 + ((index * 13) % 100), chunkTokens: 32, temperature: 1 }));
  };
  const warmUp = 40;
  for (let index = 0; index < warmUp; index += 1) await generation(index);
  const warm = heldBytes(device);
  for (let index = 0; index < GENERATIONS; index += 1) await generation(index % warmUp);
  const after = heldBytes(device);
  await session.close();
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  hold(after - warm <= ALLOWED_GROWTH_BYTES, `${GENERATIONS} generations without growth`,
    `${megabytes(before)} before, ${megabytes(warm)} after ${warmUp} of every size, ${megabytes(after)} after ${GENERATIONS} more`);
}
