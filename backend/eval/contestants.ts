import { answerCode } from '../verify/graders/answer-code.ts';
import type { Plan } from '../workflow/plan.ts';
import { KeyedRandom } from '../common/keyed-random.ts';
import { alone, attemptsAndJudge, writeAndChecks } from './plans.ts';
import { randomPlan } from './random-plan.ts';
import type { EvalTask, PlanOutcome } from './run-plan.ts';

/** Runs a plan on the current task. Another sample is an independent run. */
export type Play = (plan: Plan, sample: number) => Promise<PlanOutcome>;

/** A method of answering tasks with the workers of a pool. */
export interface Contestant<T extends EvalTask = EvalTask> {
  readonly name: string;
  readonly answer: (task: T, play: Play, seed: number) => Promise<PlanOutcome>;
}

/** Inputs of the baselines that the Conductor is compared with (arXiv 2512.04388 §4.2). */
export interface BaselineOptions {
  readonly workerCount: number;
  /** Ordinal of the best single worker. */
  readonly best: number;
  readonly nameOf: (worker: number) => string;
}

export const BASELINES = {
  random: 'random valid plans',
  reflection: 'self-reflection in five turns',
  majority: 'majority of five',
  mixture: 'mixture of agents',
  router: 'nearest-neighbour router',
  oracle: 'oracle',
} as const;

/** The baselines: each worker alone, random plans, and the usual methods with several calls. */
export function baselines({ workerCount, best, nameOf }: BaselineOptions): Contestant[] {
  const workers = Array.from({ length: workerCount }, (_, worker) => worker);
  return [
    ...workers.map((worker): Contestant => ({ name: aloneName(nameOf(worker)),
      answer: (_task, play) => play(alone(worker), 0) })),
    {
      name: BASELINES.random,
      answer: (task, play, seed) => play(randomPlan(workerCount, new KeyedRandom('random plan', seed, task.id)), 0),
    },
    { name: BASELINES.reflection, answer: (_task, play) => play(writeAndChecks(best, [best, best, best, best]), 0) },
    { name: BASELINES.majority, answer: (_task, play) => majority(alone(best), 5, play) },
    { name: BASELINES.mixture, answer: (_task, play) => play(attemptsAndJudge(workers, best), 0) },
  ];
}

const ALONE = ' alone';

export function aloneName(worker: string): string {
  return worker + ALONE;
}

/** Whether this contestant is a single worker. */
export function isAlone(name: string): boolean {
  return name.endsWith(ALONE);
}

/** A contestant with a fixed plan for each task, such as the oracle or a router. */
export function byPlan<T extends EvalTask>(name: string, planFor: (task: T) => Plan): Contestant<T> {
  return { name, answer: (task, play) => play(planFor(task), 0) };
}

/** Majority vote over the runs' code; ties go to the earliest. All runs are paid for. */
async function majority(plan: Plan, runs: number, play: Play): Promise<PlanOutcome> {
  const outcomes = await Promise.all(Array.from({ length: runs }, (_, sample) => play(plan, sample)));
  const codes = outcomes.map(({ answer }) => answerCode(answer, 'javascript') ?? '');
  const votes = codes.map((code) => codes.filter((other) => other === code).length);
  const winner = outcomes[votes.indexOf(Math.max(...votes))] as PlanOutcome;
  return { ...winner, costUsd: outcomes.reduce((sum, { costUsd }) => sum + costUsd, 0) };
}
