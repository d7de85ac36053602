import { totalmem } from 'node:os';
import { chooseDevice, type DeviceProbe } from '../lm/device/choose-device.ts';
import type { MeasuredMemory } from '../lm/hub/recommend-model.ts';

/** The memory that a model could have: of the GPU that CUDA would run it on, if there is one, and of the machine. */
export async function measuredMemory(probe: DeviceProbe): Promise<MeasuredMemory> {
  // Any model, with libraries that would be fetched: which GPU it is does not depend on them.
  const choice = await chooseDevice({ wanted: 'auto', probe, neededBytes: 0, precision: '4-bit', cudaLibraries: async () => '' });
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return { memoryBytes, ...(choice.device === 'cuda' && { gpuMemoryBytes: choice.gpu.memoryBytes }) };
}
