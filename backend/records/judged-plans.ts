import type { JudgedStep } from '../protocol/judged-step.ts';
import type { JudgedPlan } from './plan-value.ts';
import { isRight, nameKey, planKey } from './record-book.ts';

/** The plans that tests judged, newest first. One of which a step is not known, such as one that a person stopped, says nothing of the whole. @param steps newest first */
export function judgedPlans(steps: readonly JudgedStep[]): JudgedPlan[] {
  return [...Map.groupBy(steps, planKey).values()].flatMap((own) => {
    const [first] = own;
    const right = first && isRight(first);
    if (!first || right === undefined || own.length < first.steps) return [];
    const { project, kind } = first;
    return [{ project, kind, isRight: right, steps: own.toSorted((a, b) => a.step - b.step).map((step) => ({ role: step.role, worker: nameKey(step) })) }];
  });
}
