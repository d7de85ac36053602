import { BASELINES, byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';

/**
 * Self-reflection: a worker answers, and then reviews and corrects its own answer four times. The paper's control with as many calls of one
 * worker as a plan may have steps (arXiv 2512.04388 §4.2, "5x reflect").
 */
export const selfReflection = (worker: number, shapes = FUNCTION_SHAPES): Contestant =>
  byPlan(BASELINES.reflection, () => shapes.writeAndChecks(worker, [worker, worker, worker, worker]));
