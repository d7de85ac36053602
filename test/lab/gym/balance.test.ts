import { beforeAll, describe, expect, it } from 'vitest';
import { compare, type ContestantResult } from '../../../backend/eval/compare.ts';
import { BASELINES } from '../../../backend/eval/contestant.ts';
import { gymContestants, type GymContestants, type GymEvalTask } from '../../../backend/lab/gym/gym-contestants.ts';
import { bestAlone } from '../../../backend/eval/standings.ts';
import { alone, attemptsAndJudge, planWriteCheck } from '../../../backend/eval/plans.ts';
import { runPlanInProcess } from '../../../backend/lab/gym/run-plan-in-process.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import { KINDS } from '../../../backend/simulator/families/family.ts';
import { GymChances } from '../../../backend/lab/gym/gym-chances.ts';
import { knownGrader } from '../../../backend/lab/gym/gym-grades.ts';
import { GYM_PARAMETERS } from '../../../backend/lab/gym/gym-parameters.ts';
import { TRAINING_POOL } from '../../../backend/lab/gym/gym-pools.ts';
import { generatorsOf, GymBook, gymTasks } from '../../../backend/lab/gym/gym-tasks.ts';
import { gymRule } from '../../../backend/lab/gym/gym-worker.ts';
import { poolOf } from '../../eval/pool.ts';

/*
 * Holds the parameters to what they were chosen for: planning must matter in the gym, and what plan is best must depend on the
 * question. The search for the oracle's plans is a short one; `backend/lab.ts gym-compare` makes the long one.
 */

/** Ordinals in the fixed pool. */
const [PLANNER, REVIEWER] = [0, 2];

const signal = new AbortController().signal;
/** One generator of each kind: the search for the oracle's plans is made for every generator. */
const GENERATORS = new Set(generatorsOf('held-out').slice(0, KINDS.length).map(({ name }) => name));
const tasks = gymTasks({ seed: 1, split: 'held-out', count: 240 }).filter(({ generator }) => GENERATORS.has(generator));
const rule = gymRule(new GymBook(tasks));
const pool = poolOf(TRAINING_POOL);
let results: ContestantResult[];
let found: GymContestants;

const right = ({ outcomes }: ContestantResult): number => mean(outcomes.flat().map(({ verified }) => Number(verified)));
const cost = ({ outcomes }: ContestantResult): number => mean(outcomes.flat().map(({ costUsd }) => costUsd));
const of = (name: string): ContestantResult => results.find((result) => result.name.startsWith(name)) as ContestantResult;
/** How often the worker that is best alone is right, by the chances and not by luck. */
const single = Math.max(...TRAINING_POOL.map(({ skills }) =>
  mean(gymTasks({ seed: 1, split: 'held-out', count: 120 }).map(({ kind, difficulty }) =>
  new GymChances(GYM_PARAMETERS).rightCode(skills[kind].write,
    { difficulty, vague: false, plan: 'none', irrelevantCharacters: 0 })))));

beforeAll(async () => {
  const search = [{ trials: 10, keep: 20 }, { trials: 30, keep: 5 }, { trials: 80, keep: 3 }];
  found = await gymContestants({ workers: TRAINING_POOL, pool, tasks, signal, search, practice: 60 });
  const judged: GymEvalTask[] = tasks.map((task) => ({ ...task, context: '', grader: knownGrader(task) }));
  results = await compare({
    contestants: found.contestants, tasks: judged, pool, seeds: [1, 2], concurrency: 1, signal,
    runFor: (seed) => runPlanInProcess({ seed, workers: TRAINING_POOL, rule }),
  });
}, 120_000);

describe('the gym', () => {
  it('lets the best single worker be right 55 to 70 % of the time, and random valid plans clearly less often', () => {
    expect(single).toBeGreaterThan(0.55);
    expect(single).toBeLessThan(0.7);
    const luck = right(bestAlone(results, TRAINING_POOL.map(({ name }) => name)));
    expect(Math.abs(luck - single)).toBeLessThan(0.12);
    expect(right(of(BASELINES.random))).toBeLessThan(Math.min(luck, single) - 0.15);
  });

  it('leaves much to gain by planning: the oracle is right 80 to 95 % of the time', () => {
    expect(right(of(BASELINES.oracle))).toBeGreaterThan(0.8);
    expect(right(of(BASELINES.oracle))).toBeLessThan(0.95);
  });

  it('cannot be beaten by asking more often', () => {
    for (const name of [BASELINES.majority, BASELINES.mixture, BASELINES.reflection]) {
      expect(right(of(name)), name).toBeLessThan(right(of(BASELINES.oracle)) - 0.1);
      expect(cost(of(name)), name).toBeGreaterThan(cost(of(BASELINES.oracle)));
    }
  });

  it('cannot be solved by routing alone', () => {
    expect(right(of(BASELINES.router))).toBeLessThan(right(of(BASELINES.oracle)) - 0.1);
  });

  it('asks for another plan with another kind of question', () => {
    const plans = new Map(tasks.map(({ kind, generator }) => [kind, found.oracle.get(generator)]));
    expect(plans.get('numbers')?.modelIds.length).toBe(1);
    for (const kind of ['parsing', 'machines'] as const) expect(plans.get(kind)?.modelIds.length, kind).toBeGreaterThan(2);
    for (const kind of ['intervals', 'data'] as const) expect(plans.get(kind)?.modelIds.length, kind).toBeGreaterThan(2);
    expect(new Set([...plans.values()].map((plan) => JSON.stringify(plan?.modelIds))).size).toBeGreaterThan(3);
  });

  it('is won by a specialist alone, by attempts and a judge, or by plan, code and check, as the kind may be', async () => {
    const shapes = {
      alone: (writer: number) => alone(writer),
      attempts: (writer: number) => attemptsAndJudge([writer, 0, 1], REVIEWER),
      checked: (writer: number) => planWriteCheck(PLANNER, writer, REVIEWER),
    };
    const [easy, middling, hard] = ['alone', 'attempts', 'checked'];
    const wins = { strings: easy, numbers: easy, intervals: middling, data: middling, parsing: hard, machines: hard };
    const writers = { strings: 3, numbers: 4, intervals: 3, data: 4, parsing: 1, machines: 1 };
    for (const kind of KINDS) {
      const own = tasks.filter((task) => task.kind === kind);
      const shares = await Promise.all(Object.entries(shapes).map(async ([name, shape]) => {
        const outcomes = await Promise.all([11, 12, 13, 14].flatMap((seed) => own.map((task) => {
          const judged = { ...task, context: '', grader: knownGrader(task) };
          const run = runPlanInProcess({ seed, workers: TRAINING_POOL, rule });
          return run(judged, shape(writers[kind]), { pool, sample: 0, signal });
        })));
        return { name, share: mean(outcomes.map(({ score }) => score)) };
      }));
      const [first, second] = shares.sort((a, b) => b.share - a.share);
      expect(first?.name, kind).toBe(wins[kind]);
      expect(first?.share, kind).toBeGreaterThan((second?.share ?? 1) + 0.03);
    }
  });

  it.each([
    'every step reads everything', 'no step reads anything', 'all or nothing instead of step numbers', 'subtasks replaced',
      'all steps on the best worker',
  ])('hurts the oracle where %s', (ablation) => {
    expect(right(of(`${BASELINES.oracle}, ${ablation}`))).toBeLessThan(right(of(BASELINES.oracle)));
  });
});
