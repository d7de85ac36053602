import { briefReason } from './brief-reason.ts';
import type { Candidate } from './candidates.ts';
import type { ContextPiece } from './context.ts';
import { covers, lineLabel, span, touch, type LineRange } from './line-range.ts';
import { renderFilePiece } from './render-piece.ts';
import { tokensOf, unitsOf } from './tokens.ts';
import type { TextFile } from './workspace.ts';

/** Between two pieces. */
export const SEPARATOR = '\n\n';

interface Part {
  readonly range: LineRange;
  readonly reasons: readonly string[];
}

interface Held extends Part {
  /** What it costs, with the separator. */
  readonly units: number;
}

interface Shown {
  readonly file: TextFile;
  readonly held: readonly Held[];
}

/** The pieces chosen so far, within the budget. Touching pieces of a file are merged. */
export class Shelf {
  readonly #files = new Map<string, Shown>();
  #left: number;

  /** @param units of `tokens.ts` */
  constructor(units: number) {
    this.#left = units;
  }

  get left(): number {
    return this.#left;
  }

  /** Adds the lines if they fit into the remaining budget and `limit`; otherwise changes nothing. */
  add(candidate: Candidate, range: LineRange, limit = this.#left): boolean {
    const { after, cost } = this.#with(candidate, range);
    if (cost > Math.min(this.#left, limit)) return false;
    this.#left -= cost;
    this.#files.set(candidate.file.path, after);
    return true;
  }

  /** Adds as many lines of the candidate's focus as fit, around its anchor; possibly none. */
  addPart(candidate: Candidate, limit: number): void {
    const { focus, anchor } = candidate;
    const part = (length: number): LineRange => {
      const start = Math.max(focus.start, Math.min(anchor - Math.floor(length / 2), focus.end - length + 1));
      return { start, end: Math.min(focus.end, start + length - 1) };
    };
    // A longer part usually costs more, except after some merges. Bisection finds a length that fits, not always the longest.
    let fits = 0;
    let tooLong = focus.end - focus.start + 2;
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      if (this.#with(candidate, part(middle)).cost <= Math.min(this.#left, limit)) fits = middle;
      else tooLong = middle;
    }
    if (fits > 0) this.add(candidate, part(fits), limit);
  }

  /** Whether all these lines of the file are shown. */
  shows(file: TextFile, range: LineRange): boolean {
    return (this.#files.get(file.path)?.held ?? []).some((held) => covers(held.range, range));
  }

  /** The shown ranges of the file, such as `1-60, 200-231`; empty if there are none. */
  labelOf(file: TextFile): string {
    return (this.#files.get(file.path)?.held ?? []).map(({ range }) => lineLabel(range)).join(', ');
  }

  /** All pieces: files in the order in which they were added, pieces of a file by line. */
  pieces(): { piece: ContextPiece; text: string; file: TextFile }[] {
    return [...this.#files.values()].flatMap(({ file, held }) => held.map((one) => {
      const text = render(file, one);
      const { range: { start, end } } = one;
      const piece = { path: file.path, startLine: start, endLine: end, reason: briefReason(one.reasons), tokens: tokensOf(text) };
      return { piece, text, file };
    }));
  }

  /** The candidate's file with the added range, and the additional cost. */
  #with({ file, reasons }: Candidate, range: LineRange): { after: Shown; cost: number } {
    const before = this.#files.get(file.path)?.held ?? [];
    const { merged, apart } = merge(before, { range, reasons });
    const units = unitsOf(render(file, merged) + SEPARATOR);
    const held = [...apart, { ...merged, units }].sort((a, b) => a.range.start - b.range.start);
    return { after: { file, held }, cost: total(held) - total(before) };
  }
}

function total(held: readonly Held[]): number {
  return held.reduce((sum, { units }) => sum + units, 0);
}

function render(file: TextFile, part: Part): string {
  const { start, end } = part.range;
  return renderFilePiece({ path: file.path, lines: file.lines, start, end, reason: briefReason(part.reasons) });
}

/** The part with what it touches, and what it does not touch. */
function merge(held: readonly Held[], added: Part): { merged: Part; apart: Held[] } {
  let merged = added;
  const apart: Held[] = [];
  for (const other of held) {
    if (!touch(other.range, merged.range)) {
      apart.push(other);
      continue;
    }
    merged = {
      range: span(other.range, merged.range),
      reasons: [...new Set([...other.reasons, ...merged.reasons])],
    };
  }
  return { merged, apart };
}
