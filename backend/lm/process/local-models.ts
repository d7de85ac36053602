import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import type { DeviceChoice } from '../device/choose-device.ts';
import { fetchCudaLibraries, findCudaLibraries, type CudaConsent } from '../device/cuda-libraries.ts';
import type { DeviceProbe } from '../device/device-probe.ts';
import type { WantedDevice } from '../device/devices.ts';
import { bestPrecision } from '../hub/recommend-model.ts';
import type { LanguageModel, ModelDescription, ModelSettings, Precision, TrainableModel } from '../language-model.ts';
import type { LoadPhase } from '../load-model.ts';
import { freeRoom, stillNeeded, weightsNeeds, weightsProblem, type WeightsNeeds } from '../trained-weights.ts';
import { findTrial } from './device-trials.ts';
import { ModelClosedError } from './errors.ts';
import { findModelFolder } from './find-model-folder.ts';
import { measureMemory, type DeviceWishes } from './measure-memory.ts';
import { ModelClient, type ModelStatus } from './model-client.ts';
import { planDevice } from './plan-device.ts';

/** The current settings for models of this machine. */
export interface LocalModelSettings {
  readonly device: WantedDevice;
  /** `auto`: the best that fits in memory. */
  readonly precision: Precision | 'auto';
  /** The package index for missing CUDA libraries. */
  readonly packageIndex?: string | undefined;
  /** Whether requests to this model may name an adapter. */
  readonly adapters: boolean;
}

/** The state of a model on this machine. */
export interface LocalModelState {
  /** The name that the request used. */
  readonly model: string;
  readonly state: 'unloaded' | 'loading' | 'ready';
  readonly phase?: LoadPhase | 'choosing-device' | 'fetching-libraries' | undefined;
  readonly fraction?: number | undefined;
  /** The description of the model as it is or was last loaded. */
  readonly loaded?: ModelDescription | undefined;
  /** Why the last attempt to load it failed. */
  readonly problem?: string | undefined;
}

export interface LocalModelsOptions {
  /** The folder with models, quantised weights and CUDA libraries. */
  readonly storage: string;
  /** backend/model-process.ts or its bundle. */
  readonly script: string;
  readonly probe: DeviceProbe;
  readonly settings: (model: string) => Promise<LocalModelSettings>;
  /** Asks the user whether the CUDA libraries may be fetched; undefined if no user is connected. A no is remembered until the process ends. */
  readonly confirmCuda: (consent: CudaConsent, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly onState: (state: LocalModelState) => void;
  /** How long an unused model stays in memory. */
  readonly idleMs: number;
  readonly threads?: number | undefined;
}

export interface OpenTrainable {
  readonly model: TrainableModel;
  /** The model as it was, where its weights are trained: a second copy, which is loaded when it is asked. */
  readonly before?: LanguageModel | undefined;
  readonly close: () => Promise<void>;
}

/** The longest delay that a timer supports, about 25 days. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** A model in memory or being loaded. */
interface Held {
  readonly model: string;
  readonly key: string;
  readonly client: ModelClient;
  /** The number of current requests. */
  users: number;
  isClosed: boolean;
}

/**
 * The models of this machine by name. Each has its own process, which the Conductor and workers share. Memory is scarce, so idle models are
 * unloaded before another one is loaded.
 */
export class LocalModels {
  readonly #options: LocalModelsOptions;
  readonly #held = new Map<string, Held>();
  /** Processes that are ending and whose memory is not free yet. */
  readonly #ending = new Set<Promise<void>>();
  readonly #bestPrecisions = new Map<string, Promise<Precision>>();
  readonly #states = new Map<string, LocalModelState>();
  /** The package index whose libraries the user declined. */
  #declinedIndex: string | undefined;
  #isClosed = false;

  constructor(options: LocalModelsOptions) {
    this.#options = options;
  }

  /**
   * A model by its name, `owner/name` or the path of a folder. Each request resolves the name. Requests reject with the errors of ModelClient
   * and with ModelMissingError.
   */
  model(name: string): LanguageModel {
    return {
      // A known description is returned without waiting behind other requests.
      describe: () => this.#with(name, undefined, async ({ client }) =>
        (client.status.state === 'ready' ? client.status.description : client.describe())),
      write: (request) => this.#with(name, request.signal, ({ client }) => client.write(request)),
      generate: (request) => this.#with(name, request.signal, ({ client }) => client.generate(request)),
      score: (request) => this.#with(name, request.signal, ({ client }) => client.score(request)),
    };
  }

