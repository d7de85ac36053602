import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { memoryGigabytes } from '../download/size-text.ts';
import { planMemory, type MemoryLoad, type Precision } from '../quantize/memory-plan.ts';
import { MODEL_TABLE, type TableModel } from './model-table.ts';

export interface MeasuredMemory {
  /** Of the GPU that the model would run on; absent where there is none that can. */
  readonly gpuMemoryBytes?: number | undefined;
  /** Of the machine, in all. */
  readonly memoryBytes: number;
}

export interface Recommendation {
  readonly model: TableModel;
  readonly precision: Precision;
  readonly device: 'cuda' | 'cpu';
  /** While it runs: weights, cache and working memory. */
  readonly neededBytes: number;
  /** One sentence. */
  readonly reason: string;
}

export type UsualLoad = Pick<MemoryLoad, 'rows' | 'promptTokens' | 'newTokens'>;

/** One question with its context, and a plan with its reasoning. */
const PLANNING: UsualLoad = { rows: 1, promptTokens: 4_096, newTokens: 1_024 };
/** Best first. */
const PRECISIONS: readonly Precision[] = ['bfloat16', '8-bit', '4-bit'];
/** The screen and other programs have a part of the GPU's memory. */
const GPU_SHARE = 0.9;
/** The editor, the project's tests and everything else live in the machine's memory too. */
const MEMORY_SHARE = 0.5;
/** Each token reads all weights: at the 40 GB/s of a desktop's memory these are 16 tokens a second, as fast as one reads. */
const CPU_WEIGHTS_BYTES = 2.5e9;

/**
 * The largest model of the table that fits, and the best precision that it fits in: a larger model in fewer bits plans better
 * than a smaller one in more. Without a GPU, or with one too small for any, it is one that a processor can run at reading speed.
 * @returns `undefined` where not even the smallest fits
 */
export function recommendModel(memory: MeasuredMemory, load: UsualLoad = PLANNING): Recommendation | undefined {
  const { gpuMemoryBytes, memoryBytes } = memory;
  const onGpu = gpuMemoryBytes === undefined ? undefined : largestThatFits(limitsOfGpu(gpuMemoryBytes), load);
  if (onGpu && gpuMemoryBytes !== undefined) {
    const sizes = `it needs ${memoryGigabytes(onGpu.neededBytes)} of the GPU's ${memoryGigabytes(gpuMemoryBytes)}`;
    return { ...onGpu, reason: `${nameOf(onGpu)} is the largest that fits: ${sizes}.` };
  }
  const onCpu = largestThatFits(limitsOfCpu(memoryBytes), load);
  if (!onCpu) return undefined;
  const noGpu = gpuMemoryBytes === undefined
    ? 'There is no GPU for it'
    : `The GPU's ${memoryGigabytes(gpuMemoryBytes)} are too little`;
  const choice = `${nameOf(onCpu)} is the largest that fits and is quick enough on the CPU`;
  const sizes = `it needs ${memoryGigabytes(onCpu.neededBytes)} of ${memoryGigabytes(memoryBytes)}`;
  return { ...onCpu, reason: `${noGpu}; ${choice}: ${sizes}.` };
}

/** The best precision in which a model that was chosen already fits, by the same rules; 4 bits where it fits in none. */
export function bestPrecision(config: DecoderConfig, { gpuMemoryBytes, memoryBytes }: MeasuredMemory, load: UsualLoad = PLANNING): Precision {
  const onGpu = gpuMemoryBytes === undefined ? undefined : bestThatFits(config, limitsOfGpu(gpuMemoryBytes), load);
  return (onGpu ?? bestThatFits(config, limitsOfCpu(memoryBytes), load))?.precision ?? '4-bit';
}

type Fit = Omit<Recommendation, 'reason'>;

interface Limits {
  readonly device: 'cuda' | 'cpu';
  readonly totalBytes: number;
  readonly weightsBytes: number;
}

const limitsOfGpu = (bytes: number): Limits => ({ device: 'cuda', totalBytes: bytes * GPU_SHARE, weightsBytes: Infinity });
const limitsOfCpu = (bytes: number): Limits => ({ device: 'cpu', totalBytes: bytes * MEMORY_SHARE, weightsBytes: CPU_WEIGHTS_BYTES });

function largestThatFits(limits: Limits, load: UsualLoad): Fit | undefined {
  for (const model of MODEL_TABLE.toSorted((a, b) => b.parameters - a.parameters)) {
    const fit = bestThatFits(model.config, limits, load);
    if (fit) return { model, device: limits.device, ...fit };
  }
  return undefined;
}

function bestThatFits(
  config: DecoderConfig, { device, totalBytes, weightsBytes }: Limits, load: UsualLoad,
): Pick<Fit, 'precision' | 'neededBytes'> | undefined {
  for (const precision of PRECISIONS) {
    const plan = planMemory({ config, precision, device, ...load });
    if (plan.totalBytes <= totalBytes && plan.weightsBytes <= weightsBytes) return { precision, neededBytes: plan.totalBytes };
  }
  return undefined;
}

function nameOf({ model, precision }: Fit): string {
  return `${model.repo} in ${precision}`;
}
