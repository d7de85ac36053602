import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GeneratedRow, GenerationRequest } from '../../../backend/lm/decoder/generation-request.ts';
import { ModelRequestError } from '../../../backend/lm/decoder/request-error.ts';
import { greedy, openModel, request } from './tiny-model.ts';

const VOCABULARY = 512;
const CONTEXT = 1024;

const promptOf = (length: number, seed = 0): number[] => Array.from({ length }, (_, place) => (31 * place + 7 * seed) % VOCABULARY);

let session: DecoderSession;
beforeAll(async () => {
  session = await openModel('qwen2-tiny-untied');
});
afterAll(() => session.close());

describe('the rows of a generation', () => {
  it('stand in the order of the prompts, the samples of each together', async () => {
    const prompts = [promptOf(3), promptOf(90), promptOf(1)];
    const rows = await session.generate(request({ prompts, samples: 2, seeds: [1, 2, 3, 4, 5, 6] }));
    expect(rows).toHaveLength(6);
    for (const [row, seed] of [1, 2, 3, 4, 5, 6].entries()) {
      const [single] = await session.generate(request({ prompts: [prompts[Math.floor(row / 2)] as number[]], seeds: [seed] }));
      expect(rows[row]).toEqual(single);
    }
  });

  it('are the same for samples with the same seed', async () => {
    const [first, ...others] = await session.generate(request({ prompts: [promptOf(5)], samples: 4, seeds: [9, 9, 9, 9] }));
    expect(others).toEqual([first, first, first]);
  });

  it('end each for itself: with a stop token, which is included, or with the last token allowed', async () => {
    const prompts = Array.from({ length: 12 }, (_, index) => promptOf(4 + index, index));
    const free = await session.generate(request({ prompts, maxTokens: 30 }));
    const stopTokenIds = [free[0]?.tokens[6], free[5]?.tokens[2], free[7]?.tokens[29]] as number[];
    const rows = await session.generate(request({ prompts, maxTokens: 30, stopTokenIds }));
    const expected = free.map(({ tokens, logprobs }): GeneratedRow => {
      const end = tokens.findIndex((token) => stopTokenIds.includes(token)) + 1;
      const length = end === 0 ? tokens.length : end;
      return { tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), finishReason: end === 0 ? 'length' : 'stop' };
    });
    expect(rows).toEqual(expected);
    expect(new Set(rows.map(({ finishReason }) => finishReason)).size).toBe(2);
  });

  it('may have a single token, after a prompt of a single token', async () => {
    const [long] = await session.generate(request({ prompts: [[511]], maxTokens: 5 }));
    const [row] = await session.generate(request({ prompts: [[511]], maxTokens: 1 }));
    expect(row).toEqual({ tokens: long?.tokens.slice(0, 1), logprobs: long?.logprobs.slice(0, 1), finishReason: 'length' });
    const [stopped] = await session.generate(request({ prompts: [[511]], maxTokens: 1, stopTokenIds: row?.tokens ?? [] }));
    expect(stopped?.finishReason).toBe('stop');
  });

  it('may fill the context to its last place, whatever its size', async () => {
    for (const contextLength of [CONTEXT, 100, 65, 64, 2]) {
      const small = await openModel('qwen2-tiny-untied', { contextLength });
      expect(small.contextLength).toBe(contextLength);
      for (const maxTokens of [1, Math.min(20, contextLength - 1)]) {
        const prompts = [promptOf(contextLength - maxTokens), promptOf(1)];
        const rows = await small.generate(request({ prompts, maxTokens, chunkTokens: 7 }));
        expect(rows).toEqual(await session.generate(request({ prompts, maxTokens, chunkTokens: 3 })));
        await expect(small.generate(request({ prompts, maxTokens: maxTokens + 1 }))).rejects.toThrow(ModelRequestError);
      }
      await small.close();
    }
  });

  it('are none for no prompts', async () => {
    await expect(session.generate(request({ prompts: [] }))).resolves.toEqual([]);
  });

  it('come from prompts that are read in groups as from prompts that are read at once', async () => {
    // Together far more tokens than are read in one run.
    const prompts = Array.from({ length: 30 }, (_, index) => promptOf(500 - 3 * index, index));
    const rows = await session.generate(request({ prompts, samples: 2, chunkTokens: 5 }));
    for (const index of [0, 8, 29]) {
      const alone = request({ prompts: [prompts[index] as number[]], samples: 2, seeds: [2 * index, 2 * index + 1] });
      expect(await session.generate(alone)).toEqual(rows.slice(2 * index, 2 * index + 2));
    }
  });
});

