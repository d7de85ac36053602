import type { WorkerConfig } from '../protocol/worker-config.ts';
import { isFree } from '../workers/limits/is-free.ts';

/** A usual step, for comparing prices. */
const INPUT_TOKENS = 3_000;
const OUTPUT_TOKENS = 1_000;

/** What a usual step of a worker costs; undefined where its price is not known. */
export function usualStepUsd(worker: WorkerConfig): number | undefined {
  const { price } = worker;
  if (isFree(worker)) return 0;
  return price && (INPUT_TOKENS * price.inputPerMillion + OUTPUT_TOKENS * price.outputPerMillion) / 1_000_000;
}
