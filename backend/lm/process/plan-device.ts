import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { inspectCheckpoint } from '../checkpoint/inspect.ts';
import type { AcceleratorRequest } from '../device/accelerator.ts';
import { chooseDevice, type DeviceChoice } from '../device/choose-device.ts';
import type { DeviceProbe } from '../device/device-probe.ts';
import type { ModelSettings } from '../language-model.ts';
import { memoryOf } from '../model-memory.ts';

export interface DevicePlanning extends Pick<AcceleratorRequest, 'trial'> {
  readonly probe: DeviceProbe;
  /** The folder with the CUDA libraries, which are downloaded if necessary. @throws DeviceError */
  readonly cudaLibraries: () => Promise<string>;
}

/**
 * Chooses the device for a model by the memory that it needs, from the headers of its files. The device determines how the
 * process is started, so the backend chooses it.
 * @throws CheckpointError, UnsupportedModelError, and errors of `cudaLibraries` and `trial` other than DeviceError
 */
export async function planDevice(settings: ModelSettings, { probe, cudaLibraries, trial }: DevicePlanning): Promise<DeviceChoice> {
  const checkpoint = await openCheckpoint(settings.folder);
  const [storedType = 'float32'] = inspectCheckpoint(checkpoint).types;
  return chooseDevice({
    wanted: settings.device,
    probe,
    neededBytes: (device) => memoryOf(checkpoint, settings, device).totalBytes,
    precision: settings.precision === 'full' ? storedType : settings.precision,
    trains: settings.trainable !== undefined,
    cudaLibraries,
    trial,
  });
}
