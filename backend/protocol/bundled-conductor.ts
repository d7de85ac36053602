import type { WorkerConfig } from './worker-config.ts';

type Bundled = Pick<WorkerConfig, 'id' | 'model'>;

/** Whether a worker of workers.json is the bundled model. It is listed there once it has an adapter. */
export function isBundled({ id, provider, model }: Pick<WorkerConfig, 'id' | 'provider' | 'model'>, bundled: Bundled | undefined): boolean {
  return bundled !== undefined && provider === 'local' && id === bundled.id && model === bundled.model;
}

/** The default Conductor: the bundled model, with the entry of workers.json if there is one. */
export function bundledPlanner(workers: readonly WorkerConfig[], bundled: WorkerConfig | undefined): WorkerConfig | undefined {
  return workers.find((worker) => isBundled(worker, bundled)) ?? bundled;
}
