/** Pearson's statistic of counts against expected counts, and how many of the summands are free. */
export function chiSquare(
  counts: readonly number[], expected: readonly number[],
): { readonly statistic: number; readonly freedom: number } {
  // Cells of less than five expected are joined: below, the statistic is not distributed as it should be.
  const cells: { seen: number; expected: number }[] = [];
  let open = { seen: 0, expected: 0 };
  expected.forEach((value, index) => {
    open.seen += counts[index] as number;
    open.expected += value;
    if (open.expected < 5) return;
    cells.push(open);
    open = { seen: 0, expected: 0 };
  });
  const last = cells.at(-1);
  if (last) {
    last.seen += open.seen;
    last.expected += open.expected;
  }
  const statistic = cells.reduce((sum, cell) => sum + (cell.seen - cell.expected) ** 2 / cell.expected, 0);
  return { statistic, freedom: cells.length - 1 };
}

/**
 * What the statistic passes once in a million times if the expectation holds (Wilson and Hilferty 1931). The draws are the same in every
 * run, so a test that passes goes on passing.
 */
export function chiSquareLimit(freedom: number): number {
  const shrink = 2 / (9 * freedom);
  return freedom * (1 - shrink + 4.75 * Math.sqrt(shrink)) ** 3;
}
