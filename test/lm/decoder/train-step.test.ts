import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Checkpoint, openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized, type QuantizedWeights } from '../../../backend/lm/quantize/quantized-store.ts';
import { GOLDEN_MODELS, type GoldenModel, gradientsFile, modelFolder, readFigures } from '../../golden/golden.ts';
import { goldenAdapter } from './tiny-model.ts';

const SETTINGS = { device: 'cpu', compute: 'float32', contextLength: 128, threads: 1 } as const;

/** Cross entropy of the golden completions, averaged over all their tokens: the loss of PyTorch's gradients. */
async function crossEntropy(model: GoldenModel) {
  const { sequences, promptLengths } = await readFigures(model);
  const counts = sequences.map((sequence, row) => sequence.length - (promptLengths[row] as number));
  const total = counts.reduce((a, b) => a + b, 0);
  return { sequences, promptLengths, tokens: counts.map((count) => ({ crossEntropyWeights: new Array<number>(count).fill(1 / total) })) };
}

/** What PyTorch has, by the names in its file. */
async function goldenGradients(name: string): Promise<ReadonlyMap<string, Float32Array>> {
  const { tensors } = await readSafetensorsHeader(gradientsFile(name));
  return new Map(await Promise.all(tensors.map(async (tensor) => [tensor.name, await readTensor(storedTensor(tensor))] as const)));
}

