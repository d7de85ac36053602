import { counted } from '../../common/counted.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { expectedTensors, linearShapes } from '../checkpoint/decoder-weights.ts';
import type { StoredType } from '../checkpoint/stored-tensor.ts';
import { type ComputeType, type Device, DEVICES, type WeightType } from '../device/devices.ts';
import { DEFAULT_BLOCK_SIZE } from './block-quantize.ts';

/*
 * Estimates the memory of a model from its geometry, before it is loaded.
 */

export interface MemoryLoad {
  readonly config: DecoderConfig;
  /** The type of the weights. For quantised weights, a 16-bit checkpoint is assumed. */
  readonly precision: WeightType;
  readonly device: Device;
  /** The number of texts in one batch. */
  readonly rows: number;
  /** The length of the longest prompt. */
  readonly promptTokens: number;
  readonly newTokens: number;
  /** Absent without an adapter. */
  readonly adapterRank?: number | undefined;
}

export interface MemoryPlan {
  readonly weightsBytes: number;
  readonly cacheBytes: number;
  readonly workspaceBytes: number;
  readonly adapterBytes: number;
  readonly totalBytes: number;
  /** The plan as text, one item per line. */
  readonly lines: readonly string[];
}

/**
 * The copies of the cache: the loop's state at the start and the end of a step, its initial value and its output, not all at the
 * same time. Measured: a run over a cache of 69 MB takes 242 MB (onnxruntime 1.30, CPU).
 */
const CACHE_COPIES = 3.5;

/** The copies in sampling: logits, logits divided by the temperature, their exponentials, cumulative sums. */
const LOGIT_COPIES = 4;

/**
 * The output layer is widened in parts of this many rows if it would take more than 256 MiB and has more than twice this many rows
 * (onnxruntime, contrib_ops/cuda/quantization/matmul_nbits.cc).
 */
const WIDENED_HEAD_ROWS = 32768;
const WIDENED_HEAD_BYTES = 256 * 2 ** 20;

export function planMemory(load: MemoryLoad): MemoryPlan {
  const weightsBytes = weightsOf(load);
  const cacheBytes = cacheOf(load);
  const workspaceBytes = workspaceOf(load);
  const adapterBytes = adapterOf(load);
  const totalBytes = weightsBytes + cacheBytes + workspaceBytes + adapterBytes;
  const { config, precision, device, rows, promptTokens, newTokens, adapterRank } = load;
  const cached = `${counted(rows, 'row')} of ${counted(promptTokens + newTokens, 'token')}`;
  const computed = isWidened(load) ? ', computed in float32' : '';
  return {
    weightsBytes,
    cacheBytes,
    workspaceBytes,
    adapterBytes,
    totalBytes,
    lines: [
      `Weights: ${memorySize(weightsBytes)} (${countWeights(config)}, ${precision}${computed})`,
      `Attention cache: ${memorySize(cacheBytes)} (${cached}, ${CACHE_COPIES} copies)`,
      `Working memory: ${memorySize(workspaceBytes)} (a prompt of ${counted(promptTokens, 'token')})`,
      ...(adapterRank ? [`Adapter: ${memorySize(adapterBytes)} (rank ${adapterRank})`] : []),
      `Total: ${memorySize(totalBytes)} on the ${DEVICES[device].name}`,
    ],
  };
}

const isQuantized = ({ precision }: MemoryLoad): boolean => precision === '4-bit' || precision === '8-bit';

const computeType = ({ device, precision }: MemoryLoad): ComputeType => DEVICES[device].compute(precision);

const computeBytes = (load: MemoryLoad): number => (computeType(load) === 'float32' ? 4 : 2);

const isWidened = (load: MemoryLoad): boolean => !isQuantized(load) && computeBytes(load) === 4 && load.precision !== 'float32';

function linearWeights(config: DecoderConfig): number {
  return config.layers * Object.values(linearShapes(config)).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
}

function allWeights(config: DecoderConfig): number {
  return expectedTensors(config).reduce((sum, { shape }) => sum + shape.reduce((product, length) => product * length, 1), 0);
}

/**
 * Float: all weights in the compute type, except an untied embedding table, which stays as stored because only the rows in use are
 * widened.
 * Quantised: linear layers in 4 or 8 bits, the output layer in 8 bits, the embedding table as stored, other weights in the compute
 * type.
 */
function weightsOf(load: MemoryLoad): number {
  const { config, precision } = load;
  const storedBytes = precision === 'float32' ? 4 : 2;
  const table = config.vocabularySize * config.hiddenSize;
  const linear = linearWeights(config);
  const small = allWeights(config) - linear - table * (config.tiedEmbeddings ? 1 : 2);
  if (isQuantized(load)) {
    const linearBytes = quantizedBytes(linear, precision === '4-bit' ? 4 : 8, load);
    return linearBytes + quantizedBytes(table, 8, load) + table * storedBytes + small * computeBytes(load);
  }
  return (linear + table + small) * computeBytes(load) + (config.tiedEmbeddings ? 0 : table * storedBytes);
}