describe('tokens on the way', () => {
  it('are told chunk by chunk, and all of them', async () => {
    const heard: number[][][] = [[], [], []];
    const rows = await session.generate(request({
      prompts: [promptOf(3), promptOf(70), promptOf(9)],
      maxTokens: 11,
      chunkTokens: 4,
      onTokens: (row, tokens) => heard[row]?.push([...tokens]),
    }));
    expect(heard.map((chunks) => chunks.map(({ length }) => length))).toEqual([[4, 4, 3], [4, 4, 3], [4, 4, 3]]);
    expect(heard.map((chunks) => chunks.flat())).toEqual(rows.map(({ tokens }) => tokens));
  });

  it('are told of no row that has ended, and no chunk follows when all have', async () => {
    const [free] = await session.generate(request({ prompts: [promptOf(3)], maxTokens: 30 }));
    const calls: number[] = [];
    const onTokens = (_row: number, tokens: readonly number[]): void => void calls.push(tokens.length);
    const stopTokenIds = [free?.tokens[5] as number];
    const [row] = await session.generate(request({ prompts: [promptOf(3)], maxTokens: 30, chunkTokens: 4, stopTokenIds, onTokens }));
    const length = (free?.tokens.indexOf(stopTokenIds[0] as number) ?? 0) + 1;
    expect(row?.tokens).toHaveLength(length);
    expect(calls.reduce((sum, count) => sum + count, 0)).toBe(length);
    expect(calls).toHaveLength(Math.ceil(length / 4));
  });
});

describe('a cancel', () => {
  const prompts = [promptOf(20), promptOf(130)];

  it.each([
    ['while a chunk is told', (abort: () => void) => abort()],
    ['by an event that waits while a chunk is computed', (abort: () => void) => void setImmediate(abort)],
  ])('%s ends the generation with its reason, at most one chunk later, and leaves the session as it was', async (_when, later) => {
    const before = await session.generate(request({ prompts }));
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const heard = [0, 0];
    const cancelled = session.generate(request({
      prompts, maxTokens: 400, chunkTokens: 4, signal: controller.signal,
      onTokens: (row, tokens) => {
        if (heard[row] === 0 && row === 0) later(() => controller.abort(reason));
        heard[row]! += tokens.length;
      },
    }));
    await expect(cancelled).rejects.toBe(reason);
    for (const count of heard) expect([4, 8]).toContain(count);
    expect(await session.generate(request({ prompts }))).toEqual(before);
  });

  it('before the beginning computes nothing', async () => {
    const reason = new Error('never wanted');
    let heard = 0;
    const asked = request({ prompts, signal: AbortSignal.abort(reason), onTokens: () => { heard += 1; } });
    await expect(session.generate(asked)).rejects.toBe(reason);
    expect(heard).toBe(0);
  });

  it('is heard between the groups of prompts that are read', async () => {
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const many = Array.from({ length: 24 }, (_, index) => promptOf(600, index));
    let heard = 0;
    const cancelled = session.generate(request({ prompts: many, signal: controller.signal, onTokens: () => { heard += 1; } }));
    setImmediate(() => controller.abort(reason));
    await expect(cancelled).rejects.toBe(reason);
    expect(heard).toBe(0);
  });
});

