import { describe, expect, it } from 'vitest';
import { expectedAdvantages } from '../../backend/train/grpo/advantages.ts';
import { drawWithOdds } from '../../backend/train/grpo/draw-with-odds.ts';
import { expectedRewards, type ExpectedPlan } from '../../backend/train/grpo/expected-rewards.ts';
import { REWARD_DEFAULTS, type RolloutOutcome } from '../../backend/train/grpo/reward.ts';

const judged = (verified: boolean): RolloutOutcome => ({ kind: 'judged', verified, score: Number(verified), costUsd: 0 });

/** Whether each plan's answer is right, and what was expected of it. */
const PLANS = [[true, 0.9], [true, 0.2], [false, 0.7], [false, 0.1], [true, 0.5], [false, 0.5]] as const;

/** The plans of one group, of which `count` are carried out. */
function step(count: number, start: number, plans: readonly (readonly [boolean, number])[] = PLANS): ExpectedPlan[] {
  return drawWithOdds(plans.map(([, chance]) => 0.25 + Math.sqrt(chance * (1 - chance))), count, start)
    .map(({ isDrawn, odds }, index) => ({ outcome: isDrawn ? judged(plans[index]![0]) : undefined, expected: { chance: plans[index]![1], odds } }));
}

describe('estimated rewards', () => {
  it('are the rewards where all plans are carried out, whatever was expected', () => {
    const { rewards } = expectedRewards([step(6, 0.3)], REWARD_DEFAULTS);
    rewards[0]!.forEach((reward, index) => expect(reward).toBeCloseTo(PLANS[index]![0] ? 1 : 0.5, 12));
  });

  it('have nearly the right difference from their mean over all draws, even where what was expected is wrong', () => {
    const all = Array.from({ length: 5_000 }, (_, index) => expectedRewards([step(3, index / 5_000)], REWARD_DEFAULTS).rewards[0]!);
    const means = PLANS.map((_, plan) => all.reduce((sum, rewards) => sum + rewards[plan]!, 0) / all.length);
    const middle = means.reduce((a, b) => a + b, 0) / means.length;
    // Not exactly, since the shift is made of the same outcomes.
    PLANS.forEach(([isRight], plan) => expect(Math.abs(means[plan]! - middle - (isRight ? 0.25 : -0.25))).toBeLessThan(0.05));
  });

  it('vary less, the better the outcomes were expected', () => {
    const spread = (plans: readonly (readonly [boolean, number])[]): number => {
      const all = Array.from({ length: 500 }, (_, index) => expectedRewards([step(3, index / 500, plans)], REWARD_DEFAULTS).rewards[0]!);
      return plans.reduce((sum, [isRight], plan) => sum + all.reduce((squares, rewards) => squares + (rewards[plan]! - (isRight ? 1 : 0.5)) ** 2, 0), 0);
    };
    const known = PLANS.map(([isRight]) => [isRight, isRight ? 0.95 : 0.05] as const);
    const unknown = PLANS.map(([isRight]) => [isRight, 0.5] as const);
    expect(spread(known)).toBeLessThan(0.1 * spread(unknown));
  });

  it('are all alike where nothing was expected and every outcome is the same: nothing is learned from that', () => {
    const plans = PLANS.map(() => [false, 0.3] as const);
    const { rewards, deviation } = expectedRewards([step(2, 0.6, plans)], REWARD_DEFAULTS);
    expect(expectedAdvantages(rewards[0]!, deviation)).toMatchObject({ isFlat: true, advantages: plans.map(() => 0) });
  });

  it('are 0 for a text that is no plan, and only what was expected for an outcome that is not known', () => {
    const { rewards, error } = expectedRewards([[
      { outcome: { kind: 'unparseable' } }, { outcome: { kind: 'infrastructure' }, expected: { chance: 0.4, odds: 0.5 } }, { outcome: undefined, expected: { chance: 0.6, odds: 0.5 } },
    ]], REWARD_DEFAULTS);
    expect(rewards[0]![0]).toBe(0);
    expect(rewards[0]![1]).toBeCloseTo(0.7, 12);
    expect(rewards[0]![2]).toBeCloseTo(0.8, 12);
    expect(error).toBeUndefined();
  });

  it('tell how far off what was expected was', () => {
    expect(expectedRewards([[{ outcome: judged(true), expected: { chance: 0.6, odds: 1 } }]], REWARD_DEFAULTS).error).toBeCloseTo(0.04, 12);
  });
});

it('advantages of estimates are divided by what rewards vary in the whole step, or not at all', () => {
  expect(expectedAdvantages([1, 0.5], 0.25).advantages[0]).toBeCloseTo(1, 2);
  expect(expectedAdvantages([1, 0.5], 0.25, { scale: 'none' }).advantages).toEqual([0.25, -0.25]);
});
