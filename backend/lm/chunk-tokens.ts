import type { DecoderConfig } from './checkpoint/decoder-config.ts';
import { linearShapes } from './checkpoint/decoder-weights.ts';
import { type Device, DEVICES } from './device/devices.ts';
import type { MicroBatchSizes } from './trainer/micro-batches.ts';

/*
 * The number of tokens of a chunk. A chunk is one run of onnxruntime, which cannot be interrupted, so its length limits how fast a cancel
 * takes effect and how often text appears. Between two chunks the cache goes through the host, which costs a few per cent of a chunk on a
 * CPU and more on a GPU. The length depends only on the model and the request, not on the speed of earlier chunks: otherwise a seed would
 * not reproduce a text.
 */

export interface ChunkLoad {
  readonly device: Device;
  /** In the device's memory. */
  readonly weightBytes: number;
  readonly config: DecoderConfig;
  readonly rows: number;
  readonly maxTokens: number;
  /** Whether a user reads along, or there is only one text: then each piece of text is waited for. */
  readonly interactive: boolean;
}

/**
 * A slow laptop: what it reads from memory and computes in a second. A step reads all weights once and does two operations a
 * weight and row.
 */
const BYTES_PER_SECOND = 10e9;
const OPERATIONS_PER_SECOND = 50e9;

/** Of a chunk on the slow laptop; on most machines it is a fraction. */
const INTERACTIVE_SECONDS = 1;
const BATCH_SECONDS = 2;

/** A GPU does 16 tokens of a 7B model in half a second, and the cache of one text crosses the bus in some hundredths. */
const INTERACTIVE_TOKENS = 16;

/** Rows that have ended are left out of the next chunk: plans of one question differ by more than this in length. */
const BATCH_TOKENS = 32;

/** The cache of many rows weighs as much as the work of one step: fewer steps than this would mostly carry it to and fro. */
const FEWEST_BATCH_TOKENS = 4;

export function chunkTokens({ device, weightBytes, config, rows, maxTokens, interactive }: ChunkLoad): number {
  // On a GPU many rows have a large cache; carrying it would cost more than cancelling saves, and killing the process remains.
  if (DEVICES[device].runs.fixed) return interactive ? Math.min(INTERACTIVE_TOKENS, maxTokens) : maxTokens;
  const stepSeconds = Math.max(weightBytes / BYTES_PER_SECOND, (2 * multipliedWeights(config) * rows) / OPERATIONS_PER_SECOND);
  const seconds = interactive ? INTERACTIVE_SECONDS : BATCH_SECONDS;
  const fewest = interactive ? 1 : FEWEST_BATCH_TOKENS;
  const most = interactive ? INTERACTIVE_TOKENS : BATCH_TOKENS;
  return Math.min(maxTokens, most, Math.max(fewest, Math.floor(seconds / stepSeconds)));
}

/**
 * How many tokens are scored in one run; a single sequence may have more. The arithmetic units are busy from some tens of
 * tokens on, so that little is lost by stopping for a cancel now and then.
 */
export function scoredTokens({ device, config }: Pick<ChunkLoad, 'device' | 'config'>): MicroBatchSizes {
  const most = Math.max(256, Math.floor((BATCH_SECONDS * OPERATIONS_PER_SECOND) / (2 * multipliedWeights(config))));
  const { fixed, overheadTokens } = DEVICES[device].runs;
  return { most: fixed?.scoredTokens ?? most, perRun: overheadTokens };
}

/**
 * How many tokens go forward and back in one run; a single sequence may have more. That is three or four times the work of scoring them, as
 * memory allows, and the memory of what a layer's attention looks at grows with it.
 */
export function trainedTokens({ device, config }: Pick<ChunkLoad, 'device' | 'config'>): MicroBatchSizes {
  const scored = scoredTokens({ device, config });
  return { ...scored, most: DEVICES[device].runs.fixed?.trainedTokens ?? Math.max(1_024, Math.floor(scored.most / 4)) };
}

/** Weights that a token is multiplied with: the seven projections of each layer, and the output layer. */
function multipliedWeights(config: DecoderConfig): number {
  const layer = Object.values(linearShapes(config)).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
  return config.layers * layer + config.vocabularySize * config.hiddenSize;
}
