import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import type { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GeneratedRow } from '../../../backend/lm/decoder/generation-request.ts';
import { QWEN_MODELS, modelFolder } from '../../golden/golden.ts';
import { goldenAdapter, openModel, request } from './tiny-model.ts';

/*
 * A seed gives the same tokens and the same log-probabilities, to the last bit, whatever else is asked for at the same time. That is what
 * lets a rollout be repeated. It holds where onnxruntime repacks the weights, which is how the product opens a model on a CPU that has the memory,
 * and of every model that trains.
 */

const VOCABULARY = 512;
const MAX_TOKENS = 12;

const prompt = fc.array(fc.nat(VOCABULARY - 1), { minLength: 1, maxLength: 200, size: 'max' });
const prompts = fc.array(prompt, { minLength: 2, maxLength: 20, size: 'max' });
const sampling = fc.record({
  temperature: fc.constantFrom(0, 0.7, 1, 1.5),
  topP: fc.constantFrom(1, 0.9, 0.5),
  topK: fc.constantFrom(0, 20),
  chunkTokens: fc.integer({ min: 1, max: MAX_TOKENS }),
  stopTokenIds: fc.constantFrom([], Array.from({ length: 30 }, (_, index) => 7 * index)),
});

describe.each(QWEN_MODELS)('rows of %s', (model) => {
  let session: DecoderSession;
  let again: DecoderSession;
  beforeAll(async () => {
    session = await openModel(model, { adapters: true });
    again = await openModel(model, { adapters: true });
  });
  afterAll(async () => {
    await Promise.all([session.close(), again.close()]);
  });

  it('are the same alone and in any batch, in chunks of any size', async () => {
    await fc.assert(fc.asyncProperty(prompts, sampling, fc.nat(), fc.nat(), async (batch, settings, seed, chosen) => {
      const seeds = batch.map((_, row) => seed + row);
      const together = await session.generate(request({ prompts: batch, maxTokens: MAX_TOKENS, ...settings, seeds }));
      for (const row of [chosen % batch.length, 0]) {
        const [alone] = await session.generate(
          request({ prompts: [batch[row] as number[]], maxTokens: MAX_TOKENS, ...settings, seeds: [seeds[row] as number], chunkTokens: 5 }),
        );
        expect(alone).toEqual(together[row]);
      }
    }), { seed: 1, numRuns: 30 });
  });

  it('are the same where those that have ended are left out of what comes after', async () => {
    await fc.assert(fc.asyncProperty(prompt, sampling, fc.integer({ min: 2, max: 12 }), async (one, settings, samples) => {
      // Every fifth token ends a row, so that rows end in many a chunk.
      const stopTokenIds = Array.from({ length: 102 }, (_, index) => 5 * index);
      const seeds = Array.from({ length: samples }, (_, row) => 17 * row);
      const asked = { ...settings, prompts: [one], maxTokens: MAX_TOKENS, stopTokenIds };
      const told = seeds.map(() => [] as number[]);
      const together = await session.generate({
        ...request({ ...asked, samples, seeds, chunkTokens: 2 }), onTokens: (row, tokens) => void told[row]!.push(...tokens),
      });
      expect(told).toEqual(together.map(({ tokens }) => tokens));
      for (const [row, seed] of seeds.entries()) {
        const [alone] = await session.generate(request({ ...asked, samples: 1, seeds: [seed], chunkTokens: MAX_TOKENS }));
        expect(alone).toEqual(together[row]);
      }
    }), { seed: 4, numRuns: 15 });
  });

  it('are scored the same together as one by one where they continue one prompt', async () => {
    const lists = fc.array(fc.array(fc.nat(VOCABULARY - 1), { minLength: 1, maxLength: 30 }), { minLength: 2, maxLength: 6 });
    await fc.assert(fc.asyncProperty(prompt, lists, async (first, completions) => {
      const sequences = completions.map((completion) => [...first, ...completion]);
      const together = await session.score({ sequences, promptLengths: sequences.map(() => first.length), temperature: 0.7 });
      for (const [row, sequence] of sequences.entries()) {
        const [alone] = await session.score({ sequences: [sequence], promptLengths: [first.length], temperature: 0.7 });
        expect(together[row]).toHaveLength(completions[row]!.length);
        together[row]!.forEach((logprob, place) => expect(logprob).toBeCloseTo(alone![place]!, 4));
      }
    }), { seed: 3, numRuns: 20 });
  });

  it('are the same in a batch of the same prompts in another order, and with fewer of them', async () => {
    await fc.assert(fc.asyncProperty(prompts, sampling, fc.nat(), async (batch, settings, seed) => {
      const rows = batch.map((prompt, index) => ({ prompt, seed: seed + index }));
      const write = (some: typeof rows): Promise<GeneratedRow[]> => {
        const of = { prompts: some.map((row) => row.prompt), seeds: some.map((row) => row.seed) };
        return session.generate(request({ ...of, maxTokens: MAX_TOKENS, ...settings }));
      };
      const all = await write(rows);
      expect(await write(rows.toReversed())).toEqual(all.toReversed());
      expect(await write(rows.slice(0, 2))).toEqual(all.slice(0, 2));
    }), { seed: 2, numRuns: 10 });
  });

  it('are the same drawn one by one and as samples of prompts, the samples of a prompt side by side', async () => {
    await fc.assert(fc.asyncProperty(prompts, sampling, fc.integer({ min: 2, max: 6 }), async (batch, settings, samples) => {
      const few = batch.slice(0, 4);
      const seeds = Array.from({ length: few.length * samples }, (_, row) => 31 * row);
      const together = await session.generate(request({ prompts: few, samples, maxTokens: MAX_TOKENS, ...settings, seeds }));
      const one: GeneratedRow[] = [];
      for (const [row, seed] of seeds.entries()) {
        const prompt = few[Math.floor(row / samples)] as number[];
        one.push(...(await session.generate(request({ prompts: [prompt], maxTokens: MAX_TOKENS, ...settings, seeds: [seed] }))));
      }
      expect(together).toEqual(one);
    }), { seed: 3, numRuns: 10 });
  });

  it('are the same in another session, and with more threads', async () => {
    const threads = await openModel(model, { adapters: true, threads: 2 });
    await fc.assert(fc.asyncProperty(prompts, sampling, async (batch, settings) => {
      const asked = request({ prompts: batch, maxTokens: MAX_TOKENS, ...settings });
      const rows = await session.generate(asked);
      expect(await session.generate(asked)).toEqual(rows);
      expect(await again.generate(asked)).toEqual(rows);
      expect(await threads.generate(asked)).toEqual(rows);
    }), { seed: 4, numRuns: 4 });
    await threads.close();
  });

  it('are the same next to a prompt that is many times as long', async () => {
    const promptOf = (length: number): number[] => Array.from({ length }, (_, place) => (13 * place) % VOCABULARY);
    const batch = [promptOf(2), promptOf(900), promptOf(300)];
    const together = await session.generate(request({ prompts: batch, maxTokens: 40 }));
    for (const [row, prompt] of batch.entries()) {
      expect(await session.generate(request({ prompts: [prompt], maxTokens: 40, seeds: [row] }))).toEqual([together[row]]);
    }
  });

  it('differ where the seed does', async () => {
    const rows = await session.generate(request({ prompts: [[1, 2, 3]], samples: 20 }));
    expect(new Set(rows.map(({ tokens }) => tokens.join(' '))).size).toBe(20);
  });
});

