import { describe, expect, it } from 'vitest';
import { ablationsFor } from '../../backend/conductor/plan/ablations.ts';
import { compare } from '../../backend/eval/compare.ts';
import { baselines } from '../../backend/eval/baselines.ts';
import { BASELINES, byPlan, type Contestant } from '../../backend/eval/contestant.ts';
import { bestAlone, gymReport } from '../../backend/eval/standings.ts';
import { alone, attemptsAndJudge, planAttemptsAndJudge, planWriteCheck, SUBTASKS,
  writeAndChecks } from '../../backend/eval/plans.ts';
import { randomPlan } from '../../backend/eval/contestants/random-plans.ts';
import { nearestNeighbourRouter } from '../../backend/eval/contestants/nearest-neighbour-router.ts';
import { UNANSWERED, type EvalTask, type ExecutePlan, type PlanOutcome } from '../../backend/eval/run-plan.ts';
import { estimate } from '../../backend/train/statistics/statistics.ts';
import { KeyedRandom } from '../../backend/common/keyed-random.ts';
import { readRole } from '../../backend/simulator/roles.ts';
import { ExactAnswerGrader } from '../../backend/verify/graders/exact-answer.ts';
import { infrastructureGrade } from '../../backend/verify/graders/grader.ts';
import { validatePlan } from '../../backend/workflow/validate-plan.ts';

const signal = new AbortController().signal;
const task = (id: string, question = id): EvalTask => ({ id, question, context: '',
  grader: { grade: () => Promise.resolve(infrastructureGrade('unused')) } });
const outcome = (verified: boolean, costUsd = 1, answer = ''): PlanOutcome =>
  ({ ...UNANSWERED, verified, score: Number(verified), costUsd, answer });
const named = (contestants: readonly Contestant[], name: string): Contestant =>
  contestants.find((one) => one.name === name) as Contestant;
const code = (text: string): string => `\`\`\`js\n${text}\n\`\`\``;
const five = baselines({ workerCount: 3, best: 1, nameOf: (worker) => `w${worker}` });

