import type { DeviceError } from './device-error.ts';
import type { Device, WeightType } from './devices.ts';
import type { DeviceProbe } from './device-probe.ts';

/** What is known of a model when its device is chosen. */
export interface AcceleratorRequest {
  readonly probe: DeviceProbe;
  /** The memory that the model takes on a device, computed before loading (`quantize/memory-plan.ts`). */
  readonly neededBytes: (device: Device) => number;
  readonly precision: WeightType;
  /**
   * The folder with the CUDA libraries, which are fetched if necessary. Called only after every other check for CUDA has passed.
   * @throws DeviceError
   */
  readonly cudaLibraries: () => Promise<string>;
}

/** An accelerator that has passed its checks. */
export interface ReadyAccelerator {
  /** All memory of the device that the model will run on. */
  readonly memoryBytes: number;
  /** The environment of the model's process, made from the one that it would have on a CPU. */
  readonly environment: (base: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
}

/** How a device other than the CPU is found and prepared, and what its failures mean. */
export interface Accelerator {
  /** Variables by which the owner of the machine configures the device; the model's process gets them. */
  readonly variables: readonly string[];
  /** @throws DeviceError if the device cannot be used; whatever `cudaLibraries` throws, such as an abort */
  readonly prepare: (request: AcceleratorRequest) => Promise<ReadyAccelerator>;
  /** Whether the machine has such hardware, with or without a driver. */
  readonly isInstalled: (probe: DeviceProbe) => Promise<boolean>;
  /** What onnxruntime's text says about why the device failed. */
  readonly explainFailure: (text: string) => DeviceError;
}
