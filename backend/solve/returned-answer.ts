import type { Patch } from '../verify/patch/patch.ts';

/*
 * An answer that was to change files and could not be read is given back to its worker, once in a round. The worker knows what it meant; we would
 * have to guess.
 */

const MAX_NAMED = 3;

/** What is said to the worker; undefined if all of the answer could be read, or what is left may not be changed at all. */
export function whatToReturn({ refused }: Pick<Patch, 'refused'>): string | undefined {
  const unreadable = refused.filter(({ isForbidden }) => !isForbidden);
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
