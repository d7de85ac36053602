import { describe, expect, it } from 'vitest';
import { MINI_PLANNER } from '../../backend/conductor/mini-planner.ts';
import type { ShapeStep } from '../../backend/conductor/plan/shape.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { mendOf } from '../../backend/protocol/plan-mend-words.ts';
import type { StepRole } from '../../backend/protocol/step-role.ts';
import { PlanValue, type JudgedPlan } from '../../backend/records/plan-value.ts';
import { workerKey } from '../../backend/records/worker-records.ts';
import { chosenPlan } from '../../backend/solve/choose-plan.ts';
import { planByRecords } from '../../backend/solve/plan-by-records.ts';
import type { RunDriverOptions } from '../../backend/solve/run-driver.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ANSWER, drivenRun, NO_TESTS, worker } from './driven-run.ts';

const named = (id: string, usd: number): typeof worker => workerConfigSchema.parse({ id, provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: id, price: { inputPerMillion: usd, outputPerMillion: usd } });
const pool = [named('ann', 1), named('bob', 1), named('cat', 9)];
const BUG = { kind: 'bug' };

const step = (role: StepRole, of: number, reads: readonly number[] = []): ShapeStep => ({ role, worker: of, reads, readsAll: false });
const judged = (isRight: boolean, ...steps: ShapeStep[]): JudgedPlan => ({ ...BUG, isRight, steps: steps.map(({ role, worker: of }) => ({ role, worker: workerKey(pool[of]!) })) });
const times = (count: number, plan: JudgedPlan): JudgedPlan[] => Array.from({ length: count }, () => plan);
const choose = (sampled: readonly ShapeStep[], plans: readonly JudgedPlan[], mostSteps = 5): readonly ShapeStep[] => planByRecords(sampled, { belief: new PlanValue(plans).belief(BUG), pool, mostSteps });

describe('the plan that records choose', () => {
  const ofTwo = [step('plan', 0), step('write', 0, [0])];

  it('is that of the worker whose answers were right', () => {
    expect(choose(ofTwo, [...times(6, judged(true, step('write', 1))), ...times(6, judged(false, step('write', 0))), ...times(6, judged(false, step('write', 2)))])).toEqual([step('write', 1)]);
  });

  it('has several workers where these were right together and alone were not, in as many steps as the question is worth', () => {
    const alone = [0, 1, 2].flatMap((of) => times(6, judged(false, step('write', of))));
    const plans = [...times(12, judged(true, step('plan', 1), step('write', 2, [0]))), ...alone];
    expect(choose([step('write', 0)], plans)).toEqual([step('plan', 1), step('write', 2, [0])]);
    expect(choose([step('write', 0)], plans, 1)).toHaveLength(1);
  });

  it('is the cheapest of equals', () => {
    expect(choose([step('write', 2)], [...times(40, judged(true, step('write', 1))), ...times(40, judged(true, step('write', 2)))])).toEqual([step('write', 1)]);
  });

  it('stays where the Conductor named who is the best', () => {
    const sampled = [step('write', 1)];
    expect(choose(sampled, times(6, judged(true, step('write', 1))))).toBe(sampled);
  });
});

describe('in a run', () => {
  const PLAN = 'model_id = [0]\nsubtasks = ["Fix it."]\naccess_list = [[]]';
  const value = new PlanValue([...times(20, judged(true, step('write', 1))), ...times(20, judged(false, step('write', 0))), ...times(20, judged(false, step('write', 2)))]);
  const options = async (): Promise<Partial<RunDriverOptions>> => ({
    checker: { ...NO_TESTS, findTestCommands: async () => [{ command: 'npm test', runner: 'node-test', folder: '' }] },
    planBy: (run, round, plan) => chosenPlan(run, round, plan, () => value),
  });
  const asked = async () => ({ workspace: await temporaryFolder(), pool, planner: MINI_PLANNER, asks: { kind: 'bug', wants: 'change' } as const });

  it('takes the place of conductor-mini\'s plan, says so, and leaves what it wrote', async () => {
    const { drive } = await drivenRun([PLAN, ANSWER], await asked());
    const { rounds: [round] } = await drive(await options());
    expect(round).toMatchObject({ planText: PLAN, plan: { modelIds: [1] }, planMended: { byRecords: true }, steps: [{ worker: 1, state: 'completed' }] });
    expect(round && mendOf(round)).toBe('What tests said of your workers chose who does what.');
  });

  it.each([
    ['the Conductor is a prompted one', { planner: worker }],
    ['the Conductor was trained', { planner: { ...MINI_PLANNER, adapter: '/adapter' } }],
    ['words are wanted', { asks: { kind: 'explain', wants: 'words' } as const }],
    ['workers are simulated', { pool: pool.map((one) => ({ ...one, simulated: true })) }],
    ['it belongs to a training', { kind: 'rollout' as const }],
  ])('leaves the plan where %s', async (_name, more) => {
    const { drive } = await drivenRun([PLAN, ANSWER], { ...(await asked()), ...more });
    expect((await drive(await options())).rounds[0]).toMatchObject({ plan: { modelIds: [0] } });
  });

  it('leaves the plan where no tests judge, and where nothing is known', async () => {
    const untested = await drivenRun([PLAN, ANSWER], await asked());
    expect((await untested.drive({ ...(await options()), checker: NO_TESTS })).rounds[0]?.planMended).toBeUndefined();
    const unknown = await drivenRun([PLAN, ANSWER], await asked());
    expect((await unknown.drive({ ...(await options()), planBy: (run, round, plan) => chosenPlan(run, round, plan, () => new PlanValue([])) })).rounds[0]?.planMended).toBeUndefined();
  });
});
