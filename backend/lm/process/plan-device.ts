import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { inspectCheckpoint } from '../checkpoint/inspect.ts';
import { chooseDevice, type DeviceChoice } from '../device/choose-device.ts';
import type { DeviceProbe } from '../device/device-probe.ts';
import type { ModelSettings } from '../language-model.ts';
import { memoryOf } from '../model-memory.ts';

export interface DevicePlanning {
  readonly probe: DeviceProbe;
  /** The folder with the CUDA libraries, fetched if need be. @throws DeviceError */
  readonly cudaLibraries: () => Promise<string>;
}

/**
 * Chooses the device for a model by what it takes there, from the headers of its files. The process must be started for its
 * device, so this is the backend's to do.
 * @throws CheckpointError, UnsupportedModelError, and what `cudaLibraries` throws beside DeviceError
 */
export async function planDevice(settings: ModelSettings, { probe, cudaLibraries }: DevicePlanning): Promise<DeviceChoice> {
  const checkpoint = await openCheckpoint(settings.folder);
  const [storedType = 'float32'] = inspectCheckpoint(checkpoint).types;
  return chooseDevice({
    wanted: settings.device,
    probe,
    neededBytes: (device) => memoryOf(checkpoint, settings, device).totalBytes,
    precision: settings.precision === 'full' ? storedType : settings.precision,
    cudaLibraries,
  });
}
