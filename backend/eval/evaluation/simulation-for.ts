import type { AskedEvaluation } from '../../protocol/evaluation-request.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import { EvaluationRequestError } from './request-error.ts';

/**
 * The simulation that runs, if an evaluation is to be with its workers: it stands in for the pool, unless others are named.
 * @throws EvaluationRequestError if its workers do not know the tasks
 */
export function simulationFor(
  { pool, simulated, sources, seed }: Pick<AskedEvaluation, 'pool' | 'simulated' | 'sources' | 'seed'>, running: Simulation | undefined,
): Simulation | undefined {
  if (!running || simulated) return undefined;
  const ids = new Set(running.workers.map(({ id }) => id));
  if (pool && !pool.some((id) => ids.has(id))) return undefined;
  const start = ['conductor simulate', ...(seed === 1 ? [] : [`--seed ${seed}`])].join(' ');
  if (sources.includes('gym') && running.seed !== seed) {
    throw new EvaluationRequestError(`The simulation that runs knows the gym's tasks of seed ${running.seed}: use --seed ${running.seed}, or end it and start it with: ${start}`);
  }
  const unknown = sources.find((source) => source !== 'gym' && !running.tasks.includes(source));
  if (unknown !== undefined) throw new EvaluationRequestError(`The workers of the simulation that runs do not know ${unknown}: end it and start it with: ${start} ${unknown}`);
  return running;
}
