import type { DecoderConfig } from './checkpoint/decoder-config.ts';
import type { StoredType } from './checkpoint/stored-tensor.ts';
import { trainedTokens } from './chunk-tokens.ts';
import { type Device, DEVICES } from './device/devices.ts';
import type { ModelSettings } from './language-model.ts';
import { longestText } from './model-memory.ts';
import { type MemoryPlan, projectedBytes, repackedBytes, trainedBytes } from './quantize/memory-plan.ts';

/*
 * Optional uses of memory by a model on a CPU. With a second copy of its weights it generates faster, and with kept results of its projections
 * it trains faster.
 */

export interface ModelInMemory {
  readonly device: Device;
  readonly config: DecoderConfig;
  readonly storedType: StoredType;
  readonly settings: Pick<ModelSettings, 'precision' | 'contextLength' | 'trainable'>;
  readonly plan: Pick<MemoryPlan, 'totalBytes' | 'weightsBytes'>;
}

export interface MachineMemory {
  /** The total memory of the machine. */
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
 * Both choices affect the last bits of results, and a resumed training should reproduce them. For a model in training they therefore depend on the
 * total memory of the machine, not on the free memory. Half of it is left for unusually long texts, for attention in the backward pass and for
 * other programs. The copy of the weights has priority: it halves the time of generation, while kept projections save a tenth of training time.
 */
export function spendMemory(model: ModelInMemory, machine: MachineMemory): SpareMemory {
  const { device, config, settings: { contextLength, trainable }, plan: { totalBytes } } = model;
  // On a GPU, weights are not repacked, batches are larger, and the free memory is not measured.
  if (DEVICES[device].memory.place === 'device') return { repackWeights: false, keepProjections: false, reasons: [] };
  const needed = totalBytes + (trainable === 'weights' ? trainedBytes(config) : 0);
  const { extraBytes, ...repacking } = repack(model, machine);
  const tokens = Math.max(trainedTokens({ device, config }).most, longestText(config, contextLength));
  const keepProjections = 2 * (needed + extraBytes + projectedBytes(config, tokens)) <= machine.bytes;
  return { ...repacking, keepProjections };
}

/**
 * onnxruntime can copy weights into the layout of its kernels. Quantised weights are almost unusable without the copy (docs/decisions/0006); others
 * are up to twice as fast with it.
 */
function repack(
  { storedType, settings: { precision, trainable }, plan: { totalBytes, weightsBytes } }: ModelInMemory, { bytes, freeBytes }: MachineMemory,
): Omit<SpareMemory, 'keepProjections'> & { readonly extraBytes: number } {
  // Trained weights are fed to every run and are never repacked.
  if (trainable === 'weights') return { repackWeights: false, extraBytes: 0, reasons: [] };
  // The plan already counts quantised weights as repacked.
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
