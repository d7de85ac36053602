import type { DeviceTraits } from './device-trial.ts';

/** The types in which a decoder can compute. */
export type ComputeType = 'float32' | 'float16' | 'bfloat16';

/** How weights are held in memory: in a type of their own, or quantized to 8 or 4 bits. */
export type WeightType = ComputeType | '8-bit' | '4-bit';

export interface DeviceFacts {
  /** The display name. */
  readonly name: 'CPU' | 'GPU';
  /** onnxruntime's name for the execution provider. */
  readonly provider: string;
  /** Whether operations that belong on the host (`Graph.onHost`) run there, because the device has no kernel for some of them and waits for each copy. */
  readonly usesHost: boolean;
  /** The compute type for weights of a type. */
  readonly compute: (weights: WeightType, traits?: DeviceTraits) => ComputeType;
  /** Whether onnxruntime's fused attention has a kernel for a type. */
  readonly hasFusedAttention: (compute: ComputeType) => boolean;
  /** Whether that kernel was seen to be right where tokens see a window. */
  readonly fusesWindows: boolean;
  /** onnxruntime copies weights into the layout of its kernels. Those kernels round a single row differently from rows of a batch. */
  readonly repacksWeights: boolean;
  /** Quantized weights are widened to 16 bits before they are multiplied, one at a time. */
  readonly widensQuantized: boolean;
  readonly memory: MemoryRule;
  readonly runs: RunSizes;
}

export interface MemoryRule {
  /** Whether the device shares the machine's memory or has its own. */
  readonly place: 'machine' | 'device';
  /** The part of all memory that a recommended model may take; other programs need the rest. */
  readonly share: number;
  /** The most weights of a recommended model: each token reads all of them. */
  readonly mostWeightBytes: number;
  /** The memory of the provider before a model is loaded. */
  readonly contextBytes: number;
}

/** The number of tokens in a run of onnxruntime. */
export interface RunSizes {
  /** The fixed cost of a run, in tokens: reading all weights and starting all operations. */
  readonly overheadTokens: number;
  /** Prompts are read in groups of about this many tokens, padding included. A pass needs memory in proportion. */
  readonly promptTokens: number;
  /** Fixed numbers of tokens. By default, as many as a slow machine computes in the time that a cancel may take. */
  readonly fixed?: { readonly scoredTokens: number; readonly trainedTokens: number } | undefined;
}

const ROWS = {
  cpu: {
    name: 'CPU',
    provider: 'cpu',
    usesHost: false,
    compute: () => 'float32',
    hasFusedAttention: () => true,
    fusesWindows: true,
    repacksWeights: true,
    widensQuantized: false,
    memory: {
      place: 'machine',
      // The editor, tests and other programs need memory too.
      share: 0.5,
      // At the 40 GB/s of a desktop's memory this is 16 tokens a second, as fast as people read.
      mostWeightBytes: 2.5e9,
      contextBytes: 0,
    },
    runs: { overheadTokens: 128, promptTokens: 4_096 },
  },
  cuda: {
    name: 'GPU',
    provider: 'cuda',
    usesHost: false,
    compute: (weights) => (weights === '8-bit' || weights === '4-bit' ? 'float16' : weights),
    hasFusedAttention: (compute) => compute !== 'float32',
    fusesWindows: false,
    repacksWeights: false,
    widensQuantized: true,
    memory: {
      place: 'device',
      // The display uses a part of the GPU's memory.
      share: 0.9,
      mostWeightBytes: Infinity,
      // CUDA's context, cuBLAS and the kernels' code. An estimate.
      contextBytes: 512 * 2 ** 20,
    },
    runs: { overheadTokens: 1_024, promptTokens: 32_768, fixed: { scoredTokens: 8_192, trainedTokens: 4_096 } },
  },
  webgpu: {
    name: 'GPU',
    provider: 'webgpu',
    usesHost: true,
    // It has no bfloat16. Weights in it are widened, because float16 does not reach as far.
    compute: (weights, { hasFloat16 = false }: DeviceTraits = {}) =>
      (hasFloat16 && weights !== 'float32' && weights !== 'bfloat16' ? 'float16' : 'float32'),
    hasFusedAttention: () => true,
    fusesWindows: false,
    repacksWeights: false,
    widensQuantized: false,
    memory: {
      place: 'device',
      // Most GPUs that are used this way have no memory of their own, and the size of that of the others is not known.
      share: 0.5,
      mostWeightBytes: Infinity,
      // The buffers of the provider's pools. An estimate.
      contextBytes: 256 * 2 ** 20,
    },
    runs: { overheadTokens: 512, promptTokens: 4_096 },
  },
} as const satisfies Readonly<Record<string, DeviceFacts>>;

export type Device = keyof typeof ROWS;
/** A device that must be found and prepared before use; see `accelerators.ts`. */
export type AcceleratorName = Exclude<Device, 'cpu'>;
export type WantedDevice = 'auto' | Device;

/** The differences between devices. To add a device, add a row here and an accelerator in `accelerators.ts`. */
export const DEVICES: Readonly<Record<Device, DeviceFacts>> = ROWS;
export const DEVICE_NAMES = Object.keys(ROWS) as readonly Device[];
