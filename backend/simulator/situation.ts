import type { PlanInView, Situation } from './chances.ts';
import type { Family, Variant } from './families/family.ts';
import { charactersOfModule, moduleFileIn, type SeenModule } from './recognise.ts';
import type { View } from './view.ts';

/** What makes a job on the module easier or harder, judged from the view. */
export function situationOf(view: View, module: SeenModule, vague: boolean): Situation {
  const { family, sight, faults } = module;
  const plans = plansIn(view, family);
  const files = view.steps.map(({ output }) => output).filter((output) => moduleFileIn(family, output));
  const irrelevant =
    view.context.length -
    charactersOfModule(family, view.context) +
    lengthOf(view.steps.map(({ output }) => output)) -
    lengthOf(plans) -
    lengthOf(files);
  return {
    difficulty: family.difficulty + 0.5 * ((faults?.[0]?.subtlety ?? 0.5) - 0.5),
    vague,
    sight,
    irrelevantCharacters: Math.max(0, irrelevant),
    plan: planInView(module, plans),
    hasFeedback: /\bfail|not pass|refused|not tested/i.test(view.feedback),
  };
}

/** Outputs with a diagnosis of the module and without code. */
export function plansIn(view: View, family: Family): string[] {
  return view.steps
    .map(({ output }) => output)
    .filter((output) => !moduleFileIn(family, output) && diagnosesIn(family, output).length > 0);
}

export function diagnosesIn(family: Family, text: string): Variant[] {
  return family.variants.filter(({ diagnosis }) => text.includes(diagnosis));
}

/**
 * The majority diagnosis of the visible plans. A worker that cannot see the code cannot tell a right plan from a wrong one.
 */
function planInView({ faults }: SeenModule, plans: readonly string[]): PlanInView {
  if (!faults) return 'none';
  const right = plans.filter((plan) => faults.some(({ diagnosis }) => plan.includes(diagnosis))).length;
  const wrong = plans.length - right;
  if (right === wrong) return 'none';
  return right > wrong ? 'right' : 'wrong';
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
