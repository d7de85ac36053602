import { totalmem } from 'node:os';
import { chooseDevice } from '../lm/device/choose-device.ts';
import { findCudaLibraries } from '../lm/device/cuda-libraries.ts';
import { DeviceError } from '../lm/device/device-error.ts';
import type { MeasuredMemory } from '../lm/hub/recommend-model.ts';
import type { CommandContext } from './command.ts';

/** The memory that a model could have: of the GPU, if there is one that CUDA can use and its libraries can be had, and of the machine. */
export async function measuredMemory(
  storage: string, { deviceProbe, localSettings }: Pick<CommandContext, 'deviceProbe' | 'localSettings'>,
): Promise<MeasuredMemory> {
  const choice = await chooseDevice({
    wanted: 'auto',
    probe: deviceProbe,
    // Of any model: which GPU it would be does not depend on it.
    neededBytes: 0,
    precision: '4-bit',
    cudaLibraries: async () => {
      const folder = await findCudaLibraries(storage);
      const couldBeFetched = folder !== undefined || (await localSettings()).packageIndex !== undefined;
      if (!couldBeFetched) throw new DeviceError('no-index', 'The CUDA libraries are not here.');
      return folder ?? '';
    },
  });
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return { memoryBytes, ...(choice.device === 'cuda' && { gpuMemoryBytes: choice.gpu.memoryBytes }) };
}
