import { chooseDevice } from '../device/choose-device.ts';
import { findCudaLibraries } from '../device/cuda-libraries.ts';
import { DeviceError } from '../device/device-error.ts';
import type { DeviceProbe } from '../device/device-probe.ts';
import type { WantedDevice } from '../device/devices.ts';
import type { MeasuredMemory } from '../hub/recommend-model.ts';
import { machineBytes } from '../machine-memory.ts';

export interface Machine {
  /** Where the CUDA libraries lie, if they are here. */
  readonly storage: string;
  readonly probe: DeviceProbe;
}

export interface DeviceWishes {
  readonly device: WantedDevice;
  /** Where missing CUDA libraries would be fetched from. */
  readonly packageIndex?: string | undefined;
}

/** What models are chosen by: the machine's memory, and the GPU's only where the GPU can be used. Nothing is fetched. */
export async function measureMemory({ storage, probe }: Machine, { device, packageIndex }: DeviceWishes): Promise<MeasuredMemory> {
  const choice = await chooseDevice({
    wanted: device,
    probe,
    // Any model: which one fits is the question.
    neededBytes: () => 0,
    precision: '4-bit',
    cudaLibraries: async () => {
      const found = await findCudaLibraries(storage);
      if (found === undefined && packageIndex === undefined) throw new DeviceError('no-index', 'The CUDA libraries are not here.');
      return found ?? '';
    },
  });
  const { device: chosen } = choice;
  return { memoryBytes: machineBytes(), ...(chosen !== 'cpu' && { accelerator: { device: chosen, memoryBytes: choice.memoryBytes } }) };
}
