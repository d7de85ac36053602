import type { Training } from '../../protocol/training.ts';
import type { WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import { TrainingError, type TrainingCast } from './run-training.ts';

export interface TodaysWorkers {
  readonly file: WorkersFile;
  readonly bundledConductor?: WorkerConfig | undefined;
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
}

/**
 * Who takes part in a training that goes on: those who began it, whoever else was added meanwhile, with keys, prices and limits as workers.json
 * has them by now. Nothing is sent to a worker that is not there any more.
 * @throws TrainingError
 */
export function castToGoOn(
  { conductor: id, model, adapterBefore, pool = [] }: Pick<Training, 'conductor' | 'model' | 'adapterBefore' | 'pool'>,
  { file, bundledConductor, priced }: TodaysWorkers,
): TrainingCast {
  const named = (name: string): WorkerConfig | undefined => file.workers.find((worker) => worker.id === name);
  const found = named(id) ?? (bundledConductor?.id === id ? bundledConductor : undefined);
  if (!found) throw changed(`"${id}" as the Conductor`, 'is not in workers.json any more');
  if (found.provider !== 'local' || found.model !== model) throw changed(`"${id}" (${model}) as the Conductor`, 'has another model by now');
  const { adapter: _adapter, ...conductor } = found;
  return {
    conductor: { ...conductor, ...(adapterBefore !== undefined && { adapter: adapterBefore }) },
    pool: pool.map((begun) => {
      const worker = named(begun.id);
      if (!worker) throw changed(`the worker "${begun.id}"`, 'is not in workers.json any more');
      if (worker.model !== begun.model) throw changed(`the worker "${begun.id}" (${begun.model})`, 'has another model by now');
      if (!worker.enabled) throw changed(`the worker "${begun.id}"`, 'is switched off');
      return priced(worker);
    }),
    budget: file.budget,
  };
}

const changed = (who: string, what: string): TrainingError =>
  new TrainingError(`This training was begun with ${who}, which ${what}. Set that right and resume it, or begin another one.`);
