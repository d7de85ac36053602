import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import type { PanelModel } from '../../backend/protocol/panel-messages.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';

export interface LocalModelsSources {
  readonly run: RunSnapshot | undefined;
  readonly pool: Pool | undefined;
  readonly statusOf: (model: string) => LocalModelStatus;
}

/** The local models that plan or answer in the run on show, or in the next one. The Conductor comes first. */
export function localModelsOf({ run, pool, statusOf }: LocalModelsSources): PanelModel[] {
  const planner = run ? run.policy.worker : pool && plannerOf(pool);
  const workers = run ? run.pool : (pool?.workers ?? []).map(({ worker }) => worker).filter(({ enabled }) => enabled);
  const local = [...(planner ? [planner] : []), ...workers].filter(({ provider }) => provider === 'local');
  const models = [...new Set(local.map(({ model }) => model))];
  const isOf = (model: string) => (worker: WorkerConfig): boolean => worker.provider === 'local' && worker.model === model;
  return models.map((model) => ({
    ...statusOf(model),
    name: modelTitle(model),
    plans: planner !== undefined && isOf(model)(planner),
    answers: workers.some(isOf(model)),
  }));
}

/** The Conductor of the next run. */
export function plannerOf({ planner }: Pick<Pool, 'planner'>): WorkerConfig | undefined {
  return planner?.worker;
}

/** `owner/name` unchanged; for a folder, its name. */
export function modelTitle(model: string): string {
  return /^([/\\]|[A-Za-z]:[/\\])/.test(model) ? (model.split(/[/\\]/).filter(Boolean).at(-1) ?? model) : model;
}
