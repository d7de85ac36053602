import { byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';
import { FUSION } from './fusion.ts';

/** Fusion's single: one model completes the task. Here it is the strong one. */
export const fusionSingle = (strong: number, shapes = FUNCTION_SHAPES): Contestant => byPlan(FUSION.single, () => shapes.alone(strong));
