import { expect, it } from 'vitest';
import type { SampledCompletion } from '../../../backend/train/engines/engine.ts';
import { judgedStep, type JudgedCompletion } from '../../../backend/train/grpo/grpo-step.ts';
import type { RolloutOutcome } from '../../../backend/train/grpo/reward.ts';
import { givenGroup, judgedGroup } from '../../../backend/train/team/given-group.ts';
import { givenGroupSchema } from '../../../backend/train/team/team-messages.ts';

const OPTIONS = { reward: { judgedBy: 'verified', passes: 'wrong', costWeight: 0 }, revisionWeight: 0.25, advantage: { scale: 'group' }, maskTruncated: false } as const;
const completion = (token: number): SampledCompletion => ({ promptTokens: [1, 2], tokens: [token], logprobs: [-1], text: 'a plan', finishReason: 'stop' });
const judged = (verified: boolean): RolloutOutcome => ({ kind: 'judged', verified, score: Number(verified), costUsd: 0.1 });

/** Half of these are carried out. */
const SOME: JudgedCompletion[] = [
  { completion: completion(1), outcome: judged(true), expected: { chance: 0.5, odds: 0.5 } },
  { completion: completion(2), outcome: judged(false), expected: { chance: 0.5, odds: 0.5 } },
  { completion: completion(3), outcome: undefined, expected: { chance: 0.5, odds: 0.5 } },
];
const ALL: JudgedCompletion[] = [true, false, true].map((verified, index) => ({ completion: completion(10 + index), outcome: judged(verified) }));

const advantages = (groups: readonly JudgedCompletion[][]): Map<number, number> =>
  new Map(judgedStep(groups, OPTIONS).examples.map(({ tokens, advantage }) => [tokens[0]!, advantage]));

it('a machine that carries out all plans teaches beside one that carries out some: its verdicts count as they are', () => {
  const mixed = advantages([SOME, ALL]);
  expect([10, 11, 12].map((token) => Math.sign(mixed.get(token)!))).toEqual([1, -1, 1]);
  expect(mixed.get(10)).toBe(mixed.get(12));
  // What is not known of a plan is not taken for a text that is no plan.
  const broken: JudgedCompletion[] = [...ALL, { completion: completion(20), outcome: { kind: 'infrastructure' } }];
  const unknown = advantages([SOME, broken]);
  expect(unknown.get(20)!).toBeGreaterThan(unknown.get(11)!);
  expect(unknown.get(20)!).toBeLessThan(unknown.get(10)!);
});

it('a group teaches the same after it was handed in, without the texts of its plans', () => {
  const groups = [SOME, [...ALL, { completion: { ...completion(30), promptTokens: [1, 2, 3], logprobs: [1e-8] }, outcome: { kind: 'unparseable' } as const, revised: judged(true) }]];
  const sent = groups.map((group, place) => JSON.stringify(givenGroup(group, { instance: 'one', step: 0, version: 0, place, of: 2, seconds: 1 })));
  expect(sent.join()).not.toContain('a plan');
  const taken = sent.map((text) => judgedGroup(givenGroupSchema.parse(JSON.parse(text))));
  expect(judgedStep(taken, OPTIONS).metrics).toEqual(judgedStep(groups, OPTIONS).metrics);
  expect(advantages(taken)).toEqual(advantages(groups));
  expect(taken[1]![3]!.completion).toMatchObject({ promptTokens: [1, 2, 3], logprobs: [0] });
});
