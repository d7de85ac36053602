import { findGpuDrivers, type GpuDrivers, hasDisplayController } from './webgpu-drivers.ts';
import { findDriver, type Gpu, hasNvidiaCard, listGpus } from './nvidia.ts';

/** Reads the facts about the machine for the choice of a device; tests replace it. */
export interface DeviceProbe {
  /** `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
  readonly findDriver: () => Promise<boolean>;
  /** Whether the machine has an NVIDIA card, with or without a driver. */
  readonly hasCard: () => Promise<boolean>;
  /** @throws DeviceError */
  readonly listGpus: () => Promise<readonly Gpu[]>;
  /** Whether the machine has a display controller of any make. */
  readonly hasDisplay: () => Promise<boolean>;
  /** The drivers on which WebGPU computes. */
  readonly gpuDrivers: () => Promise<GpuDrivers | undefined>;
}

/** This machine. */
export const machineProbe = (env: NodeJS.ProcessEnv): DeviceProbe => ({
  platform: process.platform,
  arch: process.arch,
  findDriver: () => findDriver({ env }),
  hasCard: () => hasNvidiaCard(),
  listGpus: () => listGpus({ env }),
  hasDisplay: () => hasDisplayController(process.platform),
  gpuDrivers: () => findGpuDrivers(env),
});
