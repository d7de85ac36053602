import { memoryGigabytes } from '../download/size-text.ts';
import type { Precision } from '../quantize/memory-plan.ts';
import { DeviceError, NO_DRIVER, NO_GPU } from './device-error.ts';
import type { Gpu } from './nvidia.ts';

/*
 * The checks of docs/gpu.md, cheapest first. The first that fails ends the walk for CUDA with its sentence, and the CPU is
 * used: a device is never passed over in silence. A machine that has none is not one to explain, unless CUDA was asked for by name.
 */

export type WantedDevice = 'auto' | 'cuda' | 'cpu' | 'webgpu';

/** How the machine is looked at; tests put their own in. */
export interface DeviceProbe {
  /** As `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
  readonly findDriver: () => Promise<boolean>;
  /** Whether the machine has an NVIDIA card, whatever its driver. */
  readonly hasCard: () => Promise<boolean>;
  /** @throws DeviceError */
  readonly listGpus: () => Promise<readonly Gpu[]>;
}

export interface DeviceRequest {
  readonly wanted: WantedDevice;
  readonly probe: DeviceProbe;
  /** What the model takes on the GPU, worked out before loading (`quantize/memory-plan.ts`). */
  readonly neededBytes: number;
  /** Of the weights; only bf16 ones need arithmetic that older GPUs lack. */
  readonly precision: Precision;
  /**
   * The folder with the CUDA libraries, fetched if need be; called only once everything else speaks for CUDA.
   * @throws DeviceError why there is none
   */
  readonly cudaLibraries: () => Promise<string>;
}

export type DeviceChoice =
  /** `reasons` holds why a device that was wanted, or would have been better, is not used; empty where none was passed over. */
  | { readonly device: 'cuda'; readonly gpu: Gpu; readonly libraries: string; readonly reasons: readonly string[] }
  | { readonly device: 'cpu'; readonly reasons: readonly string[] };

/** CUDA 13.0 needs it (docs/gpu.md, "What it needs"). */
const OLDEST_DRIVER = 580;
/** As the provider was compiled (docs/gpu.md, "Which GPUs"): 9.0 and 12.0 are meant exactly, 8 with every minor version. */
const hasCode = ({ major, minor }: Gpu['capability']): boolean =>
  (major === 7 && minor === 5) || major === 8 || ((major === 9 || major === 12) && minor === 0);

/** Chooses and says why. Throws only what `cudaLibraries` throws and is no DeviceError, such as an abort. */
export async function chooseDevice(request: DeviceRequest): Promise<DeviceChoice> {
  const { wanted } = request;
  if (wanted === 'cpu') return { device: 'cpu', reasons: [] };
  if (wanted === 'webgpu') return { device: 'cpu', reasons: ['WebGPU is not offered yet; the model runs on the CPU.'] };
  try {
    const gpu = await usableGpu(request);
    return { device: 'cuda', gpu, libraries: await request.cudaLibraries(), reasons: [] };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    const isNews = wanted === 'cuda' || error.kind !== 'no-driver' || (await request.probe.hasCard());
    return { device: 'cpu', reasons: isNews ? [error.message] : [] };
  }
}

/**
 * The GPU that CUDA would run on: of those that pass the checks the one with the most free memory. Where none does, what is
 * said is about the one with the most free memory.
 * @throws DeviceError
 */
async function usableGpu({ probe, neededBytes, precision }: DeviceRequest): Promise<Gpu> {
  if (probe.platform !== 'linux' || probe.arch !== 'x64') {
    throw new DeviceError('platform', 'CUDA works on Linux x64 only; the model runs on the CPU.');
  }
  if (!(await probe.findDriver())) throw new DeviceError('no-driver', NO_DRIVER);
  const gpus = (await probe.listGpus()).toSorted((a, b) => b.freeBytes - a.freeBytes);
  const objections = gpus.map((gpu) => objectionTo(gpu, neededBytes, precision));
  const found = gpus.find((_, index) => objections[index] === undefined);
  if (found) return found;
  throw objections[0] ?? new DeviceError('no-device', NO_GPU);
}

function objectionTo(gpu: Gpu, neededBytes: number, precision: Precision): DeviceError | undefined {
  const { name, driver, capability, freeBytes } = gpu;
  if (Number.parseInt(driver, 10) < OLDEST_DRIVER) {
    const needed = `CUDA 13 needs ${OLDEST_DRIVER} or newer`;
    return new DeviceError('driver-too-old', `The NVIDIA driver is ${driver}; ${needed}. Update the driver, or stay on the CPU.`);
  }
  if (!hasCode(capability)) {
    const which = `${name} (compute capability ${capability.major}.${capability.minor})`;
    return new DeviceError('no-code', `onnxruntime has no code for ${which}; the model runs on the CPU.`);
  }
  if (precision === 'bfloat16' && capability.major < 8) {
    return new DeviceError('no-bf16', `${name} cannot compute in bf16; choose fp16 or 4-bit weights, or stay on the CPU.`);
  }
  if (freeBytes < neededBytes) {
    const sizes = `The model needs ${memoryGigabytes(neededBytes)} and ${name} has ${memoryGigabytes(freeBytes)} free`;
    return new DeviceError('out-of-memory', `${sizes}; choose a smaller model or 4-bit weights, or stay on the CPU.`);
  }
  return undefined;
}
