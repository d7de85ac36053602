import { inspectCheckpoint } from './checkpoint/inspect.ts';
import type { Checkpoint } from './checkpoint/open-checkpoint.ts';
import type { ModelSettings } from './language-model.ts';
import { type MemoryPlan, planMemory } from './quantize/memory-plan.ts';

/** One text at a time, with a long prompt: what the product needs of a model; larger batches take more. */
const PROMPT_TOKENS = 3_072;
const NEW_TOKENS = 1_024;
/** The rank that our own adapters have. */
const ADAPTER_RANK = 16;

/** What a model takes on a device in ordinary use, worked out before anything is loaded. */
export function memoryOf(
  checkpoint: Checkpoint, settings: Pick<ModelSettings, 'precision' | 'contextLength' | 'adapters'>, device: 'cpu' | 'cuda',
): MemoryPlan {
  const { precision, contextLength = Number.POSITIVE_INFINITY, adapters } = settings;
  const [storedType = 'float32'] = inspectCheckpoint(checkpoint).types;
  const places = Math.min(contextLength, checkpoint.config.maximumPositions, PROMPT_TOKENS + NEW_TOKENS);
  const newTokens = Math.min(NEW_TOKENS, Math.floor(places / 2));
  return planMemory({
    config: checkpoint.config,
    precision: precision === 'full' ? storedType : precision,
    device,
    rows: 1,
    promptTokens: places - newTokens,
    newTokens,
    adapterRank: adapters ? ADAPTER_RANK : undefined,
  });
}
