import { describe, expect, it } from 'vitest';
import { groupAdvantages } from '../../backend/train/grpo/advantages.ts';
import { learningRate } from '../../backend/train/grpo/learning-rate.ts';
import { rewardOf, type RolloutOutcome } from '../../backend/train/grpo/reward.ts';

const judged = (verified: boolean, score: number, costUsd = 0): RolloutOutcome => ({ kind: 'judged', verified, score, costUsd });

describe('the reward', () => {
  it('is 0 for what is no plan, 0.5 for a wrong answer, 1 for a verified one', () => {
    expect(rewardOf({ kind: 'unparseable' })).toBe(0);
    expect(rewardOf(judged(false, 0.8))).toBe(0.5);
    expect(rewardOf(judged(true, 1, 3))).toBe(1);
  });

  it('goes by the graded score, and takes off what was paid, where that is asked for', () => {
    expect(rewardOf(judged(false, 0.5), { judgedBy: 'score', passes: 'wrong', costWeight: 0 })).toBe(0.75);
    expect(rewardOf(judged(true, 1, 0.2), { judgedBy: 'verified', passes: 'wrong', costWeight: 0.5 })).toBeCloseTo(0.9, 12);
    expect(rewardOf({ kind: 'unparseable' }, { judgedBy: 'score', passes: 'wrong', costWeight: 1 })).toBe(0);
  });

  it('counts an answer that passes without being verified as a wrong one, however it is judged, unless the trainer says otherwise', () => {
    const passes: RolloutOutcome = { kind: 'judged', verified: false, passes: true, score: 1, costUsd: 0 };
    expect(rewardOf(passes)).toBe(0.5);
    expect(rewardOf(passes, { judgedBy: 'score', passes: 'wrong', costWeight: 0 })).toBe(0.5);
    expect(rewardOf(passes, { judgedBy: 'verified', passes: 'right', costWeight: 0 })).toBe(1);
  });

  it('is not known where a worker or the machine failed', () => {
    expect(rewardOf({ kind: 'infrastructure' })).toBeUndefined();
  });
});

describe('advantages', () => {
  it('are those of TRL: from the mean, by the deviation of the group', () => {
    // (r − 0.625) / (0.4787136 + 1e-4)
    const { advantages, mean, deviation } = groupAdvantages([0, 0.5, 1, 1]);
    expect([mean, deviation]).toEqual([0.625, expect.closeTo(0.478714, 6)]);
    expect(advantages).toEqual([-1.30531, -0.261062, 0.783185, 0.783185].map((value) => expect.closeTo(value, 5)));
    expect(groupAdvantages([0, 1], { scale: 'none' }).advantages).toEqual([-0.5, 0.5]);
  });

  it('leave out what is not known, in the mean too', () => {
    const { advantages, mean } = groupAdvantages([0, undefined, 1]);
    expect(mean).toBe(0.5);
    expect(advantages[1]).toBe(0);
    expect(advantages[0]).toBeCloseTo(-0.707, 3);
  });

  it('are all 0 in a group without differences, with nothing known, and of one', () => {
    for (const rewards of [[0.5, 0.5, 0.5], [undefined, undefined], [1], [0.1 + 0.2, 0.3], []]) {
      const { advantages, isFlat } = groupAdvantages(rewards);
      expect(isFlat).toBe(true);
      expect(advantages.every((advantage) => advantage === 0)).toBe(true);
    }
  });
});

describe('the learning rate', () => {
  it('rises over the warm-up and falls by a cosine, a line, or not at all, and no step has the rate 0', () => {
    const rates = (schedule: 'cosine' | 'linear' | 'constant', steps = 9, warmup = 0.2): number[] =>
      Array.from({ length: steps }, (_, step) => learningRate(step, steps, { peak: 1, warmup, schedule }));
    // transformers' ten steps with two of warm-up, without the first and the last, where the rate is 0.
    expect(rates('cosine').map((rate) => rate.toFixed(3)).join(' ')).toBe('0.500 1.000 0.962 0.854 0.691 0.500 0.309 0.146 0.038');
    expect(rates('linear').slice(1)).toEqual([1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125]);
    expect(rates('constant').slice(1).every((rate) => rate === 1)).toBe(true);
    for (const steps of [1, 2, 3, 50]) {
      for (const warmup of [0, 0.03, 1]) expect(Math.min(...rates('cosine', steps, warmup)), `${steps} steps, ${warmup}`).toBeGreaterThan(0);
    }
  });
});
