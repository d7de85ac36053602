import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { type Device, DEVICES } from '../device/devices.ts';
import { encodeModel } from './encode-model.ts';
import type { Graph, Tensor } from './graph.ts';
import { type ElementType, GraphError } from './tensor-type.ts';

/** An input or output of a run, row-major. */
export interface Values {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly data: TypedArray;
}

export type TypedArray = Float32Array | Float64Array | Uint16Array | Int32Array | BigInt64Array | Uint8Array;

export type Feeds = Readonly<Record<string, Values>>;

export interface SessionOptions {
  readonly device: Device;
  /** The number of threads for one operation; onnxruntime chooses by default. */
  readonly threads?: number | undefined;
  /** On a CPU: copies weights into the layout of the kernels, which is faster for few rows and takes more memory. */
  readonly repackWeights?: boolean | undefined;
}

/**
 * A graph loaded into onnxruntime. `run` is native code that blocks its thread, so it is used only in the model's process.
 */
export class Session {
  readonly device: Device;
  readonly #session: InferenceSession;
  readonly #tensor: typeof OrtTensor;

  private constructor(device: Device, session: InferenceSession, tensor: typeof OrtTensor) {
    this.device = device;
    this.#session = session;
    this.#tensor = tensor;
  }

  static async open(graph: Graph, outputs: Readonly<Record<string, Tensor>>, { device, threads, repackWeights }: SessionOptions): Promise<Session> {
    const onHost: string[] = [];
    const bytes = encodeModel(graph, outputs, (node) => onHost.push(node));
    const { provider, usesHost } = DEVICES[device];
    // Turns off telemetry; it must be set before onnxruntime is loaded (docs/gpu.md).
    process.env['ORT_DISABLE_TELEMETRY'] = '1';
    const { InferenceSession: Onnx, Tensor: OnnxTensor } = (await import('onnxruntime-node')).default;
    const session = await Onnx.create(bytes, {
      executionProviders: [usesHost ? ({ name: provider, forceCpuNodeNames: onHost } as InferenceSession.ExecutionProviderConfig) : provider],
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      // Memory patterns allocate, for each new combination of shapes, a block for a whole run in addition to the arena that served the first
      // such run. That is half a gigabyte more for a training pass of a 0.5B model, and runs are not faster (measured on a CPU only).
      enableMemPattern: false,
      ...(threads !== undefined && { intraOpNumThreads: threads }),
      extra: {
        session: {
          disable_prepacking: repackWeights ? '0' : '1',
          // Paths of weights are absolute; see encode-model.ts.
          model_external_initializers_file_folder_path: '/',
          // Keeps weights out of the arena, which never shrinks. On a CPU weights are memory-mapped and need no allocator.
          ...(DEVICES[device].memory.place === 'device' && { use_device_allocator_for_initializers: '1' }),
        },
      },
    });
    return new Session(device, session, OnnxTensor);
  }

  /** Runs the graph and returns the named outputs; others are not copied from the device. */
  async run<Name extends string>(feeds: Feeds, outputs: readonly Name[]): Promise<Readonly<Record<Name, Values>>> {
    const inputs = Object.fromEntries(Object.entries(feeds).map(([name, values]) => [name, this.#feed(name, values)]));
    const results = await this.#session.run(inputs, outputs as readonly string[]);
    return Object.fromEntries(outputs.map((name) => [name, toValues(results[name] as OrtTensor)])) as Record<Name, Values>;
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  #feed(name: string, { element, shape, data }: Values): OrtTensor {
    const count = shape.reduce((a, b) => a * b, 1);
    if (count !== data.length) throw new GraphError(`The input '${name}' has ${data.length} values and the shape [${shape.join(', ')}].`);
    return new this.#tensor(element as OrtTensor.Type, data as OrtTensor.DataType, shape);
  }
}

function toValues(tensor: OrtTensor): Values {
  return { element: tensor.type as ElementType, shape: tensor.dims, data: tensor.data as TypedArray };
}

export const float32s = (shape: readonly number[], data: ArrayLike<number>): Values => ({ element: 'float32', shape, data: data instanceof Float32Array ? data : Float32Array.from(data) });
export function int64s(shape: readonly number[], data: ArrayLike<number>): Values {
  const integers = new BigInt64Array(data.length);
  // Skips zeros, which are nearly all values of inputs with a number for each token of the vocabulary.
  for (let index = 0; index < data.length; index += 1) if (data[index] !== 0) integers[index] = BigInt(data[index] as number);
  return { element: 'int64', shape, data: integers };
}
export const int32s = (shape: readonly number[], data: ArrayLike<number>): Values => ({ element: 'int32', shape, data: Int32Array.from(data) });
export const bools = (shape: readonly number[], data: ArrayLike<number>): Values => ({ element: 'bool', shape, data: Uint8Array.from(data) });
