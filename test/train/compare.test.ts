import { describe, expect, it } from 'vitest';
import type { HeldOutTry } from '../../backend/protocol/training.ts';
import { comparisonOf, lookAtHeldOut, signFlipTest, type LookParts } from '../../backend/train/trainings/compare.ts';
import type { SampledCompletion, SampleRequest } from '../../backend/train/engines/engine.ts';
import type { Gatherer } from '../../backend/train/grpo/gatherer.ts';
import { estimate } from '../../backend/train/statistics/statistics.ts';

const { signal } = new AbortController();
const completion = (text: string): SampledCompletion => ({ text, promptTokens: [], tokens: [], logprobs: [], finishReason: 'stop' });
const always = (text: string) => async ({ seeds }: SampleRequest): Promise<SampledCompletion[]> => seeds.map(() => completion(text));
const options = { maxTokens: 10, temperature: 1, seed: 1 };

const gatherer: Gatherer<number> = {
  prompt: (task) => ({ messages: [{ role: 'user', content: String(task) }] }),
  outcomes: async (task, plans) => plans.map(({ completion: { text } }) => {
    if (text === 'garbage') return { kind: 'unparseable' };
    if (task === 3) return { kind: 'infrastructure' };
    return { kind: 'judged', verified: text === 'good' || task === 0, score: 0, costUsd: text === 'good' ? 2 : 1 };
  }),
};

describe('a look at held-out tasks', () => {
  it('is one try of each by each Conductor, without pairs that are not known', async () => {
    const pairs = await lookAtHeldOut({ tasks: [0, 1, 2, 3], gatherer, before: always('bad'), after: always('good') }, 0, options, signal);
    expect(pairs).toHaveLength(3);
    expect(pairs.map(({ before }) => before.verified).sort()).toEqual([false, false, true]);
    expect(pairs.every(({ after }) => after.verified && after.usd === 2)).toBe(true);
  });

  it('is of eight tasks at most, others each time, by runs of their own', async () => {
    const runs: string[] = [];
    const counting: Gatherer<number> = {
      ...gatherer,
      outcomes: async (task, plans, at, aborted) => {
        runs.push(...plans.map(({ sample }) => `${at.step}.${at.place}.${sample}`));
        return await gatherer.outcomes(task, plans, at, aborted);
      },
    };
    const parts: LookParts<number> = { tasks: Array.from({ length: 20 }, (_, index) => index + 10), gatherer: counting, before: always('bad'), after: always('bad') };
    const tasksOf = async (index: number): Promise<string> => {
      const from = runs.length;
      expect(await lookAtHeldOut(parts, index, options, signal)).toHaveLength(8);
      return [...new Set(runs.slice(from).map((run) => run.split('.')[1]))].sort().join();
    };
    expect(await tasksOf(0)).not.toBe(await tasksOf(1));
    expect(new Set(runs).size).toBe(runs.length);
    expect(runs).toHaveLength(32);
  });

  it('ends with the first failure, and lets no other plan begin', async () => {
    const failing: Gatherer<number> = { ...gatherer, outcomes: () => Promise.reject(new Error('the budget is spent')) };
    await expect(lookAtHeldOut({ tasks: [0, 1, 2], gatherer: failing, before: always('bad'), after: always('good') }, 0, options, signal)).rejects.toThrow('the budget is spent');
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

  it('revise what the tests refute, and pay for every round', async () => {
    const { ran, retrying } = playing((text, revises) => text === 'good' && revises === 2);
    const parts = { tasks: [0], gatherer: retrying, before: always('bad'), after: always('good'), triesOf: () => ({ rounds: 4, attempts: 1 }) };
    expect(await lookAtHeldOut(parts, 2, options, signal)).toEqual([{
      before: { verified: false, plans: 4, valid: 4, usd: 4 }, after: { verified: true, plans: 3, valid: 3, usd: 3 },
    }]);
    expect(ran.filter((run) => run.startsWith('5.'))).toEqual(['5.10.0', '5.10.1', '5.10.2']);
  });

  it('tell what each side used, where that is known', async () => {
    const used = (tokens: number | undefined): Gatherer<number> => ({
      prompt: () => ({ messages: [] }), outcomes: async (_task, plans) => plans.map(({ completion: { text } }) => ({ kind: 'judged', verified: false, score: 0, costUsd: 1, tokens: tokens === undefined || text === 'good' ? tokens : 2 * tokens })),
    });
    const look = async (tokens: number | undefined) => comparisonOf([{ step: 1, isFinal: true, pairs: await lookAtHeldOut({ tasks: [0, 1], gatherer: used(tokens), before: always('bad'), after: always('good') }, 0, options, signal) }], 2);
    expect(await look(50)).toMatchObject({ before: { tokens: 100 }, after: { tokens: 50 } });
    expect((await look(undefined)).before.tokens).toBeUndefined();
  });

  it('try independent plans until one is verified, each as a run of its own', async () => {
    const written = new Map<number, number>();
    const third = async ({ seeds }: SampleRequest): Promise<SampledCompletion[]> => seeds.map((seed) => {
      written.set(seed, (written.get(seed) ?? 0) + 1);
      return completion(written.size > 2 ? 'good' : 'garbage');
    });
    const { ran, retrying } = playing((text) => text === 'good');
    const parts = { tasks: [0], gatherer: retrying, before: always('bad'), after: third, triesOf: () => ({ rounds: 4, attempts: 3 }) };
    expect(await lookAtHeldOut(parts, 0, options, signal)).toEqual([{
      before: { verified: false, plans: 3, valid: 3, usd: 3 }, after: { verified: true, plans: 3, valid: 1, usd: 1 },
    }]);
    expect(new Set(ran).size).toBe(ran.length);
    // No text is drawn twice.
    expect([...written.values()].every((count) => count === 1)).toBe(true);
  });
});

describe('a comparison', () => {
  const tried = (verified: boolean, usd: number): HeldOutTry => ({ verified, plans: 2, valid: 1, usd });
  const looks = (pairs: number, before: (index: number) => boolean, after: (index: number) => boolean) =>
    [{ step: 4, isFinal: true, pairs: Array.from({ length: pairs }, (_, index) => ({ before: tried(before(index), 1), after: tried(after(index), 2) })) }];

  it('is better where that is shown, with both shares, the cost beside them and what all of it cost', () => {
    const compared = comparisonOf(looks(20, () => false, (index) => index % 10 > 0), 5);
    expect(compared).toMatchObject({
      says: 'better', tasks: 5, pairs: 20, costUsd: 60, before: { verified: { mean: 0 }, formatRate: 0.5, costUsd: 1 }, after: { verified: { mean: 0.9 }, costUsd: 2 }, difference: { mean: 0.9 },
    });
    expect(compared.difference.low).toBeGreaterThan(0);
    expect(compared.more).toBeUndefined();
  });

  it('is not known with few pairs, and says what more would cost', () => {
    const { says, difference, more } = comparisonOf(looks(4, () => false, () => true), 4);
    expect([says, difference.mean, difference.low < 0]).toEqual(['not-known', 1, true]);
    expect(more!.usd).toBe(3 * more!.pairs);
  });

  it('is not better where no gain of 10 points is left', () => {
    expect(comparisonOf(looks(40, (index) => index % 2 === 0, (index) => index % 8 === 0), 8)).toMatchObject({ says: 'not-better', difference: { mean: -0.375 } });
  });

  it('of nothing is not known, and costs nothing', () => {
    expect(comparisonOf([], 4)).toMatchObject({ says: 'not-known', pairs: 0, costUsd: 0 });
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
