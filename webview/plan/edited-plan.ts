import { MOST_STEPS } from '../../backend/protocol/plan-limits.ts';
import type { Plan } from '../../backend/protocol/plan.ts';

/*
 * A plan while a person changes it. Its steps have keys, so that what one reads stays the same step when others are added and removed.
 * The backend checks the plan again by the rules for every plan.
 */

export interface EditedStep {
  readonly key: number;
  /** Ordinal in the run's pool. */
  readonly worker: number;
  readonly subtask: string;
  /** Keys of earlier steps; not used with `readsAll`. */
  readonly reads: readonly number[];
  /** It reads every earlier step, and the round before. */
  readonly readsAll: boolean;
}

export type EditedPlan = readonly EditedStep[];

export function editedFrom({ modelIds, subtasks, accessList }: Plan): EditedPlan {
  return modelIds.map((worker, key) => {
    const access = accessList[key] ?? [];
    return { key, worker, subtask: subtasks[key] ?? '', reads: access === 'all' ? [] : [...new Set(access)].sort((a, b) => a - b), readsAll: access === 'all' };
  });
}

export function planOf(steps: EditedPlan): Plan {
  return {
    modelIds: steps.map(({ worker }) => worker),
    subtasks: steps.map(({ subtask }) => subtask.trim()),
    accessList: steps.map((step, index) => (step.readsAll ? 'all' : positionsRead(steps, index))),
  };
}

/** The positions of the steps that a step reads, ascending. */
export function positionsRead(steps: EditedPlan, index: number): number[] {
  const step = steps[index];
  return step ? steps.slice(0, index).flatMap(({ key }, earlier) => (step.readsAll || step.reads.includes(key) ? [earlier] : [])) : [];
}

export function withStep(steps: EditedPlan, key: number, change: Partial<Omit<EditedStep, 'key'>>): EditedPlan {
  return steps.map((step) => (step.key === key ? { ...step, ...change } : step));
}

export function withRead(steps: EditedPlan, index: number, earlier: number, isRead: boolean): EditedPlan {
  const step = steps[index];
  if (!step) return steps;
  const read = new Set(positionsRead(steps, index));
  if (isRead) read.add(earlier);
  else read.delete(earlier);
  return withStep(steps, step.key, { readsAll: step.readsAll && isRead, reads: steps.flatMap(({ key }, position) => (read.has(position) ? [key] : [])) });
}

export function withoutStep(steps: EditedPlan, key: number): EditedPlan {
  return steps.filter((step) => step.key !== key).map((step) => ({ ...step, reads: step.reads.filter((read) => read !== key) }));
}

/** With a new step at a position, by the worker beside it. The next step reads it; at the end, it reads everything and gives the answer. */
export function withNewStep(steps: EditedPlan, position: number): EditedPlan {
  const key = Math.max(-1, ...steps.map((step) => step.key)) + 1;
  const isLast = position === steps.length;
  const added: EditedStep = {
    key, worker: (steps[position] ?? steps.at(-1))?.worker ?? 0, subtask: '', reads: isLast ? steps.map((step) => step.key) : [], readsAll: false,
  };
  const next = steps[position];
  const told = next ? withStep(steps, next.key, { reads: [...next.reads, key] }) : steps;
  return [...told.slice(0, position), added, ...told.slice(position)];
}

/** Whether a later step reads the step, or it gives the answer. */
export function isUsed(steps: EditedPlan, index: number): boolean {
  return index === steps.length - 1 || steps.some((_, later) => later > index && positionsRead(steps, later).includes(index));
}

export function isChanged(steps: EditedPlan, plan: Plan): boolean {
  return JSON.stringify(planOf(steps)) !== JSON.stringify(planOf(editedFrom(plan)));
}

export const isComplete = (steps: EditedPlan): boolean => steps.length > 0 && steps.every(({ subtask }) => subtask.trim() !== '');

/** A stored plan as far as it is one for a pool of this size: an earlier version of the page may have written it. */
export function readEditedPlan(stored: unknown, workers: number): EditedPlan | undefined {
  if (!Array.isArray(stored) || stored.length > MOST_STEPS || !stored.every(isEditedStep)) return undefined;
  return stored.every(({ worker }) => worker < workers) ? stored : undefined;
}

function isEditedStep(value: unknown): value is EditedStep {
  if (typeof value !== 'object' || value === null) return false;
  const { key, worker, subtask, reads, readsAll } = value as Partial<Record<keyof EditedStep, unknown>>;
  const isCount = (one: unknown): boolean => Number.isSafeInteger(one) && (one as number) >= 0;
  return isCount(key) && isCount(worker) && typeof subtask === 'string' && Array.isArray(reads) && reads.every(isCount) && typeof readsAll === 'boolean';
}
