import type { LineRange } from './line-range.ts';
import type { TextFile } from './workspace.ts';

/** A part of a file that may be sent, and how much it should be. */
export interface Candidate {
  readonly file: TextFile;
  /** What must be seen for the piece to be of use. */
  readonly focus: LineRange;
  /** What is shown where the budget allows; holds `focus`. */
  readonly wish: LineRange;
  /** What somebody asked for: when not all of it is shown, that is said. */
  readonly asked?: LineRange;
  /** The line that stays when even `focus` is too long. */
  readonly anchor: number;
  readonly score: number;
  /** In a few words each, for people and for the models; the best first. */
  readonly reasons: readonly string[];
}

/**
 * Sources in their order. Whatever a person pointed at, by hand or by a test's output, comes before whatever the search found:
 * its scores stay below `SCORES.found`.
 */
export const SCORES = {
  selection: 1_000,
  named: 900,
  mentioned: 880,
  inProse: 800,
  error: 700,
  warning: 650,
  testOutput: 600,
  openFile: 550,
  insideNamed: 520,
  found: 500,
} as const;
export type Source = keyof typeof SCORES;

/** Files of at most so many lines are shown whole where the budget allows: parts would cost as much in headers and lost sense. */
export const SMALL_FILE_LINES = 150;

export function wholeFile(file: TextFile): LineRange {
  return { start: 1, end: file.lines.length };
}

export function wishFor(file: TextFile, focus: LineRange): LineRange {
  return file.lines.length <= SMALL_FILE_LINES ? wholeFile(file) : focus;
}
