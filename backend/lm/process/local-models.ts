import os from 'node:os';
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { chooseDevice, type DeviceProbe, type WantedDevice } from '../device/choose-device.ts';
import { fetchCudaLibraries, findCudaLibraries, type CudaConsent } from '../device/cuda-libraries.ts';
import { DeviceError } from '../device/device-error.ts';
import { bestPrecision, type MeasuredMemory } from '../hub/recommend-model.ts';
import type { LanguageModel, ModelDescription, ModelSettings, Precision } from '../language-model.ts';
import type { LoadPhase } from '../load-model.ts';
import { ModelClosedError } from './errors.ts';
import { findModelFolder } from './find-model-folder.ts';
import { ModelClient, type ModelStatus } from './model-client.ts';
import { planDevice } from './plan-device.ts';

/** What the models of this machine are to be run with, as of now. */
export interface LocalModelSettings {
  readonly device: Exclude<WantedDevice, 'webgpu'>;
  /** `auto`: the best that fits. */
  readonly precision: Precision | 'auto';
  /** Where missing CUDA libraries are fetched from. */
  readonly packageIndex?: string | undefined;
  /** Whether requests to this model may name an adapter. */
  readonly adapters: boolean;
}

/** What a model of this machine is doing. */
export interface LocalModelState {
  /** As whoever asked for it named it. */
  readonly model: string;
  readonly state: 'unloaded' | 'loading' | 'ready';
  readonly phase?: LoadPhase | 'choosing-device' | 'fetching-libraries' | undefined;
  readonly fraction?: number | undefined;
  /** How it is in memory, or last was. */
  readonly loaded?: ModelDescription | undefined;
  /** Why it could not be loaded the last time. */
  readonly problem?: string | undefined;
}

export interface LocalModelsOptions {
  /** Models, quantised weights and CUDA libraries lie in folders of it. */
  readonly storage: string;
  /** backend/model-process.ts, or the bundle of it. */
  readonly script: string;
  readonly probe: DeviceProbe;
  readonly settings: (model: string) => Promise<LocalModelSettings>;
  /** Asks whether the CUDA libraries may be fetched; undefined where nobody is there to ask. A no is not asked again in this process. */
  readonly confirmCuda: (consent: CudaConsent) => Promise<boolean | undefined>;
  readonly onState: (state: LocalModelState) => void;
  /** How long a model that nobody asks stays in memory. */
  readonly idleMs: number;
  readonly threads?: number | undefined;
}

/** A model in memory, or on its way there. */
interface Held {
  readonly model: string;
  readonly key: string;
  readonly client: ModelClient;
  /** Ends what the model's own process does not do: fetching libraries. */
  readonly closing: AbortController;
  /** Requests under way. */
  users: number;
}

/**
 * The models of this machine by name, each in a process of its own that whoever plans and whoever works share. Memory is what such a
 * machine lacks: before a model is loaded, others that nobody is asking are unloaded.
 */
export class LocalModels {
  readonly #options: LocalModelsOptions;
  readonly #held = new Map<string, Held>();
  readonly #bestPrecisions = new Map<string, Promise<Precision>>();
  readonly #states = new Map<string, LocalModelState>();
  #declinedIndex: string | undefined;

  constructor(options: LocalModelsOptions) {
    this.#options = options;
  }

