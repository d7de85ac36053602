import type { Plan } from '../../workflow/plan.ts';
import type { ReadQuestion } from '../question/read-question.ts';
import { wordedPlan } from './form-plan.ts';
import { nearestShape } from './nearest-shape.ts';
import { nonsenseIn, type Nonsense, type SenseOptions } from './plan-sense.ts';
import { accessOf, earlier, shapeOf, withoutStep, type ShapeStep } from './shape.ts';
import { roleOfStep } from '../../protocol/step-role.ts';

/** A step with the words that the Conductor gave it; undefined where a form has to take their place. */
interface WordedStep {
  readonly shape: ShapeStep;
  readonly words: string | undefined;
}

/**
 * The nearest plan that makes sense: what the Conductor wrote is kept where nothing speaks against it. A step whose words do not fit gets the
 * form of its role; access is widened to what the words speak of; a repeated step is left out.
 */
export function nearestPlan(plan: Plan, question: ReadQuestion, found: readonly Nonsense[], options: SenseOptions): Plan {
  const { round } = options;
  const roles = plan.subtasks.map(roleOfStep);
  const shape = shapeOf(plan, roles).map((step, index) => (found.some(({ rule, step: at }) => rule === 'unseen' && at === index) ? { ...step, reads: earlier(index) } : step));
  const replacing = new Set(found.filter(({ rule, step }) => rule === 'fault' || rule === 'last' || (rule === 'unseen' && step === 0)).map(({ step }) => step));
  const worded: WordedStep[] = shape.map((step, index) => ({ shape: step, words: replacing.has(index) ? undefined : plan.subtasks[index] }));

  const kept = withoutTwins(worded, found);
  const near = nearestShape(kept.map((step) => step.shape), { wants: question.wants, steps: options.steps === 1 ? 1 : plan.modelIds.length });
  const byForm = wordedPlan(near.steps, question, round);
  if (near.steps.length !== kept.length) return byForm;
  const mixed: Plan = { ...byForm, subtasks: near.steps.map((step, index) => (step.role === kept[index]?.shape.role ? kept[index]?.words : undefined) ?? byForm.subtasks[index] as string) };
  return nonsenseIn(mixed, question, options).length === 0 ? { ...mixed, accessList: near.steps.map(accessOf) } : byForm;
}

function withoutTwins(worded: readonly WordedStep[], found: readonly Nonsense[]): WordedStep[] {
  const twins = found.filter(({ rule }) => rule === 'repeated').map(({ step = 0 }) => step).sort((a, b) => b - a);
  return twins.reduce<WordedStep[]>((left, at) => {
    // The answer stays the answer: of two equal steps at the end the earlier one goes.
    const gone = at === left.length - 1 ? left.findIndex(({ words }) => words === left[at]?.words) : at;
    const shapes = withoutStep(left.map(({ shape }) => shape), gone);
    return left.filter((_, index) => index !== gone).map((step, index) => ({ ...step, shape: shapes[index] as ShapeStep }));
  }, [...worded]);
}

