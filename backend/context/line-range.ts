/** Lines of a file, counted from 1, both ends included. An empty file is `{start: 1, end: 0}`. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Restricts the range to a file of `lineCount` lines. A range beyond the end becomes the last line. */
export function clamp({ start, end }: LineRange, lineCount: number): LineRange {
  if (lineCount === 0) return { start: 1, end: 0 };
  const from = Math.min(Math.max(1, start), lineCount);
  return { start: from, end: Math.min(Math.max(from, end), lineCount) };
}

export function around(line: number, margin: number, lineCount: number): LineRange {
  const middle = Math.min(Math.max(1, line), Math.max(1, lineCount));
  return clamp({ start: middle - margin, end: middle + margin }, lineCount);
}

export function covers(outer: LineRange, inner: LineRange): boolean {
  return outer.start <= inner.start && outer.end >= inner.end;
}

export function span(a: LineRange, b: LineRange): LineRange {
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

/** Whether two ranges overlap or are so close that showing the lines between them costs less than a second header. */
export function touch(a: LineRange, b: LineRange, gap = 3): boolean {
  return a.start <= b.end + gap + 1 && b.start <= a.end + gap + 1;
}

/** `12`, or `12-20`. */
export function lineLabel({ start, end }: LineRange): string {
  return start === end ? String(start) : `${start}-${end}`;
}
