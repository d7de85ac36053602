import { FUNCTION_SHAPES } from '../plans.ts';
import type { Contestant } from '../contestant.ts';

const TIMES = 5;

/** One worker with five times the limit of output tokens: the paper's control for what more tokens alone do (arXiv 2512.04388 Table 7, "5x context"). */
export const moreContext = (worker: number, name: string, shapes = FUNCTION_SHAPES): Contestant => ({
  name: `${name} with 5 x the context`,
  answer: (_task, play) => play(shapes.alone(worker), 0, { outputTimes: TIMES }),
});