  /**
   * A model with a trainable adapter, or whose weights are trained on the processor, in its own process, which runs until it is closed. Requests
   * reject with the errors of ModelClient.
   * @throws ModelMissingError
   */
  async openTrainable(name: string, trains: 'adapter' | 'weights' = 'adapter'): Promise<OpenTrainable> {
    const chosen = await this.#settingsOf(name);
    this.#refuseIfClosed();
    this.#closeUnused();
    const { script, threads, idleMs } = this.#options;
    const open = (settings: ModelSettings, unused: number): ModelClient => new ModelClient({
      settings, script, threads,
      idleMs: unused,
      chooseDevice: (wanted, signal) => this.#chooseDevice(name, wanted, signal),
    });
    if (trains === 'adapter') {
      const model = open({ ...chosen, adapters: true, trainable: 'adapter' }, LONGEST_TIMEOUT_MS);
      return { model, close: () => model.close() };
    }
    const whole: ModelSettings = { ...chosen, device: 'cpu', precision: 'full', adapters: false };
    const model = open({ ...whole, trainable: 'weights' }, LONGEST_TIMEOUT_MS);
    const before = open(whole, idleMs);
    return { model, before, close: async () => void (await Promise.all([model.close(), before.close()])) };
  }

  /**
   * Why all weights of a model cannot be trained on this machine, or what that takes. @param heldBytes what a training that goes on has on the disk already
   * @throws ModelMissingError, CheckpointError, UnsupportedModelError
   */
  async weightsTraining(name: string, heldBytes = 0): Promise<{ readonly needs: WeightsNeeds; readonly problem: string | undefined }> {
    const { folder, precision, storage } = await this.#settingsOf(name);
    const needs = stillNeeded(weightsNeeds(await openCheckpoint(folder)), heldBytes);
    return { needs, problem: weightsProblem(needs, await freeRoom(storage), precision) };
  }

  /** Loads a model. An abort unloads it again, unless another request uses it. */
  load(name: string, signal: AbortSignal): Promise<ModelDescription> {
    return this.#with(name, signal, async (held) => {
      const cancel = (): void => { if (held.users === 1) this.#closeSoon(held); };
      signal.addEventListener('abort', cancel, { once: true });
      try {
        signal.throwIfAborted();
        return await held.client.describe();
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    });
  }

