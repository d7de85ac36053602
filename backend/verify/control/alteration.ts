import type { Edit } from '../syntax/edits.ts';
import { pick, type Dice } from './dice.ts';
import type { Mentions } from './mentions.ts';

/** A way to make an assertion fail with honest code. */
export interface Alteration {
  readonly edits: readonly Edit[];
  /** Whether another value is expected. Otherwise the opposite is, which also fails for a value that equals everything. */
  readonly isByValue: boolean;
}

export const byValue = (edits: readonly Edit[] | undefined): Alteration | undefined => edits && { edits, isByValue: true };
export const opposite = (...edits: readonly Edit[]): Alteration => ({ edits, isByValue: false });

/** The edits of one alteration, left to chance, and of what mentions the value: one by value if there is any. Undefined if there is none. */
export function drawAlteration(all: readonly Alteration[], dice: Dice, mentions: Mentions): readonly Edit[] | undefined {
  const values = all.filter(({ isByValue }) => isByValue);
  const drawn = pick(values.length > 0 ? values : all, dice);
  return drawn && [...drawn.edits, ...mentions.of(drawn.edits)];
}
