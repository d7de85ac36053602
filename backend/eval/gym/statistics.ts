import { KeyedRandom } from '../../simulator/random.ts';

export interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % interval. */
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1_000;

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Mean of a table of values, a row a seed and a column a task, with a 95 % interval by the bootstrap over both: seeds and tasks are
 * drawn with replacement (percentiles; A. B. Owen, "The pigeonhole bootstrap", 2007). Equal tables give equal intervals.
 */
export function estimate(rows: readonly (readonly number[])[]): Estimate {
  const random = new KeyedRandom('bootstrap', rows.length, rows[0]?.length ?? 0);
  const drawn = (label: string, count: number): number[] => Array.from({ length: count }, (_, place) => Math.floor(random.unit(`${label}:${place}`) * count));
  const columns = rows[0]?.length ?? 0;
  const means = Array.from({ length: RESAMPLES }, (_, resample) => {
    const tasks = drawn(`${resample}:tasks`, columns);
    const seeds = drawn(`${resample}:seeds`, rows.length);
    return mean(seeds.map((seed) => mean(tasks.map((task) => rows[seed]?.[task] ?? 0))));
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? Number.NaN;
  return { mean: mean(rows.flat()), low: at(0.025), high: at(0.975) };
}
