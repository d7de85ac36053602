import type { Accelerator } from './accelerator.ts';
import { CUDA } from './cuda.ts';
import { WEBGPU } from './webgpu.ts';
import { type AcceleratorName, DEVICE_NAMES, type WantedDevice } from './devices.ts';

/** The accelerators by device. */
export const ACCELERATORS: Readonly<Record<AcceleratorName, Accelerator>> = { cuda: CUDA, webgpu: WEBGPU };

/** Best first. */
export const ACCELERATOR_NAMES = DEVICE_NAMES.filter((device) => device !== 'cpu');

/** The choices of the user. */
export const WANTED_DEVICES: readonly WantedDevice[] = ['auto', ...ACCELERATOR_NAMES, 'cpu'];
