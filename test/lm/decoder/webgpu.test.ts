import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import type { DecoderOptions, DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { type GoldenModel, modelFolder, readFigures } from '../../golden/golden.ts';
import { useSoftwareVulkan, whyNoSoftwareVulkan } from '../../support/software-vulkan.ts';
import { goldenAdapter, greedy, openModel, request, worstDifference } from './tiny-model.ts';

/*
 * Golden models on WebGPU, by SwiftShader. Attention is of plain operations: on SwiftShader, the fused one is wrong from 32 query tokens on, which
 * the trial of the device finds (test/lm/process/device-trials.test.ts).
 */

/** As on a CPU; 1.2e-5 was the largest difference when this was written. */
const TOLERANCE = 2e-4;
/** Between quantised weights on WebGPU and on a CPU, which rounds activations to 8 bits. 0.34 was the largest when this was written. */
const QUANTISED_TOLERANCE = 0.6;

/** The processor is the device here: a token takes a tenth of a second, on a busy machine many times that. */
const TOKENS = 16;
const TIMEOUT_MS = 300_000;

let storage: string;
const sessions: DecoderSession[] = [];
beforeAll(async () => {
  useSoftwareVulkan();
  storage = await mkdtemp(path.join(tmpdir(), 'webgpu-'));
});
afterAll(async () => {
  for (const session of sessions) await session.close();
  await rm(storage, { recursive: true, force: true });
});

/** Stays open until the end: the last session takes the compiled programs with it, which take seconds. */
async function open(model: GoldenModel, options: Partial<DecoderOptions> = {}): Promise<DecoderSession> {
  const session = await openModel(model, { device: 'webgpu', attention: 'plain', repackWeights: false, adapters: true, ...options });
  sessions.push(session);
  return session;
}

// Files in bfloat16, in float16 and in float32, each of another architecture.
describe.skipIf(whyNoSoftwareVulkan).each(['qwen2-tiny', 'qwen3-tiny', 'gemma3-tiny'] as const)(`%s on WebGPU${whyNoSoftwareVulkan ? ` (${whyNoSoftwareVulkan})` : ''}`, (model) => {
  it('scores and writes as PyTorch does, with and without an adapter', async () => {
    const { sequences, promptLengths, prompts, base, adapters } = await readFigures(model);
    const session = await open(model);
    const [name, adapted] = Object.entries(adapters)[0]!;
    for (const [adapter, said] of [[undefined, base], [await goldenAdapter(model, name), adapted]] as const) {
      expect(worstDifference(await session.score({ sequences, promptLengths, adapter }), said.completionLogprobs)).toBeLessThan(TOLERANCE);
      const rows = await session.generate(request({ prompts, maxTokens: TOKENS, adapter, ...greedy, chunkTokens: 7 }));
      expect(rows.map(({ tokens }) => tokens)).toEqual(said.greedy.tokens.map((row) => row.slice(0, TOKENS)));
    }
  }, TIMEOUT_MS);

  it('draws by the same seeds the tokens that the CPU draws', async () => {
    const { prompts } = await readFigures(model);
    const session = await open(model);
    const cpu = await openModel(model, { adapters: true });
    for (const options of [{}, { topP: 0.9, topK: 20 }]) {
      const [there, here] = [session, cpu].map((one) => one.generate(request({ prompts, samples: 2, maxTokens: 6, ...options })));
      expect((await there)?.map(({ tokens }) => tokens)).toEqual((await here)?.map(({ tokens }) => tokens));
    }
    await cpu.close();
  }, TIMEOUT_MS);
});

describe.skipIf(whyNoSoftwareVulkan)('quantised weights on WebGPU', () => {
  it.each([8, 4] as const)('in %i bits score nearly as on a CPU, and what is drawn scores as it was drawn', async (bits) => {
    const checkpoint = await openCheckpoint(modelFolder('qwen2-tiny-untied'));
    const { tensors: quantized } = await openQuantized(checkpoint, { bits, blockSize: 32, storage, signal: new AbortController().signal });
    const { sequences, promptLengths, prompts } = await readFigures('qwen2-tiny-untied');
    const session = await open('qwen2-tiny-untied', { quantized });
    const cpu = await openModel('qwen2-tiny-untied', { quantized, adapters: true });
    const onCpu = await cpu.score({ sequences, promptLengths });
    await cpu.close();
    const there = await session.score({ sequences, promptLengths });
    console.info(`${bits} bits: ${worstDifference(there, onCpu).toFixed(3)} from the CPU`);
    expect(worstDifference(there, onCpu)).toBeLessThan(QUANTISED_TOLERANCE);
    const rows = await session.generate(request({ prompts, maxTokens: 8 }));
    const drawn = rows.map(({ tokens }, row) => [...(prompts[row] as readonly number[]), ...tokens]);
    const scores = await session.score({ sequences: drawn, promptLengths: prompts.map(({ length }) => length) });
    expect(worstDifference(rows.map(({ logprobs }) => logprobs), scores)).toBeLessThan(QUANTISED_TOLERANCE);
  }, TIMEOUT_MS);
});
