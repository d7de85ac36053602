import { BASELINES, byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';

/**
 * Mixture of agents in one layer (Wang et al., "Mixture-of-Agents Enhances Large Language Model Capabilities", arXiv 2406.04692): all workers
 * answer independently, and an aggregator reads all answers and gives the final one.
 */
export const mixtureOfAgents = (workers: readonly number[], aggregator: number, shapes = FUNCTION_SHAPES): Contestant =>
  byPlan(BASELINES.mixture, () => shapes.attemptsAndJudge(workers, aggregator));