/**
 * Codes, and for each block a scale in the compute type and, with 4 bits, half a byte of zero point. The CPU kernels repack them with a second scale and the sum of the block,
 * in float32 (measured: 0.875 bytes for each 4-bit weight, 1.375 bytes for each 8-bit weight).
 */
function quantizedBytes(weights: number, bits: number, load: MemoryLoad): number {
  const bytesPerBlock = (DEVICES[load.device].repacksWeights ? 12 : computeBytes(load)) + (bits === 4 ? 0.5 : 0);
  return weights * (bits / 8 + bytesPerBlock / DEFAULT_BLOCK_SIZE);
}

/** 2 (keys and values) · layers · key-value heads · head size · bytes, for each token of each row. */
function cacheOf(load: MemoryLoad): number {
  const { layers, keyValueHeads, headSize } = load.config;
  const perToken = 2 * layers * keyValueHeads * headSize * computeBytes(load);
  return CACHE_COPIES * load.rows * (load.promptTokens + load.newTokens) * perToken;
}

function workspaceOf(load: MemoryLoad): number {
  const { config, device, rows, promptTokens } = load;
  const { hiddenSize, intermediateSize, attentionHeads, keyValueHeads, headSize, vocabularySize } = config;
  // The peak of a layer. In the MLP: residual, norm, gate, up and their product. In attention: residual, norm, queries, keys and
  // values, rotated queries and keys, and output.
  const mlp = 2 * hiddenSize + 3 * intermediateSize;
  const attention = 2 * hiddenSize + (3 * attentionHeads + 3 * keyValueHeads) * headSize;
  const activations = rows * promptTokens * Math.max(mlp, attention) * computeBytes(load);
  // Fused attention keeps no scores. Plain attention keeps scores and probabilities of [rows, heads, prompt, prompt] each.
  const isFused = DEVICES[device].hasFusedAttention(computeType(load)) && (!config.sliding || DEVICES[device].fusesWindows);
  const scores = isFused ? 0 : 2 * rows * attentionHeads * promptTokens ** 2 * computeBytes(load);
  const logits = LOGIT_COPIES * rows * vocabularySize * 4;
  return activations + scores + logits + widenedWeights(load) + DEVICES[device].memory.contextBytes;
}

/** With more than one token, quantised weights are widened one at a time before the product, so the largest counts. */
function widenedWeights(load: MemoryLoad): number {
  if (!DEVICES[load.device].widensQuantized || !isQuantized(load)) return 0;
  const { config, rows } = load;
  const largestLinear = Math.max(...Object.values(linearShapes(config)).map(([height, width]) => height * width));
  const head = config.vocabularySize * config.hiddenSize * 2;
  const inParts = head > WIDENED_HEAD_BYTES && config.vocabularySize > 2 * WIDENED_HEAD_ROWS;
  const widenedHead = inParts ? WIDENED_HEAD_ROWS * config.hiddenSize * 2 : head;
  return Math.max(largestLinear * 2, rows > 1 ? widenedHead : 0);
}

/** a[rank, in] and b[out, rank] of all seven projections, fed as float32 and cast to the compute type. */
function adapterOf(load: MemoryLoad): number {
  const { config, adapterRank = 0 } = load;
  const perRank = config.layers * Object.values(linearShapes(config)).reduce((sum, [rows, columns]) => sum + rows + columns, 0);
  return adapterRank * perRank * (computeBytes(load) === 4 ? 4 : 4 + computeBytes(load));
}

/** On a CPU, the results of all layers' projections for this many tokens, except the last projection of each layer. */
export function projectedBytes(config: DecoderConfig, tokens: number): number {
  const rows = Object.entries(linearShapes(config)).map(([name, [rows]]) => (name === 'mlp.down_proj' ? 0 : rows));
  return 4 * tokens * config.layers * rows.reduce((sum, count) => sum + count, 0);
}

/** On a CPU, the additional memory for trained weights: two moments, the gradient and the sum of gradients of each weight. */
export const trainedBytes = (config: DecoderConfig): number => 4 * 4 * allWeights(config);

/**
 * On a CPU, the additional memory for repacked unquantised weights. For 16-bit files, onnxruntime keeps the widened and the repacked weights
 * (measured: 1.8 times the float32 weights of a 0.5B model). For float32 files, only the repacked weights are additional (measured: once).
 */
export const repackedBytes = (weightsBytes: number, storedType: StoredType): number => (storedType === 'float32' ? 1 : 2) * weightsBytes;

/** Uses powers of two, as usual for memory, but the units MB and GB. */
export function memorySize(bytes: number): string {
  return bytes < 2 ** 30 ? `${Math.ceil(bytes / 2 ** 20)} MB` : `${(bytes / 2 ** 30).toFixed(1)} GB`;
}

function countWeights(config: DecoderConfig): string {
  const weights = allWeights(config);
  return weights >= 1e9 ? `${(weights / 1e9).toFixed(1)} billion` : `${(weights / 1e6).toFixed(weights < 1e7 ? 1 : 0)} million`;
}
