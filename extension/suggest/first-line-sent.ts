import { MAX_TOLD_BEFORE } from '../../backend/protocol/suggestion-limits.ts';

/** Documents are told from the beginning of one of their blocks of so many lines. */
const BLOCK = 100;
/** Far more lines than are ever sent. */
const MOST_LINES = 800;

/**
 * The line, from 0, that a long document is told from. It stays the same while somebody types, so that what was told before is the
 * beginning of what is told now.
 * @param charactersFrom how much text there is from a line up to the cursor
 */
export function firstLineTold(cursorLine: number, charactersFrom: (line: number) => number): number {
  let first = Math.max(0, Math.floor((cursorLine - MOST_LINES) / BLOCK) * BLOCK);
  while (first + BLOCK <= cursorLine && charactersFrom(first) > MAX_TOLD_BEFORE) first += BLOCK;
  return first;
}
