import type { WorkerConfig } from './worker-config.ts';

/** What the model that is part of Conductor is called as a worker's `model`: where it lies changes with each version. */
export const BUNDLED_MODEL = 'conductor-mini';

type Bundled = Pick<WorkerConfig, 'id' | 'model'>;

/** Whether a worker of workers.json is the model that is part of Conductor: it stands there once it has an adapter. */
export function isBundled({ id, provider, model }: Pick<WorkerConfig, 'id' | 'provider' | 'model'>, bundled: Bundled | undefined): boolean {
  return bundled !== undefined && provider === 'local' && id === bundled.id && model === bundled.model;
}

/** Plans where nobody is named: the model that is part of Conductor, as workers.json has it where it does. */
export function bundledPlanner(workers: readonly WorkerConfig[], bundled: WorkerConfig | undefined): WorkerConfig | undefined {
  return workers.find((worker) => isBundled(worker, bundled)) ?? bundled;
}
