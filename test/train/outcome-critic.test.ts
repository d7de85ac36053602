import { expect, it } from 'vitest';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import type { SampledCompletion } from '../../backend/train/engines/engine.ts';
import type { RolloutOutcome } from '../../backend/train/grpo/reward.ts';
import { OutcomeCritic } from '../../backend/train/rollouts/outcome-critic.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';

const POOL = ['good', 'poor'].map((model) => workerConfigSchema.parse({ id: model, provider: 'openai', model }));
const TASK = { question: 'Write a function that adds two numbers.' };
const AT = { step: 0, place: 0 };

const sampled = (text: string): SampledCompletion => ({ text, tokens: [1], logprobs: [-1], promptTokens: [], finishReason: 'stop' });
const by = (worker: number): SampledCompletion => sampled(renderPlan({ modelIds: [worker], subtasks: ['Write the code.'], accessList: [[]] }));
const judged = (verified: boolean, passes = false): RolloutOutcome => ({ kind: 'judged', verified, ...(passes && { passes }), score: Number(verified), costUsd: 0 });
const critic = (options: Partial<ConstructorParameters<typeof OutcomeCritic>[0]> = {}): OutcomeCritic =>
  new OutcomeCritic({ profile: { isInstructed: true }, poolOf: () => POOL, passes: 'wrong', ...options });
const learned = (of: OutcomeCritic, outcomes: readonly (readonly [number, RolloutOutcome | undefined])[]): OutcomeCritic => {
  of.learn([{ task: TASK, at: AT, group: outcomes.map(([worker, outcome]) => ({ completion: by(worker), outcome })) }]);
  return of;
};

it('expects the same of workers before anything was judged, and nothing of a text that is no plan', () => {
  const [good, poor, none] = critic().chances(TASK, [by(0), by(1), sampled('no plan')], AT);
  expect(good).toBe(poor);
  expect(none).toBeUndefined();
});

it('expects more of a plan by whom tests verified, and says what it learned from, newest first', () => {
  const of = learned(critic(), Array.from({ length: 12 }, (_, index) => [index % 2, judged(index % 2 === 0)] as const));
  const [good = 0, poor = 1] = of.chances(TASK, [by(0), by(1)], AT);
  expect(good).toBeGreaterThan(0.7);
  expect(poor).toBeLessThan(0.3);
  expect(of.judged.slice(0, 2).map(({ isRight }) => isRight)).toEqual([false, true]);
  const [again] = critic({ judged: of.judged }).chances(TASK, [by(0)], AT);
  expect(again).toBe(good);
});

it('learns nothing of plans that were not carried out, or whose outcome is not known', () => {
  expect(learned(critic(), [[0, undefined], [0, { kind: 'infrastructure' }]]).judged).toEqual([]);
});

it('takes an answer that passes for what the training takes it for', () => {
  const isRight = (passes: 'wrong' | 'right'): boolean | undefined => learned(critic({ passes }), [[0, judged(false, true)]]).judged[0]?.isRight;
  expect(isRight('wrong')).toBe(false);
  expect(isRight('right')).toBe(true);
});