describe('a request that cannot be met', () => {
  const bad: Readonly<Record<string, Partial<GenerationRequest>>> = {
    'an empty prompt': { prompts: [[1], []] },
    'an id below the vocabulary': { prompts: [[-1]] },
    'an id beyond the vocabulary': { prompts: [[1, VOCABULARY]] },
    'an id that is no whole number': { prompts: [[1.5]] },
    'an id that is no number': { prompts: [[Number.NaN]] },
    'too many tokens for the context': { prompts: [promptOf(1020)], maxTokens: 5 },
    'an endless answer': { maxTokens: Infinity },
    'no answer': { maxTokens: 0 },
    'half a token': { maxTokens: 1.5 },
    'no samples': { samples: 0, seeds: [] },
    'samples that are no number': { samples: Number.NaN },
    'too few seeds': { samples: 2, seeds: [1] },
    'too many seeds': { seeds: [1, 2] },
    'a seed that is no number': { seeds: [Number.NaN] },
    'an endless seed': { seeds: [Infinity] },
    'a seed that is no whole number': { seeds: [0.5] },
    'a negative temperature': { temperature: -1 },
    'a temperature that is no number': { temperature: Number.NaN },
    'an endless temperature': { temperature: Infinity },
    'a temperature below what numbers can tell apart': { temperature: 1e-39 },
    'top-p of 0': { topP: 0 },
    'top-p above 1': { topP: 1.1 },
    'top-p that is no number': { topP: Number.NaN },
    'a negative top-k': { topK: -1 },
    'half a top-k': { topK: 2.5 },
    'a top-k beyond whole numbers': { topK: 1e300 },
    'a stop token beyond the vocabulary': { stopTokenIds: [VOCABULARY] },
    'chunks of nothing': { chunkTokens: 0 },
    'chunks that are no number': { chunkTokens: Number.NaN },
  };

  it.each(Object.entries(bad))('is refused in a sentence: %s', async (_what, changes) => {
    const refused = session.generate(request({ prompts: [[1, 2, 3]], ...changes }));
    await expect(refused).rejects.toThrow(ModelRequestError);
    await expect(refused).rejects.toThrow(/^[A-Z][^]*\.$/);
  });

  const badScores: Readonly<Record<string, Partial<Parameters<DecoderSession['score']>[0]>>> = {
    'lists of different lengths': { promptLengths: [] },
    'an empty sequence': { sequences: [[]], promptLengths: [1] },
    'an id outside the vocabulary': { sequences: [[1, VOCABULARY]] },
    'an id that is no number': { sequences: [[1, Number.NaN]] },
    'a prompt of no token': { promptLengths: [0] },
    'a prompt longer than its sequence': { promptLengths: [3] },
    'a prompt length that is no number': { promptLengths: [Number.NaN] },
    'half a prompt length': { promptLengths: [1.5] },
    'a sequence longer than the context': { sequences: [promptOf(CONTEXT + 1)] },
    'temperature 0': { temperature: 0 },
    'a temperature that is no number': { temperature: Number.NaN },
    'an endless temperature': { temperature: Infinity },
  };

  it.each(Object.entries(badScores))('is refused when scoring: %s', async (_what, changes) => {
    const refused = session.score({ sequences: [[1, 2]], promptLengths: [1], ...changes });
    await expect(refused).rejects.toThrow(ModelRequestError);
  });

  it('leaves the session as it was', async () => {
    const [row] = await session.generate(request({ prompts: [[1, 2, 3]], ...greedy }));
    await expect(session.generate(request({ prompts: [[]] }))).rejects.toThrow(ModelRequestError);
    expect(await session.generate(request({ prompts: [[1, 2, 3]], ...greedy }))).toEqual([row]);
  });
});

describe('scoring', () => {
  it('has nothing to say where nothing follows a prompt', async () => {
    await expect(session.score({ sequences: [], promptLengths: [] })).resolves.toEqual([]);
    await expect(session.score({ sequences: [[1, 2], [3]], promptLengths: [2, 1] })).resolves.toEqual([[], []]);
  });

  it('reads a sequence that fills the context', async () => {
    const [scores = []] = await session.score({ sequences: [promptOf(CONTEXT)], promptLengths: [1] });
    expect(scores).toHaveLength(CONTEXT - 1);
    expect(scores.every((score) => score <= 0 && Number.isFinite(score))).toBe(true);
  });
});
