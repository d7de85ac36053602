import { expect, it } from 'vitest';
import { REWARD_DEFAULTS } from '../../backend/train/grpo/reward.ts';
import type { Outcome } from '../../backend/train/outcomes/outcome.ts';
import { ownPlans } from '../../backend/train/outcomes/own-plans.ts';

const outcomes = (kind: string, verified: readonly boolean[]): Outcome[] => verified.map((isVerified, index) => ({
  runId: `${kind}${index}`, round: 0, at: index, question: `${kind}${index}`, kind, sampledBy: 'conductor-mini',
  judged: { kind: 'judged', verified: isVerified, score: Number(isVerified), costUsd: 0 }, tokens: 1, durationMs: 1,
}));
const times = (count: number, isVerified: boolean): boolean[] => Array.from({ length: count }, () => isVerified);
const advantages = (...from: readonly Outcome[][]): number[] => ownPlans(from.flat(), REWARD_DEFAULTS).map(({ advantage }) => advantage);

it('are worth more where they were verified, and their worths cancel out', () => {
  const found = advantages(outcomes('bug', [...times(4, true), ...times(4, false)]));
  expect(found).toEqual([...Array.from({ length: 4 }, () => 1), ...Array.from({ length: 4 }, () => -1)]);
});

it('are measured by what is usual for their kind of question', () => {
  const [easyRight, , , , , , , easyWrong, hardRight, , , , , , , hardWrong] =
    advantages(outcomes('feature', [...times(7, true), false]), outcomes('bug', [true, ...times(7, false)])) as [number, ...number[]];
  expect(hardRight).toBeGreaterThan(easyRight);
  expect(easyWrong).toBeLessThan(hardWrong as number);
});

it('teach nothing where all are worth the same, and where they are few', () => {
  expect(advantages(outcomes('bug', times(20, true)), outcomes('feature', times(3, true)))).toEqual([]);
  expect(advantages(outcomes('bug', [true, false, true, false]))).toEqual([]);
});
