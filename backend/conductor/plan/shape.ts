import type { Access, Plan } from '../../workflow/plan.ts';
import type { StepRole } from '../../protocol/step-role.ts';

/** A plan without words: who does what in which role, and what of the earlier steps each is shown. */
export interface ShapeStep {
  readonly role: StepRole;
  readonly worker: number;
  /** Positions of earlier steps, ascending. */
  readonly reads: readonly number[];
  /** Access to everything, which includes the round before. */
  readonly readsAll: boolean;
}

export function shapeOf({ modelIds, accessList }: Omit<Plan, 'subtasks'>, roles: readonly StepRole[]): ShapeStep[] {
  return roles.map((role, index) => {
    const access = accessList[index] ?? [];
    const readsAll = access === 'all';
    return { role, worker: modelIds[index] ?? 0, reads: readsAll ? earlier(index) : [...new Set(access)].sort((a, b) => a - b), readsAll };
  });
}

export const earlier = (index: number): number[] => Array.from({ length: index }, (_, position) => position);

export const accessOf = ({ readsAll, reads }: ShapeStep): Access => (readsAll ? 'all' : reads);

/** Without the step at this position. */
export function withoutStep(steps: readonly ShapeStep[], at: number): ShapeStep[] {
  return steps.filter((_, index) => index !== at).map((step) => ({
    ...step, reads: step.reads.filter((read) => read !== at).map((read) => (read > at ? read - 1 : read)),
  }));
}
