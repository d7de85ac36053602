import type { DecoderConfig } from './checkpoint/decoder-config.ts';
import { inspectCheckpoint } from './checkpoint/inspect.ts';
import type { Checkpoint } from './checkpoint/open-checkpoint.ts';
import type { Device } from './device/devices.ts';
import type { ModelSettings } from './language-model.ts';
import { type MemoryPlan, planMemory } from './quantize/memory-plan.ts';

/** The usual load of a model: one text with a long prompt. Larger batches take more memory. */
const PROMPT_TOKENS = 3_072;
const NEW_TOKENS = 1_024;
/** The rank of our own adapters. */
const ADAPTER_RANK = 16;

/** The number of tokens of a prompt and its answer in usual use. */
export const longestText = ({ maximumPositions }: DecoderConfig, contextLength = Number.POSITIVE_INFINITY): number =>
  Math.min(contextLength, maximumPositions, PROMPT_TOKENS + NEW_TOKENS);

/** Estimates the memory of a model on a device in usual use, before it is loaded. */
export function memoryOf(
  checkpoint: Checkpoint, settings: Pick<ModelSettings, 'precision' | 'contextLength' | 'adapters'>, device: Device,
): MemoryPlan {
  const { precision, contextLength, adapters } = settings;
  const [storedType = 'float32'] = inspectCheckpoint(checkpoint).types;
  const tokens = longestText(checkpoint.config, contextLength);
  const newTokens = Math.min(NEW_TOKENS, Math.floor(tokens / 2));
  return planMemory({
    config: checkpoint.config,
    precision: precision === 'full' ? storedType : precision,
    device,
    rows: 1,
    promptTokens: tokens - newTokens,
    newTokens,
    adapterRank: adapters ? ADAPTER_RANK : undefined,
  });
}
