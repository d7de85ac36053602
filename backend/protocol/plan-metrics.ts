import type { Training } from './training.ts';

/*
 * What the plans of each step of a training do, as its metrics tell: `plans/mean_steps`, `plans/diversity`, and shares of plans or steps such as
 * `plans/steps/2`, `plans/access/chain`, `plans/role/write`, `plans/worker/ID`, and `plans/kind/KIND/ID` for the questions of a kind. A share
 * of 0 is left out. Trainings of an earlier version have none of them.
 */

/** Who reads whom: nobody; each step the one before; some steps; or each step all before it. */
export const PLAN_SHAPES = ['none', 'chain', 'tree', 'all'] as const;
export type PlanShape = (typeof PLAN_SHAPES)[number];

const PREFIX = 'plans/';

export const planMetric = (name: string): string => PREFIX + name;

export type Metrics = Training['metrics'][number];

/** Whether a step has figures of its plans. */
export const tellsPlans = (metrics: Metrics): boolean => metrics[planMetric('mean_steps')] !== undefined;

/** The share of each worker in a step's plans, or in those for questions of a kind; the largest first. */
export function workerShares(metrics: Metrics, kind?: string): readonly (readonly [worker: string, share: number])[] {
  const prefix = planMetric(kind === undefined ? 'worker/' : `kind/${kind}/`);
  return Object.entries(metrics).filter(([name]) => name.startsWith(prefix)).map(([name, share]) => [name.slice(prefix.length), share] as const)
    .sort(([, a], [, b]) => b - a);
}

/** The kinds of questions in a training's steps, in the order of their names. */
export function kindsIn(metrics: readonly Metrics[]): string[] {
  const prefix = planMetric('kind/');
  // Ids of workers have no slash; a kind may.
  const kinds = metrics.flatMap((step) => Object.keys(step).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length, name.lastIndexOf('/'))));
  return [...new Set(kinds)].sort();
}
