import type { WorkersFile } from '../protocol/worker-config.ts';

/** Whether workers are chosen by what tests said of them before, and the Conductor is told of it. */
export const usesRecords = ({ useRecords = true }: Pick<WorkersFile, 'useRecords'>): boolean => useRecords;
