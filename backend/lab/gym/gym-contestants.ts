import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { knownGrader } from './gym-grades.ts';
import { GymBook, gymTasks, type GymTask } from './gym-tasks.ts';
import { gymRule } from './gym-worker.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import type { Plan } from '../../workflow/plan.ts';
import { ablationsFor } from '../../eval/ablations.ts';
import { BASELINES, baselines, byPlan, type Contestant } from '../../eval/contestants.ts';
import { bestPlan, SEARCH_DEFAULTS, type Heat } from './oracle.ts';
import { alone } from '../../eval/plans.ts';
import { nearestNeighbourRouter, type RoutedExample } from '../../eval/router.ts';
import type { EvalTask, RunPlan } from '../../eval/run-plan.ts';
import { runPlanInProcess } from './run-plan-in-process.ts';
import { mean } from '../../train/statistics/statistics.ts';

/** A task of the gym as it is evaluated. */
export type GymEvalTask = EvalTask & Pick<GymTask, 'kind' | 'generator'>;

export interface GymContestantsOptions {
  /** By ordinal. */
  readonly workers: readonly SimulatedWorker[];
  /** The same, as the runs are given them. */
  readonly pool: readonly WorkerConfig[];
  /** What the contestants will be set; only their generators are looked at. */
  readonly tasks: readonly Pick<GymTask, 'generator' | 'split'>[];
  readonly signal: AbortSignal;
  /** Tasks of training that the router learns from. */
  readonly practice?: number;
  readonly search?: readonly Heat[];
}

export interface GymContestants {
  readonly contestants: readonly Contestant<GymEvalTask>[];
  /** Ordinal of the worker that does best alone on tasks of training. */
  readonly best: number;
  /** The oracle's plan for each generator. */
  readonly oracle: ReadonlyMap<string, Plan>;
}

/** Luck that no evaluation has: what is learned here must hold with any. */
const PRACTICE_SEED = 7_001;
const SEARCH_SEED = 1_000_000;

/** So many of a generator's tasks the oracle tries plans on; they are others than those of the evaluation. */
const SEARCHED_TASKS = 20;

/** All that the Conductor is set against, and the oracle's plans with something taken away. */
export async function gymContestants(options: GymContestantsOptions): Promise<GymContestants> {
  const { workers, pool } = options;
  const examples = await practise(options);
  const totals = pool.map((_, worker) => mean(examples.map(({ scores }) => scores[worker] ?? 0)));
  const best = totals.indexOf(Math.max(...totals));
  const oracle = await searchPlans(options);
  const planFor = ({ generator }: GymEvalTask): Plan => oracle.get(generator) ?? alone(best);
  return {
    best,
    oracle,
    contestants: [
      ...baselines({ workerCount: pool.length, best, nameOf: (worker) => workers[worker]?.name ?? String(worker) }),
      nearestNeighbourRouter(examples),
      byPlan(BASELINES.oracle, planFor),
      ...ablationsFor(best).map(({ name, change }) => byPlan(`${BASELINES.oracle}, ${name}`,
        (task: GymEvalTask) => change(planFor(task)))),
    ],
  };
}

/** What each worker alone makes of tasks of training. */
async function practise({ workers, pool, signal, practice = 180 }: GymContestantsOptions): Promise<RoutedExample[]> {
  const tasks = gymTasks({ seed: PRACTICE_SEED, split: 'train', count: practice });
  const run = runPlanInProcess({ seed: PRACTICE_SEED, workers, rule: gymRule(new GymBook(tasks)) });
  return await Promise.all(tasks.map(async (task) => {
    const judged = { ...task, context: '', grader: knownGrader(task) };
    const outcomes = await Promise.all(pool.map((_, worker) => run(judged, alone(worker), { pool, sample: 0, signal })));
    return { question: task.question, scores: outcomes.map(({ score }) => score) };
  }));
}

async function searchPlans({ workers, pool, tasks, signal,
  search = SEARCH_DEFAULTS }: GymContestantsOptions): Promise<Map<string, Plan>> {
  const plans = new Map<string, Plan>();
  for (const split of new Set(tasks.map((task) => task.split))) {
    const generators = new Set(tasks.filter((task) => task.split === split).map(({ generator }) => generator));
    const tried = gymTasks({ seed: SEARCH_SEED, split, count: SEARCHED_TASKS * 18 });
    const rule = gymRule(new GymBook(tried));
    const runFor = (trial: number): RunPlan => runPlanInProcess({ seed: SEARCH_SEED + trial, workers, rule });
    for (const generator of generators) {
      const own = tried.filter((task) => task.generator === generator).slice(0, SEARCHED_TASKS);
      plans.set(generator, (await bestPlan(own, { workers, pool, runFor, signal, heats: search })).plan);
    }
  }
  return plans;
}