/** The largest difference, as a share of the largest number. */
function relativeDifference(values: ArrayLike<number>, expected: Float32Array): number {
  let worst = 0;
  expected.forEach((value, index) => (worst = Math.max(worst, Math.abs((values[index] as number) - value))));
  return worst / expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

let storage: string;
beforeAll(async () => { storage = await mkdtemp(path.join(tmpdir(), 'train-step-')); });
afterAll(() => rm(storage, { recursive: true, force: true }));

async function quantizedWeights(checkpoint: Checkpoint): Promise<QuantizedWeights['tensors']> {
  return (await openQuantized(checkpoint, { bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage, signal: new AbortController().signal })).tensors;
}

const TOLERANCE = 5e-5;

describe('a training pass', () => {
  const adapters = [['qwen2-tiny', 'qwen2-tiny-all'], ['qwen2-tiny', 'qwen2-tiny-attention'], ['qwen3-tiny', 'qwen3-tiny-all'], ['gemma3-tiny', 'gemma3-tiny-all']] as const;
  it.each(adapters.flatMap(([model, name]) => [false, true].map((keepProjections) => ({ model, name, keepProjections }))))(
    '$model: gives the gradients of the adapter $name that PyTorch gives, and the log-probabilities of scoring, projections kept: $keepProjections',
    async ({ model, name, keepProjections }) => {
      const session = await DecoderSession.open(await openCheckpoint(modelFolder(model)), { ...SETTINGS, adapters: true, trainable: 'adapter', keepProjections });
      const adapter = await goldenAdapter(model, name);
      const expected = await goldenGradients(name);
      const request = { ...(await crossEntropy(model)), adapter };
      const { loss, gradients, logprobs } = await session.train(request);
      const scores = await session.score(request);
      await session.close();
      expect(loss).toBeCloseTo((await readFigures(model)).adapters[name]?.loss as number, 4);
      expect([...gradients.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [tensor, values] of expected) expect(relativeDifference(gradients.get(tensor)!, values), tensor).toBeLessThan(TOLERANCE);
      expect(logprobs.map(({ length }) => length)).toEqual(scores.map(({ length }) => length));
      expect(relativeDifference(logprobs.flat(), Float32Array.from(scores.flat()))).toBeLessThan(1e-6);
    },
  );

  const precisions = [['qwen2-tiny', 'full'], ['qwen3-tiny', 'full'], ['qwen2-tiny', '4-bit']] as const;
  it.each(precisions)('%s, %s: comes to the same whether it keeps what the projections gave or computes it again', async (model, precision) => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const quantized = precision === '4-bit' ? await quantizedWeights(checkpoint) : undefined;
    const adapter = await goldenAdapter(model, `${model}-all`);
    const request = { ...(await crossEntropy(model)), adapter };
    const [again, kept] = await Promise.all([false, true].map(async (keepProjections) => {
      const session = await DecoderSession.open(checkpoint, {
        ...SETTINGS, adapters: true, trainable: 'adapter', keepProjections, quantized, repackWeights: quantized !== undefined,
      });
      const trained = [await session.train(request), await session.train(request)];
      await session.close();
      return trained;
    }));
    for (const [index, { loss, logprobs, gradients }] of again!.entries()) {
      expect(kept![index]).toMatchObject({ loss, logprobs });
      // Computed again, attention adds up in another order than on the way forward.
      for (const [name, values] of gradients) expect(relativeDifference(kept![index]!.gradients.get(name)!, values), name).toBeLessThan(1e-5);
      expect(kept![index]!.gradients).not.toEqual(gradients);
    }
    expect(kept![1]).toEqual(kept![0]);
  });

  it('goes over a long prompt beside a long completion, which one behind the other would not fit the context', async () => {
    const checkpoint = await openCheckpoint(modelFolder('qwen2-tiny'));
    const session = await DecoderSession.open(checkpoint, { ...SETTINGS, adapters: true, trainable: 'adapter' });
    const adapter = await goldenAdapter('qwen2-tiny', 'qwen2-tiny-all');
    const sequence = Array.from({ length: SETTINGS.contextLength }, (_, place) => (place * 7) % 500);
    const [sequences, promptLengths] = [[sequence, sequence], [SETTINGS.contextLength - 2, 2]];
    const tokens = promptLengths.map((length) => ({ crossEntropyWeights: new Array<number>(sequence.length - length).fill(1) }));
    const { logprobs } = await session.train({ sequences, promptLengths, tokens, adapter });
    const alone = await session.score({ sequences: [sequence], promptLengths: [2], adapter });
    await session.close();
    expect(relativeDifference(logprobs[1]!, Float32Array.from(alone[0]!))).toBeLessThan(1e-5);
    expect(relativeDifference(logprobs[0]!, Float32Array.from(alone[0]!.slice(-2)))).toBeLessThan(1e-5);
  });

  it.each(GOLDEN_MODELS)('%s: counts a prompt that completions share once, and comes to the same', async (model) => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const trainable = [...(await goldenGradients(model)).keys()];
    const session = await DecoderSession.open(checkpoint, { ...SETTINGS, adapters: false, trainable });
    session.useWeights(new Map(await Promise.all(trainable.map(async (name) => [name, await readTensor(checkpoint.tensors.get(name)!)] as const))));
    const { sequences, promptLengths } = await readFigures(model);
    // Completions of several lengths, one of them empty, behind one prompt.
    const [prompt, ...completions] = [sequences[0]!.slice(0, promptLengths[0]), ...sequences.slice(1).map((row, index) => row.slice(promptLengths[index + 1])), []];
    const requestOf = (rows: readonly (readonly number[])[]) => ({
      sequences: rows.map((row) => [...prompt, ...row]),
      promptLengths: rows.map(() => prompt.length),
      tokens: rows.map((row) => ({ crossEntropyWeights: row.map((_, place) => 0.1 + 0.01 * place) })),
    });
    const together = await session.train(requestOf(completions));
    const alone = [];
    for (const completion of completions) alone.push(await session.train(requestOf([completion])));
    await session.close();
    expect(together.loss).toBeCloseTo(alone.reduce((sum, { loss }) => sum + loss, 0), 4);
    expect(relativeDifference(together.logprobs.flat(), Float32Array.from(alone.flatMap(({ logprobs }) => logprobs.flat())))).toBeLessThan(1e-6);
    for (const name of trainable) {
      const sum = new Float32Array(together.gradients.get(name)!.length);
      for (const { gradients } of alone) gradients.get(name)?.forEach((value, index) => (sum[index]! += value));
      expect(relativeDifference(together.gradients.get(name)!, sum), name).toBeLessThan(TOLERANCE);
    }
  });

  const weights = GOLDEN_MODELS.flatMap((model) => [false, true].map((keepProjections) => ({ model, keepProjections })));
  it.each(weights)('$model: gives the gradients of its own weights that PyTorch gives, projections kept: $keepProjections', async ({ model, keepProjections }) => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const expected = await goldenGradients(model);
    const trainable = [...expected.keys()];
    const session = await DecoderSession.open(checkpoint, { ...SETTINGS, adapters: false, trainable, keepProjections });
    session.useWeights(new Map(await Promise.all(trainable.map(async (name) => [name, await readTensor(checkpoint.tensors.get(name)!)] as const))));
    const { loss, gradients } = await session.train(await crossEntropy(model));
    await session.close();
    expect(loss).toBeCloseTo((await readFigures(model)).base.loss, 4);
    for (const [name, values] of expected) {
      // The first rows only where the table is large.
      expect(relativeDifference(gradients.get(name)!.subarray(0, values.length), values), name).toBeLessThan(TOLERANCE);
    }
  });
});
