import type { Accelerator } from './accelerator.ts';
import { CUDA } from './cuda.ts';
import { type AcceleratorName, DEVICE_NAMES, type WantedDevice } from './devices.ts';

/** How each device other than the CPU is used. */
export const ACCELERATORS: Readonly<Record<AcceleratorName, Accelerator>> = { cuda: CUDA };

/** Best first. */
export const ACCELERATOR_NAMES = DEVICE_NAMES.filter((device) => device !== 'cpu');

/** Everything that a person can choose. */
export const WANTED_DEVICES: readonly WantedDevice[] = ['auto', ...ACCELERATOR_NAMES, 'cpu'];
