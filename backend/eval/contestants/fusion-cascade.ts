import type { Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';
import { withAll } from '../run-plan.ts';
import { FUSION } from './fusion.ts';

const JUDGE = 'Check the solution that you are shown: is it right and complete? End with a line that is ACCEPT or ESCALATE, and nothing after it.';

/**
 * Fusion's cascade: an efficient model drafts a solution, and a judge inspects it and decides whether to accept it or to escalate to a
 * stronger model. Only a clear ACCEPT accepts.
 */
export function fusionCascade(efficient: number, judge: number, strong: number, shapes = FUNCTION_SHAPES): Contestant {
  const [draftStep] = shapes.alone(efficient).subtasks;
  return {
    name: FUSION.cascade,
    answer: async (_task, play) => {
      const draft = await play(shapes.alone(efficient), 0);
      // The draft is the plan's first step, so it is not paid for again.
      const judged = await play({ modelIds: [efficient, judge], subtasks: [draftStep ?? '', JUDGE], accessList: [[], [0]] }, 0);
      const isAccepted = judged.answer.trimEnd().split('\n').at(-1)?.replaceAll(/\W/g, '') === 'ACCEPT';
      const inspected = { ...judged, answer: draft.answer };
      if (isAccepted) return inspected;
      const strongest = await play(shapes.alone(strong), 0);
      return withAll(strongest, [inspected, strongest], 'in turn');
    },
  };
}
