import { describe, expect, it } from 'vitest';
import { costOnlyWhere } from '../../../backend/lab/gym/cost-where.ts';
import type { Gatherer } from '../../../backend/train/grpo/gatherer.ts';

const outcomes = [{ kind: 'judged', verified: true, score: 1, costUsd: 0.5 }, { kind: 'unparseable' }] as const;
const gatherer: Gatherer<string> = { prompt: () => ({ messages: [] }), outcomes: () => Promise.resolve(outcomes) };
const gathered = (task: string) => costOnlyWhere(gatherer, (one) => one === 'talk').outcomes(task, [], { step: 0, place: 0 }, new AbortController().signal);

describe('the cost of plans in a training', () => {
  it('counts for the tasks that are named', async () => {
    expect(await gathered('talk')).toEqual(outcomes);
  });

  it('is nothing for all others, whose outcome stays', async () => {
    expect(await gathered('code')).toEqual([{ ...outcomes[0], costUsd: 0 }, outcomes[1]]);
  });
});
