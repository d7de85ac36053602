import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import type { Estimate } from '../../protocol/training.ts';

/** 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** 0 where the weights have no sum. */
export function weightedMean<T>(list: readonly T[], valueOf: (one: T) => number, weightOf: (one: T) => number): number {
  const weights = list.reduce((sum, one) => sum + weightOf(one), 0);
  return weights === 0 ? 0 : list.reduce((sum, one) => sum + weightOf(one) * valueOf(one), 0) / weights;
}

/**
 * Mean of a table (one row per seed, one column per task) with its 95 % confidence interval. The interval is a percentile bootstrap that
 * draws seeds and tasks with replacement (A. B. Owen, "The pigeonhole bootstrap", 2007). Equal tables give equal intervals.
 */
export function estimate(
  rows: readonly (readonly number[])[], { seed = 1, resamples = 1_000 }: { readonly seed?: number; readonly resamples?: number } = {},
): Estimate {
  const columns = rows[0]?.length ?? 0;
  // There are millions of draws: a digest for each is too slow.
  const uniform = seededUniforms(seed);
  const below = (limit: number): number => Math.floor(uniform() * limit);
  const means = Array.from({ length: resamples }, () => {
    const tasks = Array.from({ length: columns }, () => below(columns));
    const seeds = Array.from({ length: rows.length }, () => below(rows.length));
    return mean(seeds.map((row) => mean(tasks.map((task) => rows[row]?.[task] ?? 0))));
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? 0;
  return { mean: mean(rows.flat()), low: at(0.025), high: at(0.975) };
}
