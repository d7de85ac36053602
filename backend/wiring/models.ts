import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BundledModel } from './bundled-model.ts';
import { openCheckpoint } from '../lm/checkpoint/open-checkpoint.ts';
import type { CudaConsent } from '../lm/device/cuda-libraries.ts';
import { machineProbe } from '../lm/device/device-probe.ts';
import { HubError } from '../lm/hub/hub-error.ts';
import { modelOffers } from '../lm/hub/model-offers.ts';
import { pullModel } from '../lm/hub/pull-model.ts';
import { listPulledModels } from '../lm/hub/pulled-models.ts';
import { findModelFolder } from '../lm/process/find-model-folder.ts';
import { LocalModels, type LocalModelState } from '../lm/process/local-models.ts';
import { measureMemory } from '../lm/process/measure-memory.ts';
import { needsText } from '../lm/trained-weights.ts';
import type { LocalModelStatus } from '../protocol/local-models.ts';
import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import { modelHere } from '../protocol/served.ts';
import { BUNDLED_MODEL, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { ModelsAccess } from '../server/handlers/models-handlers.ts';
import type { CastSources } from '../solve/run-pool.ts';
import { checkAdapterBase } from '../train/trainings/adapter-base.ts';
import type { ServedModels } from '../workers/adapters/served/served-model.ts';
import { localErrorKind } from '../workers/adapters/classify-local-error.ts';
import type { LocalModelSource } from '../workers/adapters/local-adapter.ts';
import { servedModels } from './served-models.ts';

/* Wires the local models to the Conductor, the workers and the server. */

export interface ModelPartsOptions {
  /** Folder of models, quantised weights and CUDA libraries. */
  readonly home: string;
  readonly loadWorkers: () => Promise<WorkersFile>;
  readonly bundled?: Pick<BundledModel, 'folder' | 'base'> | undefined;
  /** Asks the user; undefined if no client can ask. */
  readonly confirmCuda: (consent: CudaConsent, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly log: (line: string) => void;
}

export interface ModelParts {
  readonly localModel: LocalModelSource;
  readonly adapterVersion: CastSources['adapterVersion'];
  /** For Conductors whose model is at a server. */
  readonly servedModels: ServedModels;
  readonly access: ModelsAccess;
  /** @throws what LocalModels throws, and OtherBaseError */
  readonly openTrainable: (worker: Pick<WorkerConfig, 'model' | 'adapter' | 'weights'>, trains: 'adapter' | 'weights') => ReturnType<LocalModels['openTrainable']>;
  /** What it takes to train all weights of the worker's model here, and why that cannot be; parts of a sentence. @throws what LocalModels throws */
  readonly weightsTraining: (worker: Pick<WorkerConfig, 'model' | 'weights'>, heldBytes?: number) => Promise<{ readonly needs: string; readonly problem: string | undefined }>;
  /** SHA-256 of the bundled model's weights, which its name does not identify; undefined for any other model, and for trained weights. */
  baseOf(worker: Pick<WorkerConfig, 'model' | 'weights'>): Promise<string | undefined>;
  /** The folder (absolute) of a model. @throws ModelMissingError */
  folderOf(model: string): Promise<string>;
  /** Why a worker's model, or its adapter, cannot be used; one sentence. Of a served one, no weights are needed here. */
  whyNot(worker: Pick<WorkerConfig, 'model' | 'provider' | 'served' | 'adapter' | 'weights'>): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What tells where a worker's model is. */
type Placed = Pick<WorkerConfig, 'model' | 'weights'>;

/** Loading a model takes seconds and keeping it takes gigabytes. This leaves time to read an answer and ask again. */
const IDLE_MS = 10 * 60_000;

/** The bundle is in the same folder as the backend's; the source is in backend/. */
const MODEL_PROCESS = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../model-process.ts' : './model-process.mjs', import.meta.url),
);

export function modelParts({ home, loadWorkers, bundled, confirmCuda, log }: ModelPartsOptions): ModelParts {
  /** The models whose place is another than their name, by that place. */
  const names = new Map<string, string>();
  // The bundled model is referred to by name; its folder differs between versions. Trained weights are a folder of their own.
  const placeOf = ({ model, weights }: Placed): string => {
    const place = weights ?? (model === BUNDLED_MODEL && bundled ? bundled.folder : model);
    if (place !== model) names.set(place, model);
    return place;
  };
  const statusOf = (state: LocalModelState): LocalModelStatus => statusAs(names.get(state.model) ?? state.model, state);
  /** The place of a model whose name a person has: with trained weights, where a worker has them. */
  const placeNamed = async (model: string): Promise<string> =>
    placeOf((await loadWorkers()).workers.find((worker) => worker.model === model && worker.weights !== undefined) ?? { model });
  const folderOf = (model: string): Promise<string> => findModelFolder(placeOf({ model }), { storage: home });
  const baseOf = async ({ model, weights }: Placed): Promise<string | undefined> =>
    (model === BUNDLED_MODEL && weights === undefined ? await bundled?.base() : undefined);
  const checkBase = async ({ adapter, ...worker }: Placed & Pick<WorkerConfig, 'adapter'>): Promise<void> => {
    const base = await baseOf(worker);
    if (adapter !== undefined && base !== undefined) await checkAdapterBase(adapter, base);
  };
  const served = servedModels(folderOf);
  const probe = machineProbe(process.env);
  const listeners = new Set<(status: LocalModelStatus) => void>();
  const models = new LocalModels({
    storage: home,
    script: MODEL_PROCESS,
    probe,
    settings: async (model) => {
      const { local: { device, precision, packageIndex }, workers } = await loadWorkers();
      return { device, precision, packageIndex, adapters: workers.some((worker) => placeOf(worker) === model && worker.adapter !== undefined) };
    },
    confirmCuda,
    onState: (state) => {
      if (state.problem !== undefined) log(`The model ${state.model} is not loaded: ${state.problem}`);
      for (const listener of listeners) listener(statusOf(state));
    },
    idleMs: IDLE_MS,
  });

  return {
    localModel: (worker) => models.model(placeOf(worker)),
    adapterVersion: async ({ adapter, ...worker }) => {
      const model = modelHere(worker);
      if (adapter === undefined || model === undefined) return undefined;
      await checkBase({ model, weights: worker.weights, adapter });
      return await served.versionOf(model, adapter);
    },
    servedModels: served,
    access: {
      list: async (settings) => {
        const [pulled, memory] = await Promise.all([listPulledModels(home), measureMemory({ storage: home, probe }, settings)]);
        const { offered, recommended } = modelOffers(memory);
        return { pulled, offered, ...(recommended && { recommended }) };
      },
      pull: ({ repo, revision, token, signal, onProgress }, { hubEndpoint }) => pullModel({
        repo, revision, token, endpoint: hubEndpoint, storage: home, signal,
        onProgress: ({ receivedBytes, totalBytes, bytesPerSecond }) => onProgress({ repo, receivedBytes, totalBytes, bytesPerSecond }),
      }),
      inspect: async (model) => {
        await openCheckpoint(await folderOf(model));
        return { shortName: path.basename(model) };
      },
      load: async (model, signal) => {
        const place = await placeNamed(model);
        await models.load(place, signal);
        const state = models.states.find((one) => one.model === place);
        return state ? statusOf(state) : { model, state: 'unloaded' };
      },
      // With trained weights it may be loaded beside the model as it was.
      unload: async (model) => {
        const places = models.states.map((state) => state.model).filter((place) => place === model || names.get(place) === model);
        await Promise.all(places.map((place) => models.unload(place)));
      },
      get states() {
        return models.states.map(statusOf);
      },
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    openTrainable: async (worker, trains) => {
      await checkBase(worker);
      return models.openTrainable(placeOf(worker), trains);
    },
    weightsTraining: async (worker, heldBytes) => {
      const { needs, problem } = await models.weightsTraining(placeOf(worker), heldBytes);
      return { needs: needsText(needs), problem };
    },
    baseOf,
    folderOf,
    whyNot: async (worker) => {
      try {
        const { served: there, adapter } = worker;
        if (there) {
          await served.tokenizerOf(there.model);
          if (adapter !== undefined) await served.versionOf(there.model, adapter);
        } else await openCheckpoint(await findModelFolder(placeOf(worker), { storage: home }));
        await checkBase({ model: modelHere(worker) ?? worker.model, weights: worker.weights, adapter });
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    close: () => models.close(),
  };
}

/** Converts an error of a local model to the error that clients receive. */
export function explainModelError(error: unknown): RequestError | undefined {
  const kind = error instanceof HubError ? error.kind : localErrorKind(error);
  if (kind === undefined || !(error instanceof Error)) return undefined;
  return new RequestError({ code: ERROR_CODES.refused, kind, message: error.message });
}

function statusAs(model: string, { state, phase, fraction, loaded, problem }: Omit<LocalModelState, 'model'>): LocalModelStatus {
  return {
    model,
    state,
    ...(phase && { phase }),
    ...(fraction !== undefined && { fraction }),
    ...(loaded && {
      loaded: {
        device: loaded.device,
        precision: loaded.precision,
        weightBytes: loaded.weightBytes,
        contextLength: loaded.contextLength,
        reasons: [...loaded.deviceReasons],
      },
    }),
    ...(problem !== undefined && { problem }),
  };
}
