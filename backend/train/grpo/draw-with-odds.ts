export interface Drawn {
  readonly isDrawn: boolean;
  /** The exact probability that this item is drawn. */
  readonly odds: number;
}

/**
 * Draws so many of the items, or all where there are no more. The odds of an item are proportional to its size, and at most 1. Systematic sampling with
 * unequal probabilities (W. G. Madow, "On the theory of systematic sampling, II", 1949).
 * @param sizes positive; their order is random
 * @param start from 0 to below 1, uniform
 */
export function drawWithOdds(sizes: readonly number[], count: number, start: number): Drawn[] {
  const odds = oddsOf(sizes, count);
  let passed = 0;
  return odds.map((own) => {
    // The marks lie at start, start + 1 and so on: an item is drawn when one lies in its stretch.
    const before = Math.ceil(passed - start);
    passed += own;
    return { odds: own, isDrawn: own >= 1 || Math.ceil(passed - start) > before };
  });
}

function oddsOf(sizes: readonly number[], count: number): number[] {
  const odds = new Array<number>(sizes.length).fill(1);
  let [open, left] = [[...sizes.keys()], count];
  // Items that would have odds above 1 are sure; the others share what is left.
  while (left > 0 && open.length > left) {
    const all = open.reduce((sum, item) => sum + sizes[item]!, 0);
    const sure = open.filter((item) => left * sizes[item]! >= all);
    if (sure.length === 0) {
      for (const item of open) odds[item] = left * sizes[item]! / all;
      return odds;
    }
    open = open.filter((item) => !sure.includes(item));
    left -= sure.length;
  }
  if (left <= 0) for (const item of open) odds[item] = 0;
  return odds;
}
