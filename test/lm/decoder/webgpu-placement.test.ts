import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GenerationRequest } from '../../../backend/lm/decoder/generation-request.ts';
import { type GoldenModel, readFigures } from '../../golden/golden.ts';
import { useSoftwareVulkan, whyNoSoftwareVulkan } from '../../support/software-vulkan.ts';
import { nodeRuns, type NodeRuns, runsPerStep } from './node-runs.ts';
import { greedy, openModel, request } from './tiny-model.ts';

/** Open until the end: the last session takes the compiled programs of the device with it, which take seconds. */
let kept: DecoderSession | undefined;
beforeAll(async () => {
  if (whyNoSoftwareVulkan) return;
  useSoftwareVulkan();
  kept = await openModel('qwen2-tiny', { device: 'webgpu', repackWeights: false });
});
afterAll(() => kept?.close());

/** A step of a generation: what runs once more for each further token. */
async function step(model: GoldenModel, options: Partial<GenerationRequest>): Promise<NodeRuns> {
  const { prompts } = await readFigures(model);
  const runs = (maxTokens: number): Promise<NodeRuns> => nodeRuns(async () => {
    const session = await openModel(model, { device: 'webgpu', adapters: true, attention: 'plain', repackWeights: false });
    await session.generate(request({ prompts: prompts.slice(0, 2), maxTokens, chunkTokens: 1024, ...options }));
    await session.close();
  });
  return runsPerStep(await runs(4), await runs(2), 2);
}

const sumOf = (runs: NodeRuns, of: (node: string) => boolean): number => [...runs].reduce((sum, [node, count]) => sum + (of(node) ? count : 0), 0);

/** On a busy machine, whose processor is the device here. */
const TIMEOUT_MS = 300_000;

/** What computes with weights and caches. */
const HEAVY = ['Gemm', 'MatMul', 'FusedMatMul', 'MatMulNBits', 'SimplifiedLayerNormalization', 'SkipSimplifiedLayerNormalization', 'RotaryEmbedding'];

/*
 * Copies of one step between the memories, each of which waits for the device. To the host: the logits. From the host: the embeddings, whose type
 * the device does not have, and the positions; for layers with a window also which places of the prompt and of the tail are too far.
 * The draw, which has no kernel for half of its operations, is on the host as a whole: with it on the device a step had 21 copies, 8 of them to
 * the host.
 */
describe.skipIf(whyNoSoftwareVulkan)(`a step on WebGPU${whyNoSoftwareVulkan ? ` (${whyNoSoftwareVulkan})` : ''}`, () => {
  it.each([
    ['qwen2-tiny', greedy, 2],
    ['qwen2-tiny', { topP: 0.9 }, 2],
    ['gemma3-tiny', greedy, 4],
  ] as const)('of %s, %j: copies the logits to the host and %i small tensors from it, and computes all layers on the device', async (model, options, fromHost) => {
    const nodes = await step(model, options);
    expect(nodes.get('WebGpu MemcpyToHost')).toBe(1);
    expect(nodes.get('WebGpu MemcpyFromHost')).toBe(fromHost);
    expect([...nodes.keys()].filter((node) => HEAVY.some((operator) => node === `CPU ${operator}`))).toEqual([]);
    expect(sumOf(nodes, (node) => node.startsWith('WebGpu') && HEAVY.some((operator) => node.endsWith(` ${operator}`)))).toBeGreaterThan(50);
  }, TIMEOUT_MS);
});
