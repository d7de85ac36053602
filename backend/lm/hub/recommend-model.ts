import { MODEL_TABLE, type TableModel } from './model-table.ts';
import { gigabytes } from './size-text.ts';

/** What weights are kept in, best first. */
export type WeightPrecision = 'bf16' | 'int8' | 'int4';

export interface MeasuredMemory {
  /** Of the GPU that the model would run on; absent where there is none that can. */
  readonly gpuMemoryBytes?: number | undefined;
  /** Of the machine, in all. */
  readonly memoryBytes: number;
}

/** Bytes that a model takes while it runs: weights, cache and working memory. */
export type BytesNeeded = (model: TableModel, precision: WeightPrecision, device: 'cuda' | 'cpu') => number;

export interface Recommendation {
  readonly model: TableModel;
  readonly precision: WeightPrecision;
  readonly device: 'cuda' | 'cpu';
  readonly neededBytes: number;
  /** One sentence. */
  readonly reason: string;
}

const PRECISIONS: readonly WeightPrecision[] = ['bf16', 'int8', 'int4'];
const WORDS: Readonly<Record<WeightPrecision, string>> = { bf16: 'bf16', int8: '8-bit', int4: '4-bit' };
/** The screen and other programs have a part of the GPU's memory. */
const GPU_SHARE = 0.9;
/** The editor, the project's tests and everything else live in the machine's memory too. */
const MEMORY_SHARE = 0.5;
/** Each token reads all weights once: beyond this a processor's memory gives few tokens a second. */
const CPU_PARAMETERS = 2e9;

/**
 * The largest model of the table that fits, and the best precision that it fits in: a larger model in fewer bits plans better
 * than a smaller one in more. Without a GPU, or with one too small for any, it is one that a processor can run at reading speed.
 * @returns `undefined` where not even the smallest fits
 */
export function recommendModel({ gpuMemoryBytes, memoryBytes }: MeasuredMemory, bytesNeeded: BytesNeeded): Recommendation | undefined {
  if (gpuMemoryBytes !== undefined) {
    const found = largestThatFits(MODEL_TABLE, gpuMemoryBytes * GPU_SHARE, (model, precision) => bytesNeeded(model, precision, 'cuda'));
    if (found) {
      const reason = `${nameOf(found)} is the largest that fits: it needs ${gigabytes(found.neededBytes)} of the GPU's ${gigabytes(gpuMemoryBytes)}.`;
      return { ...found, device: 'cuda', reason };
    }
  }
  const small = MODEL_TABLE.filter(({ parameters }) => parameters <= CPU_PARAMETERS);
  const found = largestThatFits(small, memoryBytes * MEMORY_SHARE, (model, precision) => bytesNeeded(model, precision, 'cpu'));
  if (!found) return undefined;
  const why = gpuMemoryBytes === undefined ? 'There is no GPU for it' : `The GPU's ${gigabytes(gpuMemoryBytes)} are too little`;
  const reason = `${why}, so ${nameOf(found)} runs on the CPU: it needs ${gigabytes(found.neededBytes)} of ${gigabytes(memoryBytes)}; larger models are slow there.`;
  return { ...found, device: 'cpu', reason };
}

type Fit = Pick<Recommendation, 'model' | 'precision' | 'neededBytes'>;

function largestThatFits(
  models: readonly TableModel[], limitBytes: number, needed: (model: TableModel, precision: WeightPrecision) => number,
): Fit | undefined {
  for (const model of models.toSorted((a, b) => b.parameters - a.parameters)) {
    for (const precision of PRECISIONS) {
      const neededBytes = needed(model, precision);
      if (neededBytes <= limitBytes) return { model, precision, neededBytes };
    }
  }
  return undefined;
}

function nameOf({ model, precision }: Fit): string {
  return `${model.repo} in ${WORDS[precision]}`;
}
