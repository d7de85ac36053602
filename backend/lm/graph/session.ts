import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { type Device, DEVICES } from '../device/devices.ts';
import { encodeModel } from './encode-model.ts';
import type { Graph, Tensor } from './graph.ts';
import { type ElementType, GraphError } from './tensor-type.ts';

/** Numbers that go into or come out of a run, row-major. */
export interface Values {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly data: TypedArray;
}

export type TypedArray = Float32Array | Float64Array | Uint16Array | Int32Array | BigInt64Array | Uint8Array;

export type Feeds = Readonly<Record<string, Values>>;

export interface SessionOptions {
  readonly device: Device;
  /** Threads of one operation; the default is onnxruntime's choice. */
  readonly threads?: number | undefined;
  /** On a CPU: copies weights into the layout that the kernels like best. Faster with few rows, and memory for the copy. */
  readonly repackWeights?: boolean | undefined;
}

/**
 * A graph loaded into onnxruntime. `run` is native code that blocks its thread: it belongs into the model's process.
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
    const bytes = encodeModel(graph, outputs);
    // Turns off telemetry; it must be set before onnxruntime is loaded (docs/gpu.md).
    process.env['ORT_DISABLE_TELEMETRY'] = '1';
    const { InferenceSession: Onnx, Tensor: OnnxTensor } = (await import('onnxruntime-node')).default;
    const session = await Onnx.create(bytes, {
      executionProviders: [DEVICES[device].provider],
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      // A pattern holds, for each new combination of shapes, one block as large as the whole run needs, beside the arena that served the first
      // such run: half a gigabyte more for a training pass of a 0.5B, and on a CPU, where alone it was measured, no run is faster for it.
      enableMemPattern: false,
      ...(threads !== undefined && { intraOpNumThreads: threads }),
      extra: {
        session: {
          disable_prepacking: repackWeights ? '0' : '1',
          // Weights are named by absolute paths; see encode-model.ts.
          model_external_initializers_file_folder_path: '/',
          // Outside the arena, which only grows. On a CPU weights are mapped from their files and need no allocator.
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
  // Zeros are there already: of some inputs, one number a token of the vocabulary, that is nearly all.
  for (let index = 0; index < data.length; index += 1) if (data[index] !== 0) integers[index] = BigInt(data[index] as number);
  return { element: 'int64', shape, data: integers };
}
export const bools = (shape: readonly number[], data: ArrayLike<number>): Values => ({ element: 'bool', shape, data: Uint8Array.from(data) });