  /** The state of every model that was requested. */
  get states(): LocalModelState[] {
    return [...this.#states.values()];
  }

  /** The ids of the models' processes. */
  get processIds(): number[] {
    return [...this.#held.values()].flatMap(({ client }) => client.pid ?? []);
  }

  /** Ends the processes of this model, even while they load or answer. Their requests reject with a ModelClosedError. */
  async unload(name: string): Promise<void> {
    await Promise.all([...this.#held.values()].filter(({ model }) => model === name).map((held) => this.#close(held)));
  }

  /** Ends all processes of `model`, for good. Those of `openTrainable` are closed by their owners. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#held.values()].map((held) => this.#close(held)));
    await Promise.all(this.#ending);
  }

  async #with<T>(name: string, signal: AbortSignal | undefined, work: (held: Held) => Promise<T>): Promise<T> {
    const held = await this.#enter(name);
    try {
      return await work(held);
    } catch (error) {
      if (error instanceof ModelClosedError) throw new ModelClosedError('The model was unloaded while it was needed; ask again to load it.');
      const isGone = held.client.status.state === 'unloaded' && !signal?.aborted;
      if (isGone && error instanceof Error) this.#report(name, { state: 'unloaded', problem: error.message });
      throw error;
    } finally {
      held.users -= 1;
    }
  }

  /** Adds a user to the model, so that it is not unloaded as idle. */
  async #enter(name: string): Promise<Held> {
    const settings = await this.#settingsOf(name);
    // Checked only now: models may have been closed while the settings were read, and a process started after that would not be ended.
    this.#refuseIfClosed();
    const key = JSON.stringify(settings);
    const held = this.#held.get(key) ?? this.#open(name, key, settings);
    held.users += 1;
    return held;
  }

  async #settingsOf(name: string): Promise<ModelSettings> {
    const { settings: settingsOf, storage } = this.#options;
    const { device, packageIndex, adapters, ...wanted } = await settingsOf(name);
    const folder = await findModelFolder(name, { storage });
    const precision = wanted.precision === 'auto' ? await this.#bestPrecision(folder, { device, packageIndex }) : wanted.precision;
    return { folder, device, precision, adapters, storage };
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new ModelClosedError('Conductor is shutting down; ask again after it has started.');
  }

  #open(model: string, key: string, settings: ModelSettings): Held {
    const { script, idleMs, threads } = this.#options;
    this.#closeUnused();
    const client = new ModelClient({
      settings,
      script,
      idleMs,
      threads,
      chooseDevice: (wanted, signal) => this.#chooseDevice(model, wanted, signal),
      onStatus: (status) => { if (!held.isClosed) this.#report(model, stateOf(status)); },
    });
    const held: Held = { model, key, client, users: 0, isClosed: false };
    this.#held.set(key, held);
    return held;
  }

  async #chooseDevice(model: string, wanted: ModelSettings, signal: AbortSignal): Promise<DeviceChoice> {
    await Promise.all(this.#ending);
    const { probe, storage, script, threads } = this.#options;
    return planDevice(wanted, {
      probe,
      cudaLibraries: () => this.#cudaLibraries(model, signal),
      trial: (device, drivers) => findTrial({
        storage, script, threads, device, drivers, signal,
        onProgress: (fraction) => this.#report(model, { state: 'loading', phase: 'trying', fraction }),
      }),
    });
  }

  /** Computed once, because it lists the machine's GPUs and a loaded model keeps its precision. */
  #bestPrecision(folder: string, wishes: DeviceWishes): Promise<Precision> {
    const key = JSON.stringify([folder, wishes]);
    let best = this.#bestPrecisions.get(key);
    if (!best) {
      best = Promise.all([openCheckpoint(folder), measureMemory(this.#options, wishes)]).then(([{ config }, memory]) => {
        const precision = bestPrecision(config, memory);
        return precision === '4-bit' || precision === '8-bit' ? precision : 'full';
      });
      best.catch(() => this.#bestPrecisions.delete(key));
      this.#bestPrecisions.set(key, best);
    }
    return best;
  }

  #closeUnused(): void {
    for (const held of this.#held.values()) if (held.users === 0) this.#closeSoon(held);
  }

  /** Ignores errors: if the process does not end, the next model reports the lack of memory. */
  #closeSoon(held: Held): void {
    this.#close(held).catch(() => undefined);
  }

  #close(held: Held): Promise<void> {
    const { model, key, client } = held;
    if (!held.isClosed) {
      held.isClosed = true;
      this.#held.delete(key);
      this.#report(model, { state: 'unloaded' });
      const ending = client.close().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
      return ending;
    }
    return client.close();
  }

  async #cudaLibraries(model: string, signal: AbortSignal): Promise<string> {
    const { storage, confirmCuda, settings } = this.#options;
    const found = await findCudaLibraries(storage);
    if (found !== undefined) return found;
    const { packageIndex: index } = await settings(model);
    return fetchCudaLibraries({
      storage,
      index,
      signal,
      confirm: async (consent) => {
        if (this.#declinedIndex === index) return false;
        const agreed = await confirmCuda(consent, signal);
        if (agreed === false) this.#declinedIndex = index;
        return agreed === true;
      },
      onProgress: ({ receivedBytes, totalBytes }) =>
        this.#report(model, { state: 'loading', phase: 'fetching-libraries', fraction: receivedBytes / totalBytes }),
    });
  }

  #report(model: string, change: Omit<LocalModelState, 'model'>): void {
    const before = this.#states.get(model);
    if (before && isSmallStep(before, change)) return;
    const { loaded } = before ?? {};
    const state: LocalModelState = { model, ...(loaded && { loaded }), ...change };
    this.#states.set(model, state);
    this.#options.onState(state);
  }
}

/** Whether the change of progress is too small to report. */
function isSmallStep(before: LocalModelState, { state, phase, fraction }: Omit<LocalModelState, 'model'>): boolean {
  if (before.state !== state || before.phase !== phase || before.fraction === undefined || fraction === undefined) return false;
  return fraction > before.fraction && fraction - before.fraction < 0.01;
}

function stateOf(status: ModelStatus): Omit<LocalModelState, 'model'> {
  switch (status.state) {
    case 'unloaded':
      return { state: 'unloaded' };
    case 'loading':
      return { state: 'loading', phase: status.progress?.phase ?? 'choosing-device', fraction: status.progress?.fraction };
    case 'ready':
      return { state: 'ready', loaded: status.description };
  }
}
