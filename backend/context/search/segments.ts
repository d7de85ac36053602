import type { Definition } from '../symbols/definition.ts';
import type { LineRange } from '../line-range.ts';

/** A part of a file that is shown or not: a definition, a part of a long one, or what stands between definitions. */
export interface Segment extends LineRange {
  /** The definitions around it, the outermost first, and those that lie in it. */
  readonly owners: readonly Definition[];
  readonly inside: readonly Definition[];
}

/** Shorter neighbours become one segment. */
const LEAST_LINES = 8;
/** Longer ones are cut where a line is blank. */
const MOST_LINES = 48;

/** Cuts a file into segments that cover it, in the order of the lines. @param definitions those of the file, by line */
export function segmentsOf(lines: readonly string[], definitions: readonly Definition[]): Segment[] {
  const owners = ownersByLine(definitions, lines.length);
  const cuts: LineRange[] = [];
  let start = 1;
  for (let line = 2; line <= lines.length + 1; line += 1) {
    if (line <= lines.length && owners[line] === owners[line - 1]) continue;
    cuts.push(...parts(lines, { start, end: line - 1 }));
    start = line;
  }
  const segments: Segment[] = [];
  for (const cut of joined(cuts, lines)) {
    segments.push({
      ...cut,
      owners: definitions.filter(({ startLine, endLine }) => startLine <= cut.start && endLine >= cut.end),
      inside: definitions.filter(({ startLine, line, endLine }) => line >= cut.start && line <= cut.end && !(startLine < cut.start && endLine > cut.end)),
    });
  }
  return segments;
}

/** The innermost definition of at least three lines around each line, by line number from 1. */
function ownersByLine(definitions: readonly Definition[], lineCount: number): (Definition | undefined)[] {
  const owners = new Array<Definition | undefined>(lineCount + 2).fill(undefined);
  // Outer definitions come before inner ones.
  for (const definition of definitions) {
    if (definition.endLine - definition.startLine < 2) continue;
    owners.fill(definition, definition.startLine, definition.endLine + 1);
  }
  return owners;
}

function parts(lines: readonly string[], range: LineRange): LineRange[] {
  if (range.end - range.start + 1 <= MOST_LINES) return [range];
  const found: LineRange[] = [];
  let start = range.start;
  while (range.end - start + 1 > MOST_LINES) {
    let cut = start + MOST_LINES - 1;
    for (let line = cut; line > start + MOST_LINES / 2; line -= 1) {
      if ((lines[line - 1] ?? '').trim() === '') {
        cut = line;
        break;
      }
    }
    found.push({ start, end: cut });
    start = cut + 1;
  }
  return [...found, { start, end: range.end }];
}

/** Joins what is short with what follows it, unless that makes it long. */
function joined(cuts: readonly LineRange[], lines: readonly string[]): LineRange[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of cuts) {
    const last = result.at(-1);
    const isBlank = lines.slice(start - 1, end).every((line) => line.trim() === '');
    const isShort = last !== undefined && (last.end - last.start + 1 < LEAST_LINES || end - start + 1 < LEAST_LINES / 2);
    if (last && (isBlank || (isShort && end - last.start + 1 <= MOST_LINES / 2))) last.end = end;
    else result.push({ start, end });
  }
  return result;
}