describe('rows with an adapter', () => {
  it.each(['qwen2-tiny-all', 'qwen2-tiny-attention'])('%s are the same alone and in a batch', async (name) => {
    const adapter = await goldenAdapter('qwen2-tiny', name);
    const session = await openModel('qwen2-tiny', { adapters: true });
    await fc.assert(fc.asyncProperty(prompts, sampling, async (batch, settings) => {
      const together = await session.generate(request({ prompts: batch, ...settings, adapter }));
      const last = batch.length - 1;
      const alone = await session.generate(request({ prompts: [batch[last] as number[]], ...settings, adapter, seeds: [last] }));
      expect(alone).toEqual([together[last]]);
    }), { seed: 5, numRuns: 15 });
    await session.close();
  });
});

describe('rows of a model whose weights are not repacked', () => {
  it.each(QWEN_MODELS)('%s are the same in every batch of at least two', async (model) => {
    // A single row goes through another kernel, a product of a vector, which adds up in another order.
    const session = await openModel(model, { repackWeights: false });
    await fc.assert(fc.asyncProperty(prompts, sampling, async (batch, settings) => {
      const together = await session.generate(request({ prompts: batch, ...settings }));
      expect(await session.generate(request({ prompts: batch.slice(0, 2), ...settings }))).toEqual(together.slice(0, 2));
    }), { seed: 6, numRuns: 10 });
    await session.close();
  });

  const trained = QWEN_MODELS.flatMap((model) => (['adapter', 'weights'] as const).map((trainable) => ({ model, trainable })));
  it.each(trained)('$model are the same alone too where its $trainable can be trained', async ({ model, trainable }) => {
    const { tensors } = await openCheckpoint(modelFolder(model));
    const session = await openModel(model, { repackWeights: false, adapters: true, trainable: trainable === 'adapter' ? trainable : [...tensors.keys()] });
    if (trainable === 'weights') session.useWeights(new Map(await Promise.all([...tensors].map(async ([name, tensor]) => [name, await readTensor(tensor)] as const))));
    await fc.assert(fc.asyncProperty(prompts, sampling, async (batch, settings) => {
      const together = await session.generate(request({ prompts: batch, ...settings }));
      const told: number[][] = [];
      const onTokens = (row: number, tokens: readonly number[]): void => void (told[row] ??= []).push(...tokens);
      const alone = await session.generate({ ...request({ prompts: batch.slice(0, 1), ...settings }), onTokens });
      expect(alone).toEqual(together.slice(0, 1));
      expect(told).toEqual([alone[0]!.tokens]);
    }), { seed: 7, numRuns: 10 });
    await session.close();
  });
});
