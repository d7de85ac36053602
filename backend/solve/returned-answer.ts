import type { RunEventOf } from '../protocol/run-events.ts';
import { splitFences } from '../verify/patch/fences.ts';
import type { Patch } from '../verify/patch/patch.ts';

/*
 * An answer that was to change files and could not be read, or that was cut off, is given back to its worker, once in a round. The worker knows
 * what it meant; we would have to guess.
 */

const MAX_NAMED = 3;

/** The end of an answer's text, and why it ended. */
export interface AnswerEnd {
  readonly text: string;
  readonly finishReason?: RunEventOf<'step.completed'>['finishReason'] | undefined;
}

/** Whether an answer ends before its end: at the limit of its worker's output, or inside a block of code. */
export const isCutOff = ({ text, finishReason = 'stop' }: AnswerEnd): boolean => finishReason === 'length' || splitFences(text).some((part) => part.kind === 'fence' && part.unclosed);

const CUT_OFF =
  'Your answer was cut off before its end, so nothing of it was applied. Write it again, short enough to be whole: no explanation, and of a long file ' +
  'only what changes, as blocks <<<<<<< SEARCH … ======= … >>>>>>> REPLACE after a line with the path.';

/**
 * What is said to the worker; undefined if all of the answer could be read, or what is left may not be changed at all.
 * @param end absent where the answer was to change nothing
 */
export function whatToReturn({ edits, refused }: Patch, end: AnswerEnd | undefined): string | undefined {
  const unreadable = refused.filter(({ isForbidden }) => !isForbidden);
  if (end && edits.length === 0 && unreadable.length === refused.length && isCutOff(end)) return CUT_OFF;
  if (unreadable.length === 0) return undefined;
  const named = unreadable.slice(0, MAX_NAMED).map(({ path, reason }) => `${path}: ${reason}`).join(' ');
  const more = unreadable.length > MAX_NAMED ? ` So it is with ${unreadable.length - MAX_NAMED} more.` : '';
  return (
    `Your answer cannot be applied as it is written. ${named}${more} Write the whole answer again: each file that you change whole, in a fenced block ` +
    'whose opening line names the language and the path.'
  );
}

/** The second reading, which never forgets that a change was meant. */
export function secondReading(first: Patch, second: Patch): Patch {
  return second.edits.length + second.refused.length === 0 ? { edits: [], refused: first.refused } : second;
}
