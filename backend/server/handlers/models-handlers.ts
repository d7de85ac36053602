import type { LocalModelStatus, LocalModelsView, PulledModelView, PullProgress } from '../../protocol/local-models.ts';
import type { ClientRequests, Params } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import { localSettingsSchema, workerConfigSchema, type LocalSettings, type WorkerConfig, type WorkersFile } from '../../protocol/worker-config.ts';
import type { PoolEditor } from './workers-handlers.ts';

export interface PullRequest {
  readonly repo: string;
  readonly revision?: string | undefined;
  readonly token?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

/** Access to the local models. Errors have messages for users. */
export interface ModelsAccess {
  list(settings: LocalSettings): Promise<Omit<LocalModelsView, 'settings'>>;
  pull(request: PullRequest, settings: LocalSettings): Promise<PulledModelView>;
  /** Checks a model's files without loading it. @returns a short name for it */
  inspect(model: string): Promise<{ readonly shortName: string }>;
  /** Loads the model. An abort unloads it again, unless another caller needs it. */
  load(model: string, signal: AbortSignal): Promise<LocalModelStatus>;
  unload(model: string): Promise<void>;
  readonly states: readonly LocalModelStatus[];
  /** @returns a function that ends the subscription */
  listen(listener: (status: LocalModelStatus) => void): () => void;
}

export interface ModelsDependencies {
  readonly models: ModelsAccess;
  readonly pool: PoolEditor;
  /** Notifies the client that sent the request. */
  readonly notifyProgress: (progress: PullProgress) => void;
}

type ModelMethods = Extract<keyof ClientRequests, `model/${string}` | `models/${string}`>;

export function modelsHandlers({ models, pool, notifyProgress }: ModelsDependencies): RequestHandlers<ClientRequests, ModelMethods> {
  return {
    'models/list': async () => {
      const { local } = await pool.file();
      return { ...(await models.list(local)), settings: local };
    },
    'models/pull': async (request, { signal }) =>
      models.pull({ ...request, signal, onProgress: notifyProgress }, (await pool.file()).local),
    'models/configure': async (changes) => (await pool.change((file) => ({ ...file, local: configured(file.local, changes) }))).local,
    'model/choose': async ({ model, worker }) => {
      const { shortName } = await models.inspect(model);
      return pool.describe(await pool.change((file) => withConductor(file, { model, shortName, answers: worker })));
    },
    'model/load': ({ model }, { signal }) => models.load(model, signal),
    'model/unload': async ({ model }) => {
      await models.unload(model);
      return {};
    },
    'model/status': () => ({ models: [...models.states] }),
  };
}

function configured(before: LocalSettings, changes: Params<ClientRequests, 'models/configure'>): LocalSettings {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined);
  return localSettingsSchema.parse(Object.fromEntries(merged));
}

/** Makes the worker with this model the Conductor. Adds one if there is none. */
function withConductor(
  file: WorkersFile, { model, shortName, answers }: { readonly model: string; readonly shortName: string; readonly answers: boolean },
): WorkersFile {
  const known = file.workers.find((worker) => worker.provider === 'local' && worker.model === model);
  const id = known?.id ?? freeId(shortName, file.workers);
  const worker: WorkerConfig = { ...(known ?? newWorker(id, model)), enabled: answers };
  const workers = known ? file.workers.map((old) => (old.id === id ? worker : old)) : [...file.workers, worker];
  return { ...file, workers, conductor: id };
}

/** Small models give short answers, and room reserved for the answer reduces the room for the prompt. */
const MAX_OUTPUT_TOKENS = 4_096;

function newWorker(id: string, model: string): WorkerConfig {
  return workerConfigSchema.parse({
    id, provider: 'local', model, maxOutputTokens: MAX_OUTPUT_TOKENS, concurrency: 1, description: 'A small model on the user\'s machine.',
  });
}

function freeId(shortName: string, workers: readonly WorkerConfig[]): string {
  const base = shortName.toLowerCase().replace(/[^\w.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 60) || 'local';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!workers.some((worker) => worker.id === id)) return id;
  }
}
