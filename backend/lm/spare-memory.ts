import type { DecoderConfig } from './checkpoint/decoder-config.ts';
import type { StoredType } from './checkpoint/stored-tensor.ts';
import { trainedTokens } from './chunk-tokens.ts';
import { type Device, DEVICES } from './device/devices.ts';
import type { ModelSettings } from './language-model.ts';
import { longestText } from './model-memory.ts';
import { type MemoryPlan, projectedBytes, repackedBytes, trainedBytes } from './quantize/memory-plan.ts';

/*
 * What a model on a CPU does with memory that it could do without: with a second copy of its weights it writes faster, and with what its projections
 * gave it trains faster.
 */

export interface ModelInMemory {
  readonly device: Device;
  readonly config: DecoderConfig;
  readonly storedType: StoredType;
  readonly settings: Pick<ModelSettings, 'precision' | 'contextLength' | 'trainable'>;
  readonly plan: Pick<MemoryPlan, 'totalBytes' | 'weightsBytes'>;
}

export interface MachineMemory {
  /** All that the machine has. */
  readonly bytes: number;
  readonly freeBytes: number;
}

export interface SpareMemory {
  readonly repackWeights: boolean;
  readonly keepProjections: boolean;
  /** Why a model is slower than it could be; one sentence each. */
  readonly reasons: readonly string[];
}

/**
 * The last bits depend on both, and a training that goes on another day should come to the same ones: so for a model that trains they depend on
 * the memory of the machine, and not on what is free of it. Half is left for texts longer than usual, for what attention looks at on the way back, and
 * for others. The copy of the weights comes first: it halves the time of writing, and projections save a tenth of that of learning.
 */
export function spendMemory(model: ModelInMemory, machine: MachineMemory): SpareMemory {
  const { device, config, settings: { contextLength, trainable }, plan: { totalBytes } } = model;
  // A GPU does not repack, its batches are larger, and its free memory is not measured.
  if (DEVICES[device].memory.place === 'device') return { repackWeights: false, keepProjections: false, reasons: [] };
  const needed = totalBytes + (trainable === 'weights' ? trainedBytes(config) : 0);
  const { extraBytes, ...repacking } = repack(model, machine);
  const tokens = Math.max(trainedTokens({ device, config }).most, longestText(config, contextLength));
  const keepProjections = 2 * (needed + extraBytes + projectedBytes(config, tokens)) <= machine.bytes;
  return { ...repacking, keepProjections };
}

/**
 * onnxruntime may copy weights into the layout that its kernels like best. Quantised ones are all but unusable without (docs/decisions/0006); others
 * are up to twice as fast with it.
 */
function repack(
  { storedType, settings: { precision, trainable }, plan: { totalBytes, weightsBytes } }: ModelInMemory, { bytes, freeBytes }: MachineMemory,
): Omit<SpareMemory, 'keepProjections'> & { readonly extraBytes: number } {
  // Those that train are fed to every run.
  if (trainable === 'weights') return { repackWeights: false, extraBytes: 0, reasons: [] };
  // The plan counts them repacked.
  if (precision !== 'full') return { repackWeights: true, extraBytes: 0, reasons: [] };
  const extraBytes = repackedBytes(weightsBytes, storedType);
  const hasRoom = trainable ? 2 * (totalBytes + extraBytes) <= bytes : totalBytes + extraBytes <= freeBytes;
  if (hasRoom) return { repackWeights: true, extraBytes, reasons: [] };
  const reason = trainable
    ? 'The machine has little memory for a model that trains, so its weights were not repacked and it writes at half its speed: ' +
      'choose a smaller model, or 4-bit weights.'
    : 'Little memory is free, so the weights were not repacked and the model writes at half its speed: ' +
      'close programs, or choose 4-bit weights.';
  return { repackWeights: false, extraBytes: 0, reasons: [reason] };
}
