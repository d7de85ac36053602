import { chooseDevice } from '../device/choose-device.ts';
import { findCudaLibraries } from '../device/cuda-libraries.ts';
import { DeviceError } from '../device/device-error.ts';
import { keptTrial } from './device-trials.ts';
import type { DeviceProbe } from '../device/device-probe.ts';
import type { WantedDevice } from '../device/devices.ts';
import type { MeasuredMemory } from '../hub/recommend-model.ts';
import { machineBytes } from '../machine-memory.ts';

export interface Machine {
  /** The storage folder, which may have the CUDA libraries. */
  readonly storage: string;
  readonly probe: DeviceProbe;
}

export interface DeviceWishes {
  readonly device: WantedDevice;
  /** The package index for missing CUDA libraries. */
  readonly packageIndex?: string | undefined;
}

/** Measures the memory for the choice of a model: that of the machine, and that of the GPU if it can be used. Downloads nothing. */
export async function measureMemory({ storage, probe }: Machine, { device, packageIndex }: DeviceWishes): Promise<MeasuredMemory> {
  const choice = await chooseDevice({
    wanted: device,
    probe,
    // Accepts a GPU of any size, because the model is chosen afterwards.
    neededBytes: () => 0,
    precision: '4-bit',
    trains: false,
    cudaLibraries: async () => {
      const found = await findCudaLibraries(storage);
      if (found === undefined && packageIndex === undefined) throw new DeviceError('no-index', 'The CUDA libraries are not here.');
      return found ?? '';
    },
    trial: async (name, drivers) => {
      const kept = await keptTrial(storage, name, drivers);
      if (!kept || 'problem' in kept) throw new DeviceError('untried', 'WebGPU was not tried here yet.');
      return kept;
    },
  });
  const { device: chosen } = choice;
  return { memoryBytes: machineBytes(), ...(chosen !== 'cpu' && { accelerator: { device: chosen, memoryBytes: choice.memoryBytes } }) };
}
