import type { WorkerSettings } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { TrainingError } from './training-error.ts';

/** The settings for each worker that is not named. */
const OTHERS = '*';

/** The pool with other settings of how its workers are asked. @throws TrainingError where they name a worker that is not in it */
export function poolWith(pool: readonly WorkerConfig[], settings: WorkerSettings | undefined): readonly WorkerConfig[] {
  if (settings === undefined) return pool;
  const unknown = Object.keys(settings).find((name) => name !== OTHERS && !pool.some(({ id }) => id === name));
  if (unknown !== undefined) {
    throw new TrainingError(`The settings of the training name the worker "${unknown}", which takes no part in it; those are ${pool.map(({ id }) => id).join(', ')}.`);
  }
  return pool.map((worker) => ({ ...worker, ...(settings[worker.id] ?? settings[OTHERS]) }));
}
