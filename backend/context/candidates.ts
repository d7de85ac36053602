import type { LineRange } from './line-range.ts';
import type { TextFile } from './workspace.ts';

/** A part of a file that may be sent, and how much of it is wanted. */
export interface Candidate {
  readonly file: TextFile;
  /** The lines without which the piece is of no use. */
  readonly focus: LineRange;
  /** The lines to show if the budget allows; contains `focus`. */
  readonly wish: LineRange;
  /** The lines that the request asked for. If some of them are not shown, this is reported. */
  readonly asked?: LineRange;
  /** The line to keep if even `focus` is too long. */
  readonly anchor: number;
  readonly score: number;
  /** A few words each, for users and models; the best first. */
  readonly reasons: readonly string[];
}

/**
 * Sources by priority. Places that the request points at come before search results, whose scores stay below `SCORES.found`.
 */
export const SCORES = {
  selection: 1_000,
  named: 900,
  mentioned: 880,
  learned: 860,
  inProse: 800,
  error: 700,
  warning: 650,
  testOutput: 600,
  openFile: 550,
  insideNamed: 520,
  found: 500,
} as const;
export type Source = keyof typeof SCORES;

/** Files of at most this many lines are shown whole if the budget allows: headers of parts would cost about as much. */
export const SMALL_FILE_LINES = 150;

export function wholeFile(file: TextFile): LineRange {
  return { start: 1, end: file.lines.length };
}

export function wishFor(file: TextFile, focus: LineRange): LineRange {
  return file.lines.length <= SMALL_FILE_LINES ? wholeFile(file) : focus;
}
