import type { Plan } from '../../workflow/plan.ts';
import type { ReadQuestion } from '../question/read-question.ts';
import { formOf } from './forms.ts';
import { nearestShape } from './nearest-shape.ts';
import { accessOf, shapeOf, type ShapeStep } from './shape.ts';
import { roleOfStep } from '../../protocol/step-role.ts';

/** A plan of conductor-mini in the words of its question: who, in which role, reading whom is the model's; the words are forms. */
export function formedPlan(plan: Plan, question: ReadQuestion, { round, steps: most }: { readonly round: number; readonly steps: number }): Plan {
  const { steps } = nearestShape(shapeOf(plan, plan.subtasks.map(roleOfStep)), { wants: question.wants, steps: most });
  return wordedPlan(steps, question, round);
}

/** The plan of a shape, its words by forms. */
export function wordedPlan(steps: readonly ShapeStep[], question: ReadQuestion, round: number): Plan {
  return {
    modelIds: steps.map(({ worker }) => worker),
    subtasks: steps.map((step, index) => formOf({
      role: step.role,
      isFirst: index === 0,
      notes: step.reads.filter((read) => steps[read]?.role === 'plan').length,
      drafts: step.reads.filter((read) => steps[read]?.role !== 'plan').length,
      attempt: steps.slice(0, index).filter(({ role, reads }) => role === step.role && reads.join() === step.reads.join()).length,
      seesRound: round > 0 && step.readsAll,
    }, question)),
    accessList: steps.map(accessOf),
  };
}
