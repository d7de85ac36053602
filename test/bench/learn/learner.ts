import type { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { wordedPlan } from '../../../backend/conductor/plan/form-plan.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import type { Plan } from '../../../backend/workflow/plan.ts';
import type { LearnTask } from './learn-tasks.ts';
import type { Played } from './world.ts';

/** A contestant that learns from the outcome of each plan. A new one for each pool and seed. */
export interface Learner {
  /** The plan to pay for next: it may try something out. */
  next(task: LearnTask, random: KeyedRandom): readonly ShapeStep[];
  learn(task: LearnTask, steps: readonly ShapeStep[], outcome: Played): void;
  /** The plan that it believes in. */
  best(task: LearnTask, random: KeyedRandom): readonly ShapeStep[];
}

export const alone = (worker: number): readonly ShapeStep[] => [{ role: 'write', worker, reads: [], readsAll: false }];

/** In the words in which conductor-mini's plans are carried out. */
export function planOf(steps: readonly ShapeStep[], { question }: Pick<LearnTask, 'question'>): Plan {
  return wordedPlan(steps, readQuestion(question, { inProject: true }), 0);
}

/** The index of the highest value; of equal ones, any. */
export function highest(values: readonly number[], random: KeyedRandom, draw: string): number {
  const most = Math.max(...values);
  return random.pick(draw, values.flatMap((value, index) => (value === most ? [index] : []))) ?? 0;
}
