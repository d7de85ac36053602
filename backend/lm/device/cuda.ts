import { memoryGigabytes } from '../download/size-text.ts';
import type { Accelerator, AcceleratorRequest } from './accelerator.ts';
import { cudaEnvironment } from './cuda-libraries.ts';
import { DeviceError, NO_DRIVER, NO_GPU } from './device-error.ts';
import { DEVICES, type WeightType } from './devices.ts';
import { explainCudaFailure } from './explain-cuda-failure.ts';
import type { Gpu } from './nvidia.ts';

/** The oldest driver for CUDA 13.0 (docs/gpu.md, "What it needs"). */
const OLDEST_DRIVER = 580;
/** The compiled capabilities of the provider (docs/gpu.md, "Which GPUs"): exactly 9.0 and 12.0, and 8 with every minor version. */
const hasCode = ({ major, minor }: Gpu['capability']): boolean =>
  (major === 7 && minor === 5) || major === 8 || ((major === 9 || major === 12) && minor === 0);

/** The checks are those of docs/gpu.md, cheapest first; the first that fails gives the reason. */
export const CUDA: Accelerator = {
  variables: ['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'NVIDIA_TF32_OVERRIDE'],
  prepare: async (request) => {
    const gpu = await usableGpu(request);
    const libraries = await request.cudaLibraries();
    return { memoryBytes: gpu.memoryBytes, environment: (base) => cudaEnvironment(libraries, gpu, base) };
  },
  isInstalled: (probe) => probe.hasCard(),
  explainFailure: explainCudaFailure,
};

/**
 * The GPU with the most free memory among those that pass the checks. If none passes, the error is about the GPU with the most free memory.
 * @throws DeviceError
 */
async function usableGpu({ probe, neededBytes, precision }: AcceleratorRequest): Promise<Gpu> {
  if (probe.platform !== 'linux' || probe.arch !== 'x64') {
    throw new DeviceError('platform', 'CUDA works on Linux x64 only.');
  }
  if (!(await probe.findDriver())) throw new DeviceError('no-driver', NO_DRIVER);
  const gpus = (await probe.listGpus()).toSorted((a, b) => b.freeBytes - a.freeBytes);
  const objections = gpus.map((gpu) => objectionTo(gpu, neededBytes('cuda'), precision));
  const found = gpus.find((_, index) => objections[index] === undefined);
  if (found) return found;
  throw objections[0] ?? new DeviceError('no-device', NO_GPU);
}

function objectionTo(gpu: Gpu, neededBytes: number, precision: WeightType): DeviceError | undefined {
  const { name, driver, capability, freeBytes } = gpu;
  if (Number.parseInt(driver, 10) < OLDEST_DRIVER) {
    const needed = `CUDA 13 needs ${OLDEST_DRIVER} or newer`;
    return new DeviceError('driver-too-old', `The NVIDIA driver is ${driver}; ${needed}. Update the driver, or stay on the CPU.`);
  }
  if (!hasCode(capability)) {
    const which = `${name} (compute capability ${capability.major}.${capability.minor})`;
    return new DeviceError('no-code', `onnxruntime has no CUDA code for ${which}.`);
  }
  if (DEVICES.cuda.compute(precision) === 'bfloat16' && capability.major < 8) {
    return new DeviceError('no-bf16', `${name} cannot compute in bf16; choose fp16 or 4-bit weights, or stay on the CPU.`);
  }
  if (freeBytes < neededBytes) {
    const sizes = `The model needs ${memoryGigabytes(neededBytes)} and ${name} has ${memoryGigabytes(freeBytes)} free`;
    return new DeviceError('out-of-memory', `${sizes}; choose a smaller model or 4-bit weights, or stay on the CPU.`);
  }
  return undefined;
}
