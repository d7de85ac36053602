import type { DecoderConfig } from './checkpoint/decoder-config.ts';
import { linearShapes } from './checkpoint/decoder-weights.ts';
import { type Device, DEVICES } from './device/devices.ts';
import type { MicroBatchSizes } from './trainer/micro-batches.ts';

/*
 * The number of tokens of a chunk. A chunk is one run of onnxruntime, which cannot be interrupted, so its length limits how fast a cancel
 * takes effect and how often text appears. Between two chunks the KV cache is copied through the host, which costs a few per cent of a
 * chunk on a CPU and more on a GPU. The length depends only on the model and the request, not on the speed of earlier chunks. Otherwise a
 * seed would not reproduce a text.
 */

export interface ChunkLoad {
  readonly device: Device;
  /** The size of the weights in the device's memory. */
  readonly weightBytes: number;
  readonly config: DecoderConfig;
  readonly rows: number;
  readonly maxTokens: number;
  /** Whether text is streamed to a user, or there is only one text. Chunks are then shorter. */
  readonly interactive: boolean;
}

/**
 * The memory bandwidth and compute of a slow laptop. A step reads all weights once and does two operations for each weight and
 * row.
 */
const BYTES_PER_SECOND = 10e9;
const OPERATIONS_PER_SECOND = 50e9;

/** The duration of a chunk on the slow laptop; most machines take a fraction of it. */
const INTERACTIVE_SECONDS = 1;
const BATCH_SECONDS = 2;

/** A GPU takes half a second for 16 tokens of a 7B model, and some hundredths of a second to copy the cache of one text. */
const INTERACTIVE_TOKENS = 16;

/** The next chunk leaves out finished rows. The lengths of plans for one question differ by more than this. */
const BATCH_TOKENS = 32;

/** Copying the cache of many rows costs as much as one step. With fewer steps than this, copying would dominate. */
const FEWEST_BATCH_TOKENS = 4;

export function chunkTokens({ device, weightBytes, config, rows, maxTokens, interactive }: ChunkLoad): number {
  // On a GPU, copying the large cache of many rows costs more than early cancellation saves. A cancel can still kill the process.
  if (DEVICES[device].runs.fixed) return interactive ? Math.min(INTERACTIVE_TOKENS, maxTokens) : maxTokens;
  const stepSeconds = Math.max(weightBytes / BYTES_PER_SECOND, (2 * multipliedWeights(config) * rows) / OPERATIONS_PER_SECOND);
  const seconds = interactive ? INTERACTIVE_SECONDS : BATCH_SECONDS;
  const fewest = interactive ? 1 : FEWEST_BATCH_TOKENS;
  const most = interactive ? INTERACTIVE_TOKENS : BATCH_TOKENS;
  return Math.min(maxTokens, most, Math.max(fewest, Math.floor(seconds / stepSeconds)));
}

/**
 * The maximum number of tokens scored in one run; a single sequence may exceed it. Some tens of tokens suffice for full speed, so
 * stopping between runs for a possible cancel costs little.
 */
export function scoredTokens({ device, config }: Pick<ChunkLoad, 'device' | 'config'>): MicroBatchSizes {
  const most = Math.max(256, Math.floor((BATCH_SECONDS * OPERATIONS_PER_SECOND) / (2 * multipliedWeights(config))));
  const { fixed, overheadTokens } = DEVICES[device].runs;
  return { most: fixed?.scoredTokens ?? most, perRun: overheadTokens };
}

/**
 * The maximum number of tokens of a forward and backward pass; a single sequence may exceed it. Such a pass takes three or four times the
 * work of scoring, depending on the available memory, and the memory of a layer's attention grows with the number of tokens.
 */
export function trainedTokens({ device, config }: Pick<ChunkLoad, 'device' | 'config'>): MicroBatchSizes {
  const scored = scoredTokens({ device, config });
  return { ...scored, most: DEVICES[device].runs.fixed?.trainedTokens ?? Math.max(1_024, Math.floor(scored.most / 4)) };
}

/** The number of weights that multiply each token: the seven projections of each layer, and the output layer. */
function multipliedWeights(config: DecoderConfig): number {
  const layer = Object.values(linearShapes(config)).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
  return config.layers * layer + config.vocabularySize * config.hiddenSize;
}
