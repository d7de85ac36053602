import { describe, expect, it } from 'vitest';
import { compareConductors, signFlipTest } from '../../backend/train/trainings/compare.ts';
import type { SampledCompletion, SampleRequest } from '../../backend/train/engines/engine.ts';
import type { Gatherer } from '../../backend/train/grpo/grpo-trainer.ts';
import { estimate } from '../../backend/train/statistics/statistics.ts';

const { signal } = new AbortController();
const completion = (text: string): SampledCompletion => ({ text, promptTokens: [], tokens: [], logprobs: [], finishReason: 'stop' });
const always = (text: string) => async ({ seeds }: SampleRequest): Promise<SampledCompletion[]> => seeds.map(() => completion(text));

const gatherer: Gatherer<number> = {
  prompt: (task) => ({ messages: [{ role: 'user', content: String(task) }] }),
  outcomes: async (task, plans) => plans.map(({ completion: { text } }) => {
    if (text === 'garbage') return { kind: 'unparseable' };
    if (task === 3) return { kind: 'infrastructure' };
    return { kind: 'judged', verified: text === 'good' || task === 0, score: 0, costUsd: text === 'good' ? 2 : 1 };
  }),
};

describe('two Conductors on the same tasks', () => {
  it('are compared task by task, cost beside score, without what is not known', async () => {
    const compared = await compareConductors(
      { tasks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], gatherer, before: always('bad'), after: always('good') },
      { samples: 2, maxTokens: 10, temperature: 1, seed: 1 }, signal,
    );
    expect(compared).toMatchObject({ tasks: 10, samples: 2, before: { formatRate: 1, costUsd: 1 }, after: { verified: { mean: 1, low: 1, high: 1 }, costUsd: 2 } });
    expect(compared.before.verified.mean).toBeCloseTo(1 / 9, 9);
    expect(compared.difference.mean).toBeCloseTo(8 / 9, 9);
    expect(compared.difference.low).toBeGreaterThan(0.5);
    expect(compared.pValue).toBeLessThan(0.02);
  });

  it('that are the same differ by chance alone', async () => {
    const compared = await compareConductors(
      { tasks: [0, 1, 2], gatherer, before: always('garbage'), after: always('garbage') }, { samples: 3, maxTokens: 10, temperature: 1, seed: 1 }, signal,
    );
    expect(compared).toMatchObject({ before: { formatRate: 0 }, difference: { mean: 0, low: 0, high: 0 }, pValue: 1 });
  });
});

describe('two Conductors that may try again', () => {
  const playing = (verifiedBy: (text: string, revises: number) => boolean) => {
    const ran: string[] = [];
    const retrying: Gatherer<number> = {
      prompt: () => ({ messages: [{ role: 'user', content: 'first' }] }),
      revisionPrompt: (_task, _at, { revises = [] }) => ({ messages: [{ role: 'user', content: `round ${revises.length + 1}` }] }),
      outcomes: async (_task, plans, { step }) => plans.map(({ sample, completion: { text }, revises = [] }) => {
        ran.push(`${step}.${sample}.${revises.length}`);
        return text === 'garbage' ? { kind: 'unparseable' } : { kind: 'judged', verified: verifiedBy(text, revises.length), score: 0, costUsd: 1 };
      }),
    };
    return { ran, retrying };
  };
  const options = { samples: 2, maxTokens: 10, temperature: 1, seed: 1 };

  it('revise what the tests refute, and pay for every round', async () => {
    const { ran, retrying } = playing((text, revises) => text === 'good' && revises === 2);
    const compared = await compareConductors(
      { tasks: [0], gatherer: retrying, before: always('bad'), after: always('good'), triesOf: () => ({ rounds: 4, attempts: 1 }) }, options, signal,
    );
    expect(compared).toMatchObject({ before: { verified: { mean: 0 }, costUsd: 4 }, after: { verified: { mean: 1 }, costUsd: 3 } });
    expect(ran.filter((run) => run.startsWith('1.'))).toEqual(['1.0.0', '1.1.0', '1.0.1', '1.1.1', '1.0.2', '1.1.2']);
  });

  it('try independent plans until one is verified, each as a run of its own', async () => {
    const written = new Map<number, number>();
    const third = async ({ seeds }: SampleRequest): Promise<SampledCompletion[]> => seeds.map((seed) => {
      written.set(seed, (written.get(seed) ?? 0) + 1);
      return completion(written.size > 4 ? 'good' : 'garbage');
    });
    const { ran, retrying } = playing((text) => text === 'good');
    const compared = await compareConductors(
      { tasks: [0], gatherer: retrying, before: always('bad'), after: third, triesOf: () => ({ rounds: 4, attempts: 3 }) }, options, signal,
    );
    expect(compared).toMatchObject({ before: { verified: { mean: 0 }, costUsd: 3, formatRate: 1 }, after: { verified: { mean: 1 }, costUsd: 1 } });
    expect(compared.after.formatRate).toBeCloseTo(1 / 3, 9);
    expect(new Set(ran).size).toBe(ran.length);
    // No text is drawn twice.
    expect([...written.values()].every((count) => count === 1)).toBe(true);
  });
});

describe('an estimate', () => {
  it('has the interval that a normal distribution would have, where there are many values', () => {
    const values = Array.from({ length: 400 }, (_, index) => index % 2);
    const { mean, low, high } = estimate([values], { seed: 3, resamples: 2_000 });
    expect(mean).toBe(0.5);
    // 1.96 · 0.5 / √400
    expect(low).toBeCloseTo(0.451, 2);
    expect(high).toBeCloseTo(0.549, 2);
    expect(estimate([[]], { seed: 3 })).toEqual({ mean: 0, low: 0, high: 0 });
  });

  it('of chance is the share of signs that go as far', () => {
    // Of the 8 ways to choose signs, two.
    expect(signFlipTest([1, 1, 1], 1)).toBeCloseTo(0.25, 1);
    expect(signFlipTest([1, -1], 1)).toBe(1);
  });
});
