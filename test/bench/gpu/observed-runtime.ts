import type { InferenceSession, Tensor } from 'onnxruntime-node';

/*
 * Stands between our runtime and onnxruntime: counts what goes in and out of each run, and adds options to sessions that ask for a profile.
 * The runtime itself has no such seams, since the product needs none.
 */

export interface Traffic {
  readonly runs: number;
  readonly fedBytes: number;
  readonly fetchedBytes: number;
}

type Options = Readonly<Record<string, unknown>>;
type Create = (model: Uint8Array, options: Options) => Promise<InferenceSession>;
type Run = (feeds: Readonly<Record<string, Tensor>>, fetches: readonly string[]) => Promise<Readonly<Record<string, Tensor>>>;

export class ObservedRuntime {
  /** For sessions that are opened from now on. */
  extraOptions: Options = {};
  #traffic: Traffic = { runs: 0, fedBytes: 0, fetchedBytes: 0 };

  /** To be called before the first session is opened, and once. */
  static async install(): Promise<ObservedRuntime> {
    process.env['ORT_DISABLE_TELEMETRY'] = '1';
    const { InferenceSession: Onnx } = (await import('onnxruntime-node')).default;
    const observed = new ObservedRuntime();
    const factory = Onnx as unknown as { create: Create };
    const create = factory.create.bind(Onnx);
    factory.create = async (model, options) => observed.#watch(await create(model, { ...options, ...observed.extraOptions }));
    return observed;
  }

  /** Since this was asked last. */
  takeTraffic(): Traffic {
    const taken = this.#traffic;
    this.#traffic = { runs: 0, fedBytes: 0, fetchedBytes: 0 };
    return taken;
  }

  #watch(session: InferenceSession): InferenceSession {
    const watched = session as unknown as { run: Run };
    const run = watched.run.bind(session);
    watched.run = async (feeds, fetches) => {
      const results = await run(feeds, fetches);
      const { runs, fedBytes, fetchedBytes } = this.#traffic;
      this.#traffic = { runs: runs + 1, fedBytes: fedBytes + bytesOf(feeds), fetchedBytes: fetchedBytes + bytesOf(results) };
      return results;
    };
    return session;
  }
}

const bytesOf = (tensors: Readonly<Record<string, Tensor>>): number =>
  Object.values(tensors).reduce((sum, { data }) => sum + (data as unknown as ArrayBufferView).byteLength, 0);
