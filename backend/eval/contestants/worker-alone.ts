import { aloneName, byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';

/** One worker answers each task in one step. */
export const workerAlone = (worker: number, name: string, shapes = FUNCTION_SHAPES): Contestant =>
  byPlan(aloneName(name), () => shapes.alone(worker));
