import type { ShapeStep } from '../conductor/plan/shape.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { STEP_ROLES, type StepRole } from '../protocol/step-role.ts';
import type { Belief, ValuedStep } from '../records/plan-value.ts';
import { workerKey } from '../records/worker-records.ts';
import { usualStepUsd } from './usual-step.ts';

/*
 * Which plan is carried out where a Conductor that is told nothing of records wrote one: the plan whose answer tests most likely verify. It is
 * chosen among the Conductor's own, the same with other workers, and the usual plans. docs/decisions/0030 has the reasons.
 */

type Steps = readonly ShapeStep[];

/** Plans whose chances differ by no more than this are equally good: the cheapest of them is carried out. */
const EQUAL = 0.02;
/** Of each role, so many workers are compared in plans. */
const CANDIDATES = 3;

const step = (role: StepRole, reads: readonly number[] = []): ShapeStep => ({ role, worker: 0, reads, readsAll: false });
/** One worker alone, and several in the usual shapes. */
const USUAL_PLANS: readonly Steps[] = [
  [step('write')],
  [step('plan'), step('write', [0])],
  [step('write'), step('check', [0])],
  [step('plan'), step('write', [0]), step('check', [1])],
];

export interface PlanChoice {
  readonly belief: Belief;
  /** With prices. */
  readonly pool: readonly WorkerConfig[];
  /** The most steps that the question is worth. */
  readonly mostSteps: number;
}

/** @param sampled the Conductor's own plan @returns the same object where it stays */
export function planByRecords(sampled: Steps, { belief, pool, mostSteps }: PlanChoice): Steps {
  const shapes = [sampled, ...USUAL_PLANS.filter(({ length }) => length <= mostSteps)];
  const candidates = [sampled, ...shapes.flatMap((steps) => withOthers(steps, { belief, pool }))]
    .map((steps) => ({ steps, chance: belief.chance(steps.map((one) => valuedStep(one, pool))), usd: usdOf(steps, pool) }));
  const most = Math.max(...candidates.map(({ chance }) => chance));
  const equal = candidates.filter(({ chance }) => chance >= most - EQUAL);
  return equal.reduce((best, one) => (one.usd < best.usd ? one : best)).steps;
}

export const valuedStep = ({ role, worker }: ShapeStep, pool: readonly WorkerConfig[]): ValuedStep => {
  const config = pool[worker];
  return { role, worker: config ? workerKey(config) : '' };
};

/** The plan with each choice of the best workers for each of its roles. Steps of one role get the same worker. */
function withOthers(steps: Steps, { belief, pool }: Pick<PlanChoice, 'belief' | 'pool'>): Steps[] {
  const best = (role: StepRole): number[] => (steps.some((one) => one.role === role)
    ? pool.map((config, worker) => ({ worker, worth: belief.worth(role, workerKey(config)) })).toSorted((a, b) => b.worth - a.worth).slice(0, CANDIDATES).map(({ worker }) => worker)
    : [0]);
  const [planners, writers, checkers] = STEP_ROLES.map(best) as [number[], number[], number[]];
  return planners.flatMap((plan) => writers.flatMap((write) => checkers.map((check) => steps.map((one) => ({ ...one, worker: { plan, write, check }[one.role] })))));
}

const usdOf = (steps: Steps, pool: readonly WorkerConfig[]): number => steps.reduce((sum, { worker }) => {
  const config = pool[worker];
  // What costs nobody knows how much is no bargain.
  return sum + (config ? (usualStepUsd(config) ?? Infinity) : Infinity);
}, 0);