describe('plans of the gym', () => {
  it('say in each subtask what is to be done', () => {
    const roles = { plan: 'plan', write: 'write', alone: 'write', check: 'check', judge: 'check' } as const;
    for (const kind of Object.keys(SUBTASKS) as (keyof typeof SUBTASKS)[]) {
      for (const subtask of SUBTASKS[kind]) expect(readRole(subtask), subtask).toEqual({ role: roles[kind], vague: false });
    }
  });

  it('are read as the bundled model words them, too', () => {
    expect(readRole('Write the function as the plan says; return the whole file.')).toEqual({ role: 'write', vague: false });
    expect(readRole('Write a short plan for the function.')).toEqual({ role: 'plan', vague: false });
    expect(readRole('Write the plan.')).toEqual({ role: 'plan', vague: false });
  });

  it('are valid, random ones among them', () => {
    const plans = [
      alone(0), planWriteCheck(0, 1, 2), writeAndChecks(1, [1, 1, 1, 1]), attemptsAndJudge([0, 1, 1, 2], 2),
        planAttemptsAndJudge(0, [1, 1, 2], 2),
      ...Array.from({ length: 200 }, (_, seed) => randomPlan(3, new KeyedRandom(seed))),
    ];
    for (const { modelIds, subtasks, accessList } of plans) {
      expect(validatePlan({ modelIds: [...modelIds], subtasks: [...subtasks], accessList: [...accessList] },
        { workerCount: 3 })).toMatchObject({ ok: true });
    }
    expect(new Set(plans.map(({ modelIds }) => modelIds.length))).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  it('lose by an ablation just what its name says', () => {
    const plan = planWriteCheck(0, 1, 2);
    const changed = Object.fromEntries(ablationsFor(4).map(({ name, change }) => [name, change(plan)]));
    expect(changed).toEqual({
      'every step reads everything': { ...plan, accessList: ['all', 'all', 'all'] },
      'no step reads anything': { ...plan, accessList: [[], [], []] },
      'all or nothing instead of step numbers': { ...plan, accessList: [[], 'all', 'all'] },
      'subtasks replaced by "Solve the user question."': { ...plan,
        subtasks: Array.from({ length: 3 }, () => 'Solve the user question.') },
      'all steps on the best worker': { ...plan, modelIds: [4, 4, 4] },
    });
  });
});

describe('contestants', () => {
  it('take the answer that most of five runs gave and pay for all of them', async () => {
    const answers = ['a', 'b', 'b', 'c', 'b'];
    const result = await named(five, BASELINES.majority).answer(task('x'), (_plan, sample) =>
      Promise.resolve(outcome(answers[sample] === 'b', 2, `${sample}\n${code(answers[sample] ?? '')}`)), 1);
    expect(result).toMatchObject({ answer: `1\n${code('b')}`, costUsd: 10 });
  });

  it('let all propose and the best one aggregate', async () => {
    await named(five, BASELINES.mixture).answer(task('x'), (plan) => {
      expect(plan).toMatchObject({ modelIds: [0, 1, 2, 1], accessList: [[], [], [], [0, 1, 2]] });
      return Promise.resolve(outcome(true));
    }, 1);
  });

  it('draw another random plan for another task and seed, and the same for the same', async () => {
    const planFor = async (id: string, seed: number): Promise<string> => {
      let seen = '';
      await named(five, BASELINES.random).answer(task(id), (plan) => ((seen = JSON.stringify(plan)),
        Promise.resolve(outcome(true))), seed);
      return seen;
    };
    expect(await planFor('x', 1)).toBe(await planFor('x', 1));
    expect(await planFor('x', 1)).not.toBe(await planFor('x', 2));
    expect(await planFor('x', 1)).not.toBe(await planFor('y', 1));
  });

  it('route a question to the worker that did best on similar ones', async () => {
    const router = nearestNeighbourRouter([
      ...Array.from({ length: 12 }, (_, index) => ({ question: `count the letters of word ${index}`, scores: [0, 1] })),
      ...Array.from({ length: 12 }, (_, index) => ({ question: `add the divisors of integer ${index}`, scores: [1, 0] })),
    ]);
    const routed = async (question: string): Promise<number | undefined> => {
      let worker: number | undefined;
      await router.answer(task('x', question), (plan) => (([worker] = plan.modelIds), Promise.resolve(outcome(true))), 1);
      return worker;
    };
    expect(await routed('which letters does the word have')).toBe(1);
    expect(await routed('the largest of the divisors of an integer')).toBe(0);
  });
});

describe('a comparison', () => {
  const run: ExecutePlan = ({ id }, { modelIds }) => Promise.resolve(outcome(false, 0.001, Number(id) % 2 === modelIds[0] ? 'right' : 'wrong'));
  const grader = new ExactAnswerGrader({ answers: ['right'] });
  const tasks = Array.from({ length: 10 }, (_, index) => ({ ...task(String(index)), grader }));
  const results = (contestants: readonly Contestant[]) =>
    compare({ contestants, tasks, pool: [], seeds: [1, 2], runFor: () => run, concurrency: 3, signal });

  it('sets every contestant the same tasks with the same luck, in order', async () => {
    const [zero, one] = await results([byPlan('zero', () => alone(0)), byPlan('one', () => alone(1))]);
    expect(zero?.outcomes).toHaveLength(2);
    expect(zero?.outcomes[0]?.map(({ verified }) => verified)).toEqual(tasks.map(({ id }) => Number(id) % 2 === 0));
    expect(one?.outcomes[1]?.map(({ verified }) => verified)).toEqual(tasks.map(({ id }) => Number(id) % 2 === 1));
  });

  it('ends with the first plan that could not be run', async () => {
    const broken: Contestant = { name: 'broken', answer: () => Promise.reject(new Error('no sandbox')) };
    await expect(results([broken])).rejects.toThrow('no sandbox');
  });

  it('is reported as a simulation, with cost beside score and the way from random plans to the oracle', async () => {
    const given = (name: string, right: number) => ({ name,
      outcomes: [Array.from({ length: 10 }, (_, index) => outcome(index < right, 0.002))] });
    const report = gymReport([given(BASELINES.random, 2), given('w0 alone', 5), given(BASELINES.oracle, 8)]);
    expect(report.split('\n')[0]).toMatch(/^Simulation:/);
    expect(report).toMatch(/\| w0 alone \| 50\.0 % \| [\d.]+ % to [\d.]+ % \| 2\.00 \| 50 % \|/);
    expect(bestAlone([given('w0 alone', 5), given('w1 alone', 7)], ['w0', 'w1']).name).toContain('(w1)');
  });

  it('has intervals that hold the mean, are wider for fewer tasks, and are equal for equal results', () => {
    const rows = (count: number): number[][] => [1, 2, 3].map((seed) => Array.from({ length: count },
      (_, index) => Number((index * 7 + seed) % 3 === 0)));
    const [few, many] = [estimate(rows(12)), estimate(rows(300))];
    expect(many).toEqual(estimate(rows(300)));
    for (const { mean, low, high } of [few, many]) expect(low <= mean && mean <= high).toBe(true);
    expect(few.high - few.low).toBeGreaterThan(many.high - many.low);
  });
});
