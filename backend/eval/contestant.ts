import type { Plan } from '../workflow/plan.ts';
import type { WorkerBriefing } from '../workflow/worker-messages.ts';
import type { EvalTask, PlanAnswer, RunPlanOptions } from './run-plan.ts';

export interface PlayOptions {
  /** Multiplies the workers' limits of output tokens; default 1. */
  readonly outputTimes?: number;
  /** The round before, for steps that may read it. */
  readonly previousRound?: WorkerBriefing['previousRound'];
  /** What workers are told in addition to the task's own context. */
  readonly moreContext?: string;
  /** Does the steps of the worker after the last one of the pool. */
  readonly self?: RunPlanOptions['self'];
}

/** Runs a plan on the current task. Another sample is an independent run. */
export type Play = (plan: Plan, sample: number, options?: PlayOptions) => Promise<PlanAnswer>;

/** A method of answering tasks with the workers of a pool. */
export interface Contestant<T extends EvalTask = EvalTask> {
  readonly name: string;
  /** What its answers depend on besides the pool, such as the planner and what a router has learned from. */
  readonly version?: string;
  readonly answer: (task: T, play: Play, seed: number) => Promise<PlanAnswer>;
}

/** Names of the contestants, in tables. */
export const BASELINES = {
  random: 'random valid plans',
  reflection: 'self-reflection in five turns',
  majority: 'majority of five',
  mixture: 'mixture of agents',
  router: 'nearest-neighbour router',
  trainedRouter: 'contrastive router',
  oracle: 'oracle',
} as const;

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
