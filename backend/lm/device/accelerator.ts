import type { DeviceError } from './device-error.ts';
import type { DeviceTraits, DeviceTrial } from './device-trial.ts';
import type { AcceleratorName, Device, WeightType } from './devices.ts';
import type { DeviceProbe } from './device-probe.ts';
import type { GpuDrivers } from './webgpu-drivers.ts';

/** The facts for the choice of a model's device. */
export interface AcceleratorRequest {
  readonly probe: DeviceProbe;
  /** Whether the user asked for this device, also where it is slower. */
  readonly isNamed: boolean;
  /** Whether the model will be trained. */
  readonly trains: boolean;
  /** The memory that the model takes on a device, computed before loading (`quantize/memory-plan.ts`). */
  readonly neededBytes: (device: Device) => number;
  readonly precision: WeightType;
  /**
   * The folder with the CUDA libraries, which are fetched if necessary. Called only after every other check for CUDA has passed.
   * @throws DeviceError
   */
  readonly cudaLibraries: () => Promise<string>;
  /**
   * What a trial of the device came to, which is made if these drivers were not tried yet. Called only after every cheaper check has passed.
   * @throws DeviceError `untried` if it did not come to an end
   */
  readonly trial: (device: AcceleratorName, drivers: GpuDrivers) => Promise<DeviceTrial>;
}

/** An accelerator that has passed its checks. */
export interface ReadyAccelerator {
  /** The total memory of the device. */
  readonly memoryBytes: number;
  /** Returns the environment of the model's process, from the one for a CPU. */
  readonly environment: (base: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  /** Absent for a device that is the same on every machine. */
  readonly traits?: DeviceTraits | undefined;
}

/** Finds and prepares a device other than the CPU, and explains its failures. */
export interface Accelerator {
  /** Environment variables that configure the device. The model's process gets them. */
  readonly variables: readonly string[];
  /** @throws DeviceError if the device cannot be used; errors of `cudaLibraries` and `trial`, such as an abort */
  readonly prepare: (request: AcceleratorRequest) => Promise<ReadyAccelerator>;
  /** Whether the machine has such hardware, with or without a driver. */
  readonly isInstalled: (probe: DeviceProbe) => Promise<boolean>;
  /** Turns onnxruntime's text about a failure into an error. */
  readonly explainFailure: (text: string) => DeviceError;
}
