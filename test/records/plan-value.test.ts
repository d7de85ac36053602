import { describe, expect, it } from 'vitest';
import { KeyedRandom } from '../../backend/common/keyed-random.ts';
import { normalDraws } from '../../backend/common/normal-draws.ts';
import type { StepRole } from '../../backend/protocol/step-role.ts';
import { cholesky, solved, solvedTransposed } from '../../backend/records/cholesky.ts';
import { judgedPlans } from '../../backend/records/judged-plans.ts';
import { PlanValue, type JudgedPlan, type ValuedStep } from '../../backend/records/plan-value.ts';
import { judgedStep } from './judged-step.ts';

const HERE = { project: '/here', kind: 'bug' };
const does = (role: StepRole, worker: string): ValuedStep => ({ role, worker });
const judged = (isRight: boolean, ...steps: ValuedStep[]): JudgedPlan => ({ ...HERE, steps, isRight });
const times = (count: number, plan: JudgedPlan): JudgedPlan[] => Array.from({ length: count }, () => plan);
const draws = (seed: number): (() => number) => {
  const random = new KeyedRandom('plan value', seed);
  let at = 0;
  return normalDraws(() => random.unit(String((at += 1))));
};

describe('a value of plans', () => {
  it('expects more of who was right, and of nobody more where nothing is known', () => {
    const { chance } = new PlanValue([...times(4, judged(true, does('write', 'ann'))), ...times(4, judged(false, does('write', 'bob')))]).belief(HERE);
    expect(chance([does('write', 'ann')])).toBeGreaterThan(0.7);
    expect(chance([does('write', 'bob')])).toBeLessThan(0.3);
    const unknown = new PlanValue([]).belief(HERE);
    expect(unknown.chance([does('write', 'ann')])).toBeCloseTo(0.5);
    expect(unknown.worth('write', 'ann')).toBe(unknown.worth('write', 'bob'));
  });

  it('tells who helped in which role, also where they never worked alone', () => {
    const team = (planner: string, writer: string, isRight: boolean): JudgedPlan => judged(isRight, does('plan', planner), does('write', writer));
    const { worth } = new PlanValue([
      ...times(5, team('ann', 'bob', true)), ...times(5, team('bob', 'bob', false)), ...times(5, team('ann', 'cat', true)), ...times(5, team('cat', 'cat', false)),
    ]).belief(HERE);
    expect(worth('plan', 'ann')).toBeGreaterThan(worth('plan', 'bob') + 1);
    expect(worth('write', 'bob')).toBeCloseTo(worth('write', 'cat'), 1);
  });

  it('takes a plan of several for better only once it was', () => {
    const alone = [does('write', 'ann')];
    const team = [does('write', 'ann'), does('check', 'bob')];
    const before = new PlanValue(times(6, judged(false, ...alone))).belief(HERE);
    expect(before.chance(team)).toBeLessThan(before.chance(alone));
    const after = new PlanValue([...times(6, judged(true, ...team)), ...times(6, judged(false, ...alone))]).belief(HERE);
    expect(after.chance(team)).toBeGreaterThan(after.chance(alone));
  });

  it('carries over to another kind of question and another project, and less to what differs in both', () => {
    const value = new PlanValue(times(10, judged(true, does('write', 'ann'))));
    const [here, asked, elsewhere] = [HERE, { ...HERE, kind: 'feature' }, { project: '/there', kind: 'feature' }].map((subject) => value.belief(subject).worth('write', 'ann')) as [number, number, number];
    expect(here).toBeGreaterThan(asked);
    expect(asked).toBeGreaterThan(elsewhere);
    expect(elsewhere).toBeGreaterThan(0);
  });

  it('forgets: the newest count most', () => {
    const [right, wrong] = [times(30, judged(true, does('write', 'ann'))), times(30, judged(false, does('write', 'ann')))];
    expect(new PlanValue([...right, ...wrong]).belief(HERE).chance([does('write', 'ann')])).toBeGreaterThan(new PlanValue([...wrong, ...right]).belief(HERE).chance([does('write', 'ann')]));
  });

  it('draws who is the best, the surer the more is known', () => {
    const best = (plans: readonly JudgedPlan[]): number => Array.from({ length: 100 }, (_, seed) => new PlanValue(plans).belief(HERE, draws(seed)))
      .filter(({ worth }) => worth('write', 'ann') > worth('write', 'bob')).length;
    const once = [judged(true, does('write', 'ann')), judged(false, does('write', 'bob'))];
    expect(best([])).toBeGreaterThan(30);
    expect(best([])).toBeLessThan(70);
    expect(best(once)).toBeLessThan(100);
    expect(best(Array.from({ length: 20 }, () => once).flat())).toBeGreaterThan(best(once));
  });

  it('is the same from a value nearby', () => {
    const plans = [...times(7, judged(true, does('plan', 'bob'), does('write', 'ann'))), ...times(5, judged(false, does('write', 'bob')))];
    const [whole, next] = [new PlanValue(plans), new PlanValue(plans, new PlanValue(plans.slice(3)))].map((value) => value.belief(HERE).chance([does('write', 'ann')]));
    expect(next).toBeCloseTo(whole ?? 0, 2);
  });
});

it('solves by Cholesky\'s factor', () => {
  const factor = cholesky([[4], [2, 5], [1, 3, 6]]);
  const x = solved(factor, [1, 2, 3]);
  expect([4 * x[0]! + 2 * x[1]! + x[2]!, 2 * x[0]! + 5 * x[1]! + 3 * x[2]!, x[0]! + 3 * x[1]! + 6 * x[2]!]).toEqual([1, 2, 3].map((value) => expect.closeTo(value)));
  const y = solvedTransposed(factor, [1, 2, 3]);
  expect([0, 1, 2].map((column) => factor.reduce((sum, row, index) => sum + (row[column] ?? 0) * y[index]!, 0))).toEqual([1, 2, 3].map((value) => expect.closeTo(value)));
});

describe('the judged plans in steps', () => {
  it('are whole and in order', () => {
    const plan = { runId: 'r', steps: 2 };
    expect(judgedPlans([judgedStep({ ...plan, step: 1, role: 'write' }), judgedStep({ ...plan, step: 0, role: 'plan', worker: 'bob' })])).toEqual([
      { project: '/here', kind: 'bug', isRight: true, steps: [does('plan', '["bob","model-of-ann"]'), does('write', '["ann","model-of-ann"]')] },
    ]);
  });

  it('leave out a plan of which a step is missing, and one whose tests prove nothing', () => {
    expect(judgedPlans([judgedStep({ steps: 2 }), judgedStep({ judgement: 'passes' })])).toEqual([]);
  });
});
