import { STEP_ROLES, roleOfStep, type StepRole } from '../../protocol/step-role.ts';
import { PLAN_SHAPES, planMetric, type PlanShape } from '../../protocol/plan-metrics.ts';
import { MAX_STEPS, stepsOf, type Plan } from '../../workflow/plan.ts';
import { mean } from '../statistics/statistics.ts';

/* What plans do, in figures: how long they are, whom they ask for what, and who reads whom (arXiv 2512.04388, Figure 3). */

export interface PlanWithPool {
  readonly plan: Plan;
  /** The workers by ordinal. */
  readonly pool: readonly { readonly id: string }[];
}

export interface PlanCounts {
  readonly plans: number;
  /** Number of plans with one step, two steps and so on. */
  readonly lengths: readonly number[];
  readonly shapes: Readonly<Record<PlanShape, number>>;
  /** How often each worker, by id, has each role. */
  readonly workers: Readonly<Record<StepRole, Readonly<Record<string, number>>>>;
}

export function countPlans(plans: readonly PlanWithPool[], roleOf: (subtask: string) => StepRole = roleOfStep): PlanCounts {
  const lengths = new Array<number>(MAX_STEPS).fill(0);
  const shapes: Record<PlanShape, number> = { none: 0, chain: 0, tree: 0, all: 0 };
  const workers: Record<StepRole, Record<string, number>> = { plan: {}, write: {}, check: {} };
  for (const { plan, pool } of plans) {
    lengths[plan.modelIds.length - 1]! += 1;
    shapes[shapeOf(plan)] += 1;
    for (const [index, ordinal] of plan.modelIds.entries()) {
      const ofRole = workers[roleOf(plan.subtasks[index] as string)];
      const { id } = pool[ordinal]!;
      ofRole[id] = (ofRole[id] ?? 0) + 1;
    }
  }
  return { plans: plans.length, lengths, shapes, workers };
}

/** Two steps of which the second reads the first are a chain, although it reads all that there is. */
export function shapeOf(plan: Plan): PlanShape {
  const later = stepsOf(plan).slice(1);
  if (later.every(({ reads }) => reads.length === 0)) return 'none';
  if (later.every(({ index, reads }) => reads.length === 1 && reads[0] === index - 1)) return 'chain';
  return later.every(({ index, reads }) => reads.length === index) ? 'all' : 'tree';
}

/** The valid plans that were sampled for one question. */
export interface PlannedGroup {
  /** Of the question. */
  readonly kind: string;
  readonly plans: readonly PlanWithPool[];
}

/** The figures of a step's plans. A share of 0 is left out. Nothing if there is no valid plan. */
export function planMetrics(groups: readonly PlannedGroup[]): Record<string, number> {
  const all = groups.flatMap(({ plans }) => plans);
  if (all.length === 0) return {};
  const { lengths, shapes, workers } = countPlans(all);
  const roles = Object.fromEntries(STEP_ROLES.map((role) => [role, sum(Object.values(workers[role]))]));
  const kinds = [...new Set(groups.map(({ kind }) => kind))];
  return {
    [planMetric('mean_steps')]: sum(lengths.map((count, index) => count * (index + 1))) / all.length,
    [planMetric('diversity')]: mean(groups.filter(({ plans }) => plans.length > 0).map(({ plans }) => diversityOf(plans))),
    ...sharesNamed('steps', Object.fromEntries(lengths.map((count, index) => [String(index + 1), count]))),
    ...sharesNamed('access', Object.fromEntries(PLAN_SHAPES.map((shape) => [shape, shapes[shape]]))),
    ...sharesNamed('role', roles),
    ...sharesNamed('worker', workersOf(all)),
    ...Object.assign({}, ...kinds.map((kind) => sharesNamed(`kind/${kind}`, workersOf(groups.filter((group) => group.kind === kind).flatMap(({ plans }) => plans))))) as Record<string, number>,
  };
}

/** The share of different plans: different workers, or other steps read. Subtasks are not compared: hardly two are worded alike. */
export function diversityOf(plans: readonly PlanWithPool[]): number {
  return new Set(plans.map(({ plan, pool }) => JSON.stringify(stepsOf(plan).map(({ worker, reads }) => [pool[worker]?.id, reads])))).size / plans.length;
}

/** Number of steps of each worker. */
function workersOf(plans: readonly PlanWithPool[]): Record<string, number> {
  const steps: Record<string, number> = {};
  for (const { plan, pool } of plans) {
    for (const ordinal of plan.modelIds) steps[pool[ordinal]!.id] = (steps[pool[ordinal]!.id] ?? 0) + 1;
  }
  return steps;
}

function sharesNamed(group: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  const all = sum(Object.values(counts));
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0).map(([name, count]) => [planMetric(`${group}/${name}`), count / all]));
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
