import { MAX_TOLD_BEFORE } from '../../backend/protocol/suggestion-limits.ts';

/** Long documents are sent from the beginning of a block of this many lines. */
const BLOCK = 100;
/** Far more lines than are ever sent. */
const MOST_LINES = 800;

/**
 * The first line (from 0) to send of a long document. It stays the same while the user types, so that an earlier text is a prefix of the
 * later one.
 * @param charactersFrom the number of characters from a line up to the cursor
 */
export function firstLineSent(cursorLine: number, charactersFrom: (line: number) => number): number {
  let first = Math.max(0, Math.floor((cursorLine - MOST_LINES) / BLOCK) * BLOCK);
  while (first + BLOCK <= cursorLine && charactersFrom(first) > MAX_TOLD_BEFORE) first += BLOCK;
  return first;
}
