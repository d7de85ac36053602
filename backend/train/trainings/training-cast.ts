import { bundledPlanner } from '../../protocol/bundled-conductor.ts';
import { modelHere } from '../../protocol/served.ts';
import type { Training } from '../../protocol/training.ts';
import type { Budget, WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import type { Clients } from '../../solve/clients.ts';
import { TrainingError } from './training-error.ts';

/** Who takes part in a training. */
export interface TrainingCast {
  /** The worker that plays the Conductor, as a model of this machine. */
  readonly conductor: WorkerConfig;
  /** Whether it plans at a server. */
  readonly isServed: boolean;
  readonly pool: readonly WorkerConfig[];
  readonly budget: Budget;
}

export interface TrainingCastSources {
  /** Reads workers.json anew. */
  readonly loadWorkers: () => Promise<WorkersFile>;
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** The Conductor where workers.json names none of this machine. */
  readonly bundledConductor?: WorkerConfig | undefined;
  readonly clients: Clients;
}

/**
 * The cast of a new training: the Conductor of workers.json, or the bundled model if that one runs elsewhere or nobody is chosen, and each
 * enabled worker whose key is known.
 * @throws TrainingError
 */
export async function castToBegin({ loadWorkers, priced, clients, bundledConductor }: TrainingCastSources): Promise<TrainingCast> {
  const file = await loadWorkers();
  const chosen = file.workers.find(({ id }) => id === file.conductor);
  const conductor = chosen && modelHere(chosen) !== undefined ? asTrained(chosen) : bundledPlanner(file.workers, bundledConductor);
  if (!conductor) {
    throw new TrainingError('Training needs a Conductor whose model is on this machine: choose one with "Conductor: Choose Conductor Model" or "conductor model choose".', 'conductor');
  }
  const enabled = file.workers.filter((worker) => worker.enabled && worker.id !== conductor.id);
  const ready = await Promise.all(enabled.map(async ({ key }) => key === undefined || Boolean(await clients.secret(key))));
  const pool = enabled.filter((_, index) => ready[index]).map(priced);
  if (pool.length === 0) throw new TrainingError('No worker is ready to do what is planned: add one, or set its key.', 'worker');
  return { conductor, isServed: chosen?.id === conductor.id && chosen.served !== undefined, pool, budget: file.budget };
}

/**
 * The cast of a training that goes on: the workers that it started with, whichever were added since. Keys, prices and limits are those of
 * workers.json now. Nothing is sent to a worker that was removed, disabled or changed.
 * @throws TrainingError
 */
export async function castToGoOn(
  { conductor: id, model, adapterBefore, weightsBefore, pool = [] }: Pick<Training, 'conductor' | 'model' | 'adapterBefore' | 'weightsBefore' | 'pool'>,
  { loadWorkers, bundledConductor, priced }: Omit<TrainingCastSources, 'clients'>,
): Promise<TrainingCast> {
  const file = await loadWorkers();
  const named = (name: string): WorkerConfig | undefined => file.workers.find((worker) => worker.id === name);
  const found = named(id) ?? (bundledConductor?.id === id ? bundledConductor : undefined);
  if (!found) throw changed(`"${id}" as the Conductor`, 'is not in workers.json any more');
  if (modelHere(found) !== model) throw changed(`"${id}" (${model}) as the Conductor`, 'has another model now');
  const { adapter: _adapter, weights: _weights, ...conductor } = asTrained(found);
  return {
    conductor: { ...conductor, ...(adapterBefore !== undefined && { adapter: adapterBefore }), ...(weightsBefore !== undefined && { weights: weightsBefore }) },
    isServed: found.served !== undefined,
    pool: pool.map((begun) => {
      const worker = named(begun.id);
      if (!worker) throw changed(`the worker "${begun.id}"`, 'is not in workers.json any more');
      if (worker.model !== begun.model) throw changed(`the worker "${begun.id}" (${begun.model})`, 'has another model now');
      if (!worker.enabled) throw changed(`the worker "${begun.id}"`, 'is disabled');
      return priced(worker);
    }),
    budget: file.budget,
  };
}

/**
 * A served Conductor as the model of this machine that it is: where it plans has no part in its training. The engine samples its plans, so its
 * server is not asked and nobody is paid for them.
 */
function asTrained(worker: WorkerConfig): WorkerConfig {
  const { served, baseUrl: _url, key: _key, price: _price, extraBody: _extra, hands: _hands, pictures: _pictures, ...rest } = worker;
  return served ? { ...rest, provider: 'local', model: served.model } : worker;
}

const changed = (who: string, what: string): TrainingError =>
  new TrainingError(`This training was started with ${who}, which ${what}. Set that right and resume it, or start another one.`);
