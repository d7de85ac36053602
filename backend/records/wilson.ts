/** The 97.5th percentile of the normal distribution. */
const Z = 1.959964;

/**
 * The 95 % interval of a share (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927). Unlike the usual one,
 * it holds for few trials and for shares near 0 and 1. Trials may be fractions.
 * @param trials above 0
 */
export function wilson(successes: number, trials: number): { readonly low: number; readonly high: number } {
  const share = successes / trials;
  const spread = Z ** 2 / trials;
  const middle = share + spread / 2;
  const half = Z * Math.sqrt((share * (1 - share)) / trials + spread / (4 * trials));
  return { low: Math.max(0, (middle - half) / (1 + spread)), high: Math.min(1, (middle + half) / (1 + spread)) };
}
