import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { knownGrader } from './gym-grades.ts';
import { GymBook, gymTasks, type GymTask } from './gym-tasks.ts';
import { gymRule } from './gym-worker.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import type { Plan } from '../../workflow/plan.ts';
import { ablationsFor } from '../../conductor/plan/ablations.ts';
import { baselines } from '../../eval/baselines.ts';
import { BASELINES, byPlan, type Contestant } from '../../eval/contestant.ts';
import { bestPlan, SEARCH_DEFAULTS, type Heat } from './oracle.ts';
import { alone } from '../../eval/plans.ts';
import { nearestNeighbourRouter, type RoutedExample } from '../../eval/contestants/nearest-neighbour-router.ts';
import type { EvalTask, RunPlan } from '../../eval/run-plan.ts';
import { runPlanInProcess } from './run-plan-in-process.ts';
import { mean } from '../../train/statistics/statistics.ts';

/** A task of the gym for evaluation. */
export type GymEvalTask = EvalTask & Pick<GymTask, 'kind' | 'generator'>;

export interface GymContestantsOptions {
  /** By ordinal. */
  readonly workers: readonly SimulatedWorker[];
  /** The same workers in the form for runs. */
  readonly pool: readonly WorkerConfig[];
  /** The tasks of the evaluation. Only their generators are used. */
  readonly tasks: readonly Pick<GymTask, 'generator' | 'split'>[];
  readonly signal: AbortSignal;
  /** Training tasks for the router. */
  readonly practice?: number;
  readonly search?: readonly Heat[];
}

export interface GymContestants {
  readonly contestants: readonly Contestant<GymEvalTask>[];
  /** Ordinal of the best single worker on training tasks. */
  readonly best: number;
  /** The oracle's plan for each generator. */
  readonly oracle: ReadonlyMap<string, Plan>;
}

/** A seed that no evaluation uses, so that results do not depend on an evaluation's seed. */
const PRACTICE_SEED = 7_001;
const SEARCH_SEED = 1_000_000;

/** The number of tasks of each generator on which the oracle tries plans. They are not tasks of the evaluation. */
const SEARCHED_TASKS = 20;

/** All baselines of the Conductor, and ablations of the oracle's plans. */
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

/** The results of each single worker on training tasks. */
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
