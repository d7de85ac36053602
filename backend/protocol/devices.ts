/** What a model of this machine can run on. `lm/device/devices.ts` has a row for each; `wiring/models.ts` does not compile if the two differ. */
export const DEVICES = ['cuda', 'webgpu', 'cpu'] as const;
export type Device = (typeof DEVICES)[number];

/** A device in texts for people. */
export const deviceName = (device: Device): 'CPU' | 'GPU' => (device === 'cpu' ? 'CPU' : 'GPU');
