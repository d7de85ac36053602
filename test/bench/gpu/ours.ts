import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { ComputeType } from '../../../backend/lm/device/devices.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { heldBytes } from './memory.ts';
import { ObservedRuntime } from './observed-runtime.ts';
import { inEveryStep, isCopy, takeProfile } from './profile.ts';
import type { Answer, Loaded, Profiled, Request } from './requests.ts';

/*
 * Our runtime as one side of the comparison:
 *     ours.ts --model FOLDER --device cuda|cpu --compute TYPE --context N [--quantized-in FOLDER] [--profile-in FOLDER]
 *             [--adapters] [--repack]
 * With --profile-in every run is profiled, which slows it: such a process is asked for its profile and not for its speed.
 */

const { values } = parseArgs({
  options: {
    'model': { type: 'string' }, 'device': { type: 'string' }, 'compute': { type: 'string' }, 'context': { type: 'string' },
    'quantized-in': { type: 'string' }, 'profile-in': { type: 'string' },
    'adapters': { type: 'boolean', default: false }, 'repack': { type: 'boolean', default: false },
  },
});
const device = values.device === 'cpu' ? 'cpu' : 'cuda';
const profileFolder = values['profile-in'];
const observed = await ObservedRuntime.install();
const PROFILE = 'ours';
if (profileFolder !== undefined) observed.extraOptions = { enableProfiling: true, profileFilePrefix: path.join(profileFolder, PROFILE) };

const seconds = (since: number): number => (performance.now() - since) / 1000;
let began = performance.now();
const checkpoint = await openCheckpoint(values.model as string);
const storage = values['quantized-in'];
const { signal } = new AbortController();
const quantized = storage === undefined
  ? undefined
  : (await openQuantized(checkpoint, { bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage, signal })).tensors;
const quantizeSeconds = seconds(began);
const heldBefore = heldBytes(device);
began = performance.now();
const session = await DecoderSession.open(checkpoint, {
  device, compute: values.compute as ComputeType, adapters: values.adapters, quantized, contextLength: Number(values.context),
  repackWeights: device === 'cpu' || values.repack,
});
const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
say({ version: `onnxruntime ${version}`, loadSeconds: seconds(began), quantizeSeconds, weightsHeldBytes: heldBytes(device) - heldBefore });

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if (request.kind === 'profile') say(await profile(request));
  else if (request.kind === 'generate') say(await generate(request));
}
if (profileFolder === undefined) await session.close();

async function generate({ prompts, samples, newTokens, chunkTokens }: Extract<Request, { kind: 'generate' }>): Promise<Answer> {
  observed.takeTraffic();
  const start = performance.now();
  const rows = await session.generate({
    prompts, samples, maxTokens: newTokens, chunkTokens: chunkTokens ?? newTokens,
    temperature: 1, topP: 1, topK: 0, seeds: Array.from({ length: prompts.length * samples }, (_, row) => row), stopTokenIds: [],
  });
  const took = seconds(start);
  const tokens = rows.reduce((sum, row) => sum + row.tokens.length, 0);
  return { seconds: took, tokens, heldBytes: heldBytes(device), ...observed.takeTraffic() };
}

/** The last request of a process: onnxruntime writes its profile when the session ends. */
async function profile({ prompts, newTokens }: Extract<Request, { kind: 'profile' }>): Promise<Profiled> {
  await generate({ kind: 'generate', prompts, samples: 1, newTokens });
  await session.close();
  const nodes = await takeProfile(profileFolder as string, PROFILE);
  const repeated = inEveryStep(nodes, newTokens);
  const byOperator: Record<string, { nodes: number; microseconds: number }> = {};
  for (const { operator, totalMicroseconds, runs } of repeated) {
    const sum = byOperator[operator] ?? { nodes: 0, microseconds: 0 };
    byOperator[operator] = { nodes: sum.nodes + 1, microseconds: sum.microseconds + totalMicroseconds / runs };
  }
  const copies = repeated.filter(isCopy);
  return {
    nodesInStep: repeated.length,
    copiesInStep: copies.length,
    copiedBytesInStep: copies.reduce((sum, { outputBytes, runs }) => sum + outputBytes / runs, 0),
    onHostInStep: repeated.filter(({ provider }) => provider === 'CPUExecutionProvider').length,
    byOperator,
  };
}

function say(answer: Answer | Profiled | Loaded): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
