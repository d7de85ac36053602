import { describe, expect, it } from 'vitest';
import { trainingConfigSchema, type HeldOutLook } from '../../backend/protocol/training.ts';
import type { SampledCompletion, SampleRequest } from '../../backend/train/engines/engine.ts';
import type { Gatherer } from '../../backend/train/grpo/gatherer.ts';
import { HeldOutLooks, isLookDue } from '../../backend/train/trainings/held-out-looks.ts';
import { profileOf } from '../../backend/conductor/prompt-profile.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { RolloutGatherer } from '../../backend/train/rollouts/rollout-gatherer.ts';
import { lookOf } from '../../backend/train/trainings/compare.ts';

const completion = (text: string): SampledCompletion => ({ text, promptTokens: [], tokens: [], logprobs: [], finishReason: 'stop' });
const always = (text: string) => async ({ seeds }: SampleRequest): Promise<SampledCompletion[]> => seeds.map(() => completion(text));

const gatherer: Gatherer<number> = {
  prompt: () => ({ messages: [] }),
  outcomes: async (_task, plans) => plans.map(({ completion: { text } }) => ({ kind: 'judged', verified: text === 'good', score: 0, costUsd: 1 })),
};

/** Of four tasks. `saved` is what a later process finds. */
function looking(after: string, looks: readonly HeldOutLook[] = [], before = 'bad') {
  const saved: HeldOutLook[][] = [];
  const found = new HeldOutLooks<number>({ tasks: [1, 2, 3, 4], gatherer, before: always(before), after: always(after) }, {
    looks, maxTokens: 10, temperature: 1, seed: 1, signal: new AbortController().signal,
    save: async (taken) => void saved.push([...taken]),
  });
  return { saved, found };
}

describe('looks at held-out tasks at the end', () => {
  it('stop as soon as it is known which is better', async () => {
    const { saved, found } = looking('good');
    const pairs: number[] = [];
    expect(await found.untilKnown(9, 50, () => pairs.push(1))).toMatchObject({ says: 'better', pairs: found.tried() });
    expect(found.tried()).toBeLessThan(20);
    expect(pairs).toHaveLength(found.tried());
    expect(saved.at(-1)).toHaveLength(found.tried() / 4);
  });

  it('stop where each task was tried as often as it may be, and go on from there', async () => {
    const first = looking('bad');
    expect(await first.found.untilKnown(9, 3, () => {})).toMatchObject({ says: 'not-known', pairs: 12, costUsd: 24 });
    const second = looking('bad', first.saved.at(-1));
    expect(await second.found.untilKnown(9, 4, () => {})).toMatchObject({ pairs: 16 });
    expect(second.saved).toHaveLength(1);
  });

  it('are those of the weights at the end alone', async () => {
    const { found } = looking('good');
    for (const step of [1, 2, 3, 4, 5]) await found.onTheWay(step);
    expect(found.seen(5)).toMatchObject({ comparison: { says: 'better', pairs: 12 }, from: 3, to: 5 });
    expect(found.comparison()).toMatchObject({ says: 'not-known', pairs: 0 });
  });
});

describe('looks on the way', () => {
  it('are taken once for each step, by whichever process', async () => {
    const first = looking('good');
    await first.found.onTheWay(2);
    const second = looking('good', first.saved.at(-1));
    await second.found.onTheWay(2);
    expect(second.saved).toEqual([]);
    await second.found.onTheWay(3);
    expect(second.saved.at(-1)!.map(({ step }) => step)).toEqual([2, 3]);
  });

  it('tell nothing of the first half of a training', async () => {
    const { found } = looking('bad', [], 'good');
    for (const step of [1, 2, 3, 4, 5, 6]) await found.onTheWay(step);
    expect(found.seen(6)?.comparison).toMatchObject({ says: 'not-better' });
    expect(found.seen(12)).toBeUndefined();
  });

  it('cost at most a tenth of the plans that are trained on, and nothing where they are switched off', () => {
    const dueWith = (config: object, heldOut: number): number[] => {
      const parsed = trainingConfigSchema.parse(config);
      return Array.from({ length: 21 }, (_, done) => done).filter((done) => isLookDue(done, heldOut, parsed));
    };
    // 8 plans of a step are carried out, or all 32, and 16 tries a look.
    expect(dueWith({}, 12)).toEqual([20]);
    expect(dueWith({ carriedOut: 32 }, 12)).toEqual([5, 10, 15, 20]);
    expect(dueWith({ carriedOut: 32, tasksPerStep: 1 }, 12)).toEqual([20]);
    expect(dueWith({ carriedOut: 32 }, 2)).toEqual([2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20]);
    expect(dueWith({ evaluation: { onTheWay: 0 } }, 12)).toEqual([]);
    expect(dueWith({}, 0)).toEqual([]);
  });
});

it('give both tries of a pair the same pool, and other looks other ones', () => {
  const pool = Array.from({ length: 6 }, (_, index) => workerConfigSchema.parse({ id: `w${index}`, provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' }));
  const rollouts = { run: () => Promise.reject(new Error('not here')), pastRounds: () => [] };
  const gatherer = new RolloutGatherer({ rollouts, pool, profile: profileOf({ provider: 'openai-compatible' }), poolSizes: [2, 3], seed: 1, drawnFor: lookOf });
  const drawn = (step: number): string => gatherer.poolOf({ step, place: 0 }).map(({ id }) => id).join();
  const [looks, pairs] = [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]].map((steps) => steps.map(drawn)) as [string[], string[]];
  expect(pairs).toEqual(looks);
  expect(new Set(looks).size).toBeGreaterThan(1);
});
