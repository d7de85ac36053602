import { byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';
import { FUSION } from './fusion.ts';

const CRITIQUE = 'Review the solution that you are shown: name in a few lines what is wrong or missing, or that nothing is.';
const REVISE = 'Write the final solution: your own first one, corrected where the reviews that you are shown are right, whole and in the form that the question asks for.';

/**
 * Fusion's critique: a model drafts a response, several models critique it independently and at the same time, and the first one revises it by
 * their feedback.
 */
export function fusionCritique(writer: number, critics: readonly number[], shapes = FUNCTION_SHAPES): Contestant {
  const [draft] = shapes.alone(writer).subtasks;
  return byPlan(FUSION.critique, () => ({
    modelIds: [writer, ...critics, writer],
    subtasks: [draft ?? '', ...critics.map(() => CRITIQUE), REVISE],
    accessList: [[], ...critics.map(() => [0]), 'all'],
  }));
}
