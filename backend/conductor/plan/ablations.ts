import { ABLATIONS, type AblationName } from '../../protocol/ablations.ts';
import type { Plan } from '../../workflow/plan.ts';

/** A plan without one of its features, to measure how much the feature matters. */
export interface Ablation {
  readonly name: string;
  readonly change: (plan: Plan) => Plan;
}

/** The subtask by which the paper tests whether instructions matter (arXiv 2512.04388 §5). */
export const VAGUE_SUBTASK = 'Solve the user question.';

/** @param best ordinal of the best worker */
export function ablation(name: AblationName, best: number): Ablation {
  switch (name) {
    case 'access=all':
      return { name: 'every step reads everything', change: (plan) => ({ ...plan, accessList: plan.accessList.map(() => 'all' as const) }) };
    case 'access=nothing':
      return { name: 'no step reads anything', change: (plan) => ({ ...plan, accessList: plan.accessList.map(() => []) }) };
    case 'access=all-or-nothing':
      return {
        name: 'all or nothing instead of step numbers',
        change: (plan) => ({ ...plan, accessList: plan.accessList.map((access) => (access.length > 0 ? 'all' as const : [])) }),
      };
    case 'vague':
      return { name: `subtasks replaced by "${VAGUE_SUBTASK}"`, change: (plan) => ({ ...plan, subtasks: plan.subtasks.map(() => VAGUE_SUBTASK) }) };
    case 'one-worker':
      return { name: 'all steps on the best worker', change: (plan) => ({ ...plan, modelIds: plan.modelIds.map(() => best) }) };
  }
}

/** All of them. @param best ordinal of the best worker */
export const ablationsFor = (best: number): Ablation[] => ABLATIONS.map((name) => ablation(name, best));
