import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { kindsIn, tellsPlans, workerShares } from '../../backend/protocol/plan-metrics.ts';
import type { GroupPlace, SampledPlan } from '../../backend/train/grpo/gatherer.ts';
import type { Task } from '../../backend/train/tasks/task.ts';
import { diversityOf, planMetrics, shapeOf } from '../../backend/train/rollouts/plan-metrics.ts';
import { tellingPlans } from '../../backend/train/rollouts/telling-plans.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { Access, Plan } from '../../backend/workflow/plan.ts';

const POOL = ['claude', 'gpt', 'qwen'].map((id) => workerConfigSchema.parse({ id, model: id, provider: 'openai' }));

const planOf = (modelIds: readonly number[], accessList: readonly Access[]): Plan =>
  ({ modelIds, accessList, subtasks: modelIds.map((_, index) => (index === 0 ? 'Write the code.' : 'Check the code and give it whole.')) });
const ONE = planOf([0], [[]]);
const CHAIN = planOf([0, 1], [[], [0]]);
const ALL = planOf([0, 1, 2], [[], [0], 'all']);
const TREE = planOf([0, 1, 2], [[], [], [0, 1]]);
const given = (...plans: readonly Plan[]) => plans.map((plan) => ({ plan, pool: POOL }));

describe('the figures of plans', () => {
  it.each([
    ['none', ONE], ['none', planOf([0, 1], [[], []])], ['chain', CHAIN], ['chain', planOf([0, 1], [[], 'all'])],
    ['chain', planOf([0, 1, 2], [[], [0], [1]])], ['all', ALL], ['tree', TREE], ['tree', planOf([0, 1, 2], [[], [0], [0]])],
  ] as const)('tell that a plan is "%s"', (shape, plan) => {
    expect(shapeOf(plan)).toBe(shape);
  });

  it('tell lengths, workers, roles and shapes as shares, and leave out what is not there', () => {
    expect(planMetrics([{ kind: 'write', plans: given(ONE, CHAIN) }, { kind: 'repair', plans: given(CHAIN, ALL) }])).toEqual({
      'plans/mean_steps': 2, 'plans/diversity': 1,
      'plans/steps/1': 0.25, 'plans/steps/2': 0.5, 'plans/steps/3': 0.25,
      'plans/access/none': 0.25, 'plans/access/chain': 0.5, 'plans/access/all': 0.25,
      'plans/role/write': 0.5, 'plans/role/check': 0.5,
      'plans/worker/claude': 0.5, 'plans/worker/gpt': 0.375, 'plans/worker/qwen': 0.125,
      'plans/kind/write/claude': expect.closeTo(2 / 3), 'plans/kind/write/gpt': expect.closeTo(1 / 3),
      'plans/kind/repair/claude': 0.4, 'plans/kind/repair/gpt': 0.4, 'plans/kind/repair/qwen': 0.2,
    });
  });

  it('take two plans for the same that ask the same workers and read the same, however they are worded', () => {
    const reworded = { ...CHAIN, subtasks: ['Implement it.', 'Review it.'] };
    expect(diversityOf(given(CHAIN, reworded, planOf([0, 1], [[], 'all'])))).toBeCloseTo(1 / 3);
    expect(diversityOf(given(CHAIN, planOf([0, 1], [[], []]), planOf([1, 1], [[], [0]])))).toBe(1);
  });

  it('are absent where no text is a plan', () => {
    expect(planMetrics([{ kind: 'write', plans: [] }])).toEqual({});
    expect(tellsPlans(planMetrics([{ kind: 'write', plans: [] }]))).toBe(false);
  });

  it('can be read back: who works, and for which kind of question', () => {
    const metrics = planMetrics([{ kind: 'a/b', plans: given(CHAIN) }, { kind: 'math', plans: given(ONE) }]);
    expect(workerShares(metrics)).toEqual([['claude', expect.closeTo(2 / 3)], ['gpt', expect.closeTo(1 / 3)]]);
    expect(workerShares(metrics, 'a/b')).toEqual([['claude', 0.5], ['gpt', 0.5]]);
    expect(kindsIn([metrics, {}])).toEqual(['a/b', 'math']);
  });
});

it('a gatherer tells of each step what its plans do, whatever came of them and in whatever order', async () => {
  const outcomes = [{ kind: 'infrastructure' }] as const;
  const telling = tellingPlans({
    prompt: () => ({ messages: [] }), revisionPrompt: () => undefined, poolOf: () => POOL, outcomes: () => Promise.resolve(outcomes),
  });
  const task = (kind: string): Task => ({ id: kind, kind, question: kind, context: '', grader: { grade: () => Promise.reject(new Error('not asked')) } });
  const sampled = (text: string): SampledPlan => ({ sample: 0, completion: { text, tokens: [], logprobs: [], promptTokens: [], finishReason: 'stop' } });
  const at = (step: number, place: number): GroupPlace => ({ step, place });
  telling.sampled?.(task('math'), [sampled(renderPlan(CHAIN)), sampled('no plan')], at(0, 1));
  telling.sampled?.(task('code'), [sampled(renderPlan(ONE))], at(0, 0));
  // Who is carried out does not matter.
  expect(await telling.outcomes(task('code'), [], at(0, 0), new AbortController().signal)).toBe(outcomes);
  expect(telling.metrics?.(0)).toEqual(planMetrics([{ kind: 'code', plans: given(ONE) }, { kind: 'math', plans: given(CHAIN) }]));
  telling.sampled?.(task('code'), [sampled(renderPlan(ALL))], at(1, 0));
  expect(telling.metrics?.(1)).toMatchObject({ 'plans/mean_steps': 3 });
});
