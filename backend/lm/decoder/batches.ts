/** Parts of a list, one after another: each of at most `most` by `sizeOf`, or a single item. */
export function batches<T>(items: readonly T[], sizeOf: (batch: readonly T[]) => number, most: number): T[][] {
  const parts: T[][] = [];
  for (const item of items) {
    const last = parts.at(-1);
    if (last && sizeOf([...last, item]) <= most) last.push(item);
    else parts.push([item]);
  }
  return parts;
}
