import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type AdapterSummary, inspectAdapter, inspectAdapters } from '../lm/adapter/inspect-adapters.ts';
import type { DecoderConfig } from '../lm/checkpoint/decoder-config.ts';
import { inspectCheckpoint, type ModelSummary } from '../lm/checkpoint/inspect.ts';
import { type Checkpoint, openCheckpoint } from '../lm/checkpoint/open-checkpoint.ts';
import { type Device, DEVICE_NAMES } from '../lm/device/devices.ts';
import { gigabytes } from '../lm/download/size-text.ts';
import { memoryOf } from '../lm/model-memory.ts';
import { findModelFolder } from '../lm/process/find-model-folder.ts';
import { memorySize } from '../lm/quantize/memory-plan.ts';
import { TokenizerError } from '../lm/tokenizer/errors.ts';
import { readTokenizerFiles } from '../lm/tokenizer/tokenizer-files.ts';
import { counted } from '../common/counted.ts';
import { EXIT } from './exit-codes.ts';
import type { ModelAction } from './model-action.ts';
import { PRECISIONS } from './model-options.ts';
import { storageFolder } from './storage.ts';
import { allPrintable, jsonText } from './terminal.ts';
import { UsageError } from './usage-error.ts';

interface TokenizerSummary {
  /** True if the model accepts prompts as text. */
  readonly usable: boolean;
  /** Why it does not. */
  readonly problem: string | null;
}

interface MemorySummary {
  readonly precision: (typeof PRECISIONS)[number];
  readonly device: Device;
  readonly weightsBytes: number;
  readonly cacheBytes: number;
  readonly workspaceBytes: number;
  readonly adapterBytes: number;
  readonly totalBytes: number;
}

interface Inspection extends ModelSummary {
  readonly tokenizer: TokenizerSummary;
  /** For one sequence of 4,096 tokens, or of the context length if that is shorter. */
  readonly memory: readonly MemorySummary[];
  readonly adapters: readonly AdapterSummary[];
}

/** `conductor model inspect DIR`: the properties and memory needs of a model. Reads only the headers of its files. */
export const inspectModel: ModelAction = {
  options: ['json', 'storage', 'adapter'],
  run: async (name, { json, storage, adapter = [] }, context) => {
    const { terminal, currentFolder } = context;
    if (!name) throw new UsageError('Name one model: conductor model inspect DIR');
    const folder = await findModelFolder(name, { currentFolder, storage: storageFolder(storage, context) });
    const checkpoint = await openCheckpoint(folder);
    const folders = adapter.map((place) => path.resolve(currentFolder, place));
    const adapters = await Promise.all(folders.map((place) => summariesOf(place, checkpoint.config)));
    const inspection: Inspection = {
      ...inspectCheckpoint(checkpoint),
      tokenizer: await tokenizerOf(folder),
      memory: memoryTable(checkpoint, adapter.length > 0),
      adapters: adapters.flat(),
    };
    if (json) terminal.result(jsonText(inspection, 2));
    else for (const line of allPrintable(linesOf(inspection))) terminal.result(line);
    return EXIT.ok;
  },
};

/** The adapter in the folder, or all adapters in its subfolders. */
async function summariesOf(folder: string, config: DecoderConfig): Promise<AdapterSummary[]> {
  const isAdapter = await stat(path.join(folder, 'adapter_config.json')).then(() => true, () => false);
  return isAdapter ? [await inspectAdapter(folder, config)] : inspectAdapters(folder, config);
}

async function tokenizerOf(folder: string): Promise<TokenizerSummary> {
  try {
    const { chatTemplate } = await readTokenizerFiles(folder);
    const problem = chatTemplate === undefined ? 'There is no chat template, so the model cannot answer prompts.' : null;
    return { usable: problem === null, problem };
  } catch (error) {
    if (error instanceof TokenizerError) return { usable: false, problem: error.message };
    throw error;
  }
}

function memoryTable(checkpoint: Checkpoint, adapters: boolean): MemorySummary[] {
  return PRECISIONS.flatMap((precision) => DEVICE_NAMES.map((device) => {
    const { lines: _lines, ...plan } = memoryOf(checkpoint, { precision, adapters }, device);
    return { precision, device, ...plan };
  }));
}

function linesOf({ tokenizer, memory, adapters, ...model }: Inspection): string[] {
  const stored = `${model.types.join(' and ')}, ${gigabytes(model.weightBytes)} in ${counted(model.shards, 'file')}`;
  const heads = `${model.attentionHeads} query and ${model.keyValueHeads} key-value heads of ${model.headSize}`;
  return [
    model.folder,
    `Model:     ${model.architecture}, ${model.parameters.toLocaleString('en')} parameters`,
    `Weights:   ${stored}, embeddings ${model.tiedEmbeddings ? 'tied' : 'not tied'}`,
    `Geometry:  ${counted(model.layers, 'layer')} of ${model.hiddenSize}, ${heads}, ${model.vocabularySize.toLocaleString('en')} token ids`,
    `Context:   ${model.contextLength.toLocaleString('en')} tokens; ends at ${model.stopTokenIds.join(' or ') || 'no token'}`,
    `Tokenizer: ${tokenizer.usable ? 'with a chat template' : tokenizer.problem}`,
    `Memory:    precision${DEVICE_NAMES.map((device) => device.padStart(12)).join('')}`,
    ...PRECISIONS.map((precision) => {
      const sizes = memory.filter((row) => row.precision === precision).map(({ totalBytes }) => memorySize(totalBytes).padStart(12));
      return `           ${precision.padEnd(9)}${sizes.join('')}`;
    }),
    ...adapters.map((adapter) => `Adapter:   ${adapter.name}: ${adapterText(adapter)}`),
  ];
}

function adapterText(adapter: AdapterSummary): string {
  if (!adapter.compatible) return adapter.problem;
  const { rank, scaling, targets, parameters } = adapter;
  return `fits; rank ${rank}, scaling ${Number(scaling.toFixed(3))}, ${targets.join(' ')}, ${parameters.toLocaleString('en')} parameters`;
}
