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
 * Mean of a table of values, a row a seed and a column a task, with a 95 % interval by the bootstrap over both: seeds and tasks
 * are drawn with replacement (percentiles; A. B. Owen, "The pigeonhole bootstrap", 2007). Equal tables give equal intervals.
 */
export function estimate(rows: readonly (readonly number[])[]): Estimate {
  const columns = rows[0]?.length ?? 0;
  const below = wholeNumbers();
  const means = Array.from({ length: RESAMPLES }, () => {
    const tasks = Array.from({ length: columns }, () => below(columns));
    const seeds = Array.from({ length: rows.length }, () => below(rows.length));
    return mean(seeds.map((seed) => mean(tasks.map((task) => rows[seed]?.[task] ?? 0))));
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? Number.NaN;
  return { mean: mean(rows.flat()), low: at(0.025), high: at(0.975) };
}

/**
 * Whole numbers below a limit, the same ones each time: millions of them, which a digest for each would make slow (mulberry32).
 */
function wholeNumbers(): (limit: number) => number {
  let state = 1;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