  /** A model by its name, `owner/name` or the path of a folder. Nothing is looked at before it is asked. */
  model(name: string): LanguageModel {
    return {
      // What is known already needs no turn behind the requests that wait.
      describe: () => this.#with(name, undefined, async (client) =>
        (client.status.state === 'ready' ? client.status.description : client.describe())),
      write: (request) => this.#with(name, request.signal, (client) => client.write(request)),
      generate: (request) => this.#with(name, request.signal, (client) => client.generate(request)),
      score: (request) => this.#with(name, request.signal, (client) => client.score(request)),
    };
  }

  /** Of every model that was asked for. */
  get states(): LocalModelState[] {
    return [...this.#states.values()];
  }

  /** Of the processes that models are in. */
  get processIds(): number[] {
    return [...this.#held.values()].flatMap(({ client }) => client.pid ?? []);
  }

  /** What models are chosen by: the GPU's memory only where the GPU can be used. */
  async measureMemory({ device, packageIndex }: Pick<LocalModelSettings, 'device' | 'packageIndex'>): Promise<MeasuredMemory> {
    const { storage, probe } = this.#options;
    const choice = await chooseDevice({
      wanted: device,
      probe,
      neededBytes: 0,
      precision: '4-bit',
      cudaLibraries: async () => {
        const found = await findCudaLibraries(storage);
        if (found === undefined && packageIndex === undefined) throw new DeviceError('no-index', 'No CUDA libraries are here.');
        return found ?? '';
      },
    });
    const memoryBytes = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    return { memoryBytes, ...(choice.device === 'cuda' && { gpuMemoryBytes: choice.gpu.memoryBytes }) };
  }

  /** Ends the processes that have this model, also while they load or answer; who waits for them gets a ModelClosedError. */
  async unload(name: string): Promise<void> {
    await Promise.all([...this.#held.values()].filter(({ model }) => model === name).map((held) => this.#close(held)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.values()].map((held) => this.#close(held)));
  }

  async #with<T>(name: string, signal: AbortSignal | undefined, work: (client: ModelClient) => Promise<T>): Promise<T> {
    const held = await this.#hold(name);
    held.users += 1;
    try {
      return await work(held.client);
    } catch (error) {
      if (error instanceof ModelClosedError) throw new ModelClosedError('The model was unloaded while it was needed; ask again to load it.');
      const failed = held.client.status.state === 'unloaded' && !signal?.aborted;
      if (failed && error instanceof Error) this.#report(name, { state: 'unloaded', problem: error.message });
      throw error;
    } finally {
      held.users -= 1;
    }
  }

  async #hold(name: string): Promise<Held> {
    const settings = await this.#options.settings(name);
    const folder = await findModelFolder(name, this.#options.storage);
    const precision = settings.precision === 'auto' ? await this.#bestPrecision(folder, settings) : settings.precision;
    const key = JSON.stringify([folder, settings.device, precision, settings.adapters]);
    let held = this.#held.get(key);
    if (!held) {
      for (const other of this.#held.values()) if (other.users === 0) void this.#close(other);
      held = this.#open(name, key, { folder, precision, device: settings.device, adapters: settings.adapters, storage: this.#options.storage });
      this.#held.set(key, held);
    }
    return held;
  }

  #open(name: string, key: string, settings: ModelSettings): Held {
    const { script, idleMs, threads, probe } = this.#options;
    const closing = new AbortController();
    const client = new ModelClient({
      settings,
      script,
      idleMs,
      threads,
      chooseDevice: (wanted) => planDevice(wanted, { probe, cudaLibraries: () => this.#cudaLibraries(name, closing.signal) }),
      onStatus: (status) => { if (!closing.signal.aborted) this.#report(name, stateOf(status)); },
    });
    return { model: name, key, client, closing, users: 0 };
  }

  /** Worked out once: it asks for the machine's GPUs, and a model in memory keeps the precision that it has. */
  #bestPrecision(folder: string, { device, packageIndex }: LocalModelSettings): Promise<Precision> {
    const key = JSON.stringify([folder, device, packageIndex]);
    let best = this.#bestPrecisions.get(key);
    if (!best) {
      best = Promise.all([openCheckpoint(folder), this.measureMemory({ device, packageIndex })]).then(([{ config }, memory]) => {
        const precision = bestPrecision(config, memory);
        return precision === '4-bit' || precision === '8-bit' ? precision : 'full';
      });
      best.catch(() => this.#bestPrecisions.delete(key));
      this.#bestPrecisions.set(key, best);
    }
    return best;
  }

  async #close({ model, key, client, closing }: Held): Promise<void> {
    closing.abort(new ModelClosedError('The model was unloaded.'));
    this.#held.delete(key);
    this.#report(model, { state: 'unloaded' });
    await client.close();
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
        const agreed = await confirmCuda(consent);
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

/** Progress that nobody would see. */
function isSmallStep(before: LocalModelState, { state, phase, fraction }: Omit<LocalModelState, 'model'>): boolean {
  if (before.state !== state || before.phase !== phase || before.fraction === undefined || fraction === undefined) return false;
  return fraction > before.fraction && fraction - before.fraction < 0.01;
}

function stateOf(status: ModelStatus): Omit<LocalModelState, 'model'> {
  switch (status.state) {
    case 'unloaded':
      return { state: 'unloaded' };
    case 'loading':
      return { state: 'loading', phase: status.progress?.phase ?? 'choosing-device', ...(status.progress && { fraction: status.progress.fraction }) };
    case 'ready':
      return { state: 'ready', loaded: status.description };
  }
}
