import os from 'node:os';

/** The total memory of the machine, or of the container. */
export const machineBytes = (): number => Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
