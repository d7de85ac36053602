/** `all`, or the positions (from 0) of earlier steps whose outputs the step may read. */
export type Access = 'all' | readonly number[];

/** The Conductor's plan as in the paper (arXiv 2512.04388 §3.1): three lists of equal length with one entry per step. */
export interface Plan {
  /** Ordinals of workers in the pool. */
  readonly modelIds: readonly number[];
  readonly subtasks: readonly string[];
  readonly accessList: readonly Access[];
}

export interface Step {
  readonly index: number;
  readonly worker: number;
  readonly subtask: string;
  /** Positions of earlier steps, ascending. */
  readonly reads: readonly number[];
  /** `all` includes the previous round (arXiv 2512.04388 Fig. 14). */
  readonly readsPreviousRound: boolean;
}

/** The paper's limit on steps (§3.1). */
export const MAX_STEPS = 5;

/** The steps of a valid plan, `all` resolved to every earlier position. */
export function stepsOf(plan: Plan): Step[] {
  return plan.modelIds.map((worker, index) => {
    const access = plan.accessList[index] ?? [];
    const all = access === 'all';
    return {
      index,
      worker,
      subtask: plan.subtasks[index] ?? '',
      reads: all ? Array.from({ length: index }, (_, earlier) => earlier) : [...new Set(access)].sort((a, b) => a - b),
      readsPreviousRound: all,
    };
  });
}
