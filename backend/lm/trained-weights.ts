import { freeBytes } from './download/free-space.ts';
import { inspectCheckpoint } from './checkpoint/inspect.ts';
import type { Checkpoint } from './checkpoint/open-checkpoint.ts';
import { machineBytes } from './machine-memory.ts';
import { memoryOf } from './model-memory.ts';
import { memorySize, trainedBytes } from './quantize/memory-plan.ts';
import type { Precision } from './language-model.ts';

/* What it takes to train all weights of a model on the processor, told from its files before anything is loaded. */

export interface WeightsNeeds {
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

export interface FreeRoom {
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

/** Weights, gradients, their sum, and both moments are in float32. */
const WEIGHT_BYTES = 4;
/** A checkpoint has the weights and both moments. One is kept, while the next is written beside it. */
const CHECKPOINTS = 2 * 3;
/** The trained model, once in the training's folder and once where it is adopted. */
const MODELS = 2;

/** Beside the model in training, the model as it was is in memory while the two are compared. */
export function weightsNeeds(checkpoint: Checkpoint): WeightsNeeds {
  const full = { precision: 'full', adapters: false } as const;
  const { totalBytes } = memoryOf(checkpoint, full, 'cpu');
  const { parameters } = inspectCheckpoint(checkpoint);
  return {
    memoryBytes: 2 * totalBytes + trainedBytes(checkpoint.config),
    diskBytes: (CHECKPOINTS + MODELS) * WEIGHT_BYTES * parameters,
  };
}

/** What this machine has free now. @param folder (absolute) that exists, on the disk where the training will be */
export async function freeRoom(folder: string): Promise<FreeRoom> {
  return { memoryBytes: Math.min(machineBytes(), process.availableMemory()), diskBytes: await freeBytes(folder) };
}

export function needsText({ memoryBytes, diskBytes }: WeightsNeeds): string {
  return `about ${memorySize(memoryBytes)} of memory (weights, gradients and Adam's two moments in float32, and the model as it was beside it) and up to ${memorySize(diskBytes)} of disk`;
}

/** What is still needed where so many bytes are on the disk already, of a training that goes on. */
export const stillNeeded = ({ memoryBytes, diskBytes }: WeightsNeeds, heldBytes: number): WeightsNeeds => ({ memoryBytes, diskBytes: Math.max(0, diskBytes - heldBytes) });

/** Why all weights of a model cannot be trained here; one sentence, which does not say what else could be done. */
export function weightsProblem(needs: WeightsNeeds, free: FreeRoom, precision: Precision): string | undefined {
  if (precision !== 'full') return `the model runs in ${precision.replace('-', ' ')}s here, and only full weights can be trained`;
  const lacking = free.memoryBytes < needs.memoryBytes ? `${memorySize(free.memoryBytes)} of memory` : free.diskBytes < needs.diskBytes ? `${memorySize(free.diskBytes)} of disk` : undefined;
  return lacking && `that takes ${needsText(needs)}, and ${lacking} are free`;
}
