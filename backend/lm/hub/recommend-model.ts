import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type Device, DEVICES, type WeightType } from '../device/devices.ts';
import { memoryGigabytes } from '../download/size-text.ts';
import { planMemory, type MemoryLoad } from '../quantize/memory-plan.ts';
import { MODEL_TABLE, type TableModel } from './model-table.ts';

export interface MeasuredMemory {
  /** The GPU that the model would run on; absent if none can be used, or if its memory is not known, as with WebGPU. */
  readonly accelerator?: { readonly device: Device; readonly memoryBytes: number } | undefined;
  /** The total memory of the machine. */
  readonly memoryBytes: number;
}

export interface Recommendation {
  readonly model: TableModel;
  readonly precision: WeightType;
  readonly device: Device;
  /** The memory while it runs: weights, cache and working memory. */
  readonly neededBytes: number;
  /** One sentence. */
  readonly reason: string;
}

export type UsualLoad = Pick<MemoryLoad, 'rows' | 'promptTokens' | 'newTokens'>;

/** A question with its context, and a plan with its reasoning. */
const PLANNING: UsualLoad = { rows: 1, promptTokens: 4_096, newTokens: 1_024 };
/** Best first. */
const PRECISIONS: readonly WeightType[] = ['bfloat16', '8-bit', '4-bit'];

/**
 * The largest model of the table that fits, in the best precision in which it fits. A larger model in fewer bits plans better than
 * a smaller one in more bits. If no model fits on a GPU, recommends one that a CPU can run at reading speed.
 * @returns `undefined` if no model fits
 */
export function recommendModel(memory: MeasuredMemory, load: UsualLoad = PLANNING): Recommendation | undefined {
  const { accelerator, memoryBytes } = memory;
  const accelerated = accelerator && largestThatFits(limitsOf(accelerator.device, accelerator.memoryBytes), load);
  if (accelerated) {
    const sizes = `it needs ${memoryGigabytes(accelerated.neededBytes)} of the GPU's ${memoryGigabytes(accelerator.memoryBytes)}`;
    return { ...accelerated, reason: `${nameOf(accelerated)} is the largest that fits: ${sizes}.` };
  }
  const onCpu = largestThatFits(limitsOf('cpu', memoryBytes), load);
  if (!onCpu) return undefined;
  const noGpu = accelerator ? `The GPU's ${memoryGigabytes(accelerator.memoryBytes)} are too little` : 'There is no GPU whose memory is known';
  const choice = `${nameOf(onCpu)} is the largest that fits and is quick enough on the CPU`;
  const sizes = `it needs ${memoryGigabytes(onCpu.neededBytes)} of ${memoryGigabytes(memoryBytes)}`;
  return { ...onCpu, reason: `${noGpu}; ${choice}: ${sizes}.` };
}

/** The best precision in which the given model fits, by the same rules; 4 bits if it does not fit at all. */
export function bestPrecision(config: DecoderConfig, { accelerator, memoryBytes }: MeasuredMemory, load: UsualLoad = PLANNING): WeightType {
  const accelerated = accelerator && bestThatFits(config, limitsOf(accelerator.device, accelerator.memoryBytes), load);
  return (accelerated ?? bestThatFits(config, limitsOf('cpu', memoryBytes), load))?.precision ?? '4-bit';
}

type Fit = Omit<Recommendation, 'reason'>;

interface Limits {
  readonly device: Device;
  readonly totalBytes: number;
  readonly weightsBytes: number;
}

function limitsOf(device: Device, bytes: number): Limits {
  const { share, mostWeightBytes } = DEVICES[device].memory;
  return { device, totalBytes: bytes * share, weightsBytes: mostWeightBytes };
}

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
