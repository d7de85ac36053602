import { replacement, type Edit } from '../syntax/edits.ts';
import type { Node } from '../syntax/parse.ts';
import { pick, type Dice } from './dice.ts';
import { otherText } from './likely-values.ts';

/** How the expected value is compared. */
export interface Comparison {
  /** Absolute; undefined if values must be equal. */
  readonly tolerance?: number;
  /** The value is looked for in another one, so all of a text is changed. */
  readonly isContained?: boolean;
  /** Each item of the list is looked for in another one. */
  readonly areItemsContained?: boolean;
}

/** A text with fewer letters and digits may occur anywhere. */
const TELLING = 5;

/** Alters one of these parts. Which one is left to chance: a patch may be honest in all but one. Each is altered once, since parts may be nested deep. */
export function alteredPart(parts: readonly Node[], dice: Dice, alter: (part: Node) => readonly Edit[] | undefined): readonly Edit[] | undefined {
  return pick(parts.map(alter).filter((edits) => edits !== undefined), dice);
}

/** The longest of the parts of a text that are written out; undefined if all of it is computed or it is empty. */
export const longestPart = (parts: readonly Node[]): Node | undefined => parts.toSorted((a, b) => b.text.length - a.text.length)[0];

/** Replaces a part of a text by another one of the same length. Undefined if the text is looked for in another one and may occur there anyway. */
export function alteredTextPart(part: Node, dice: Dice, { isContained = false }: Comparison): readonly Edit[] | undefined {
  const isTelling = (part.text.match(/[a-z\d]/gi) ?? []).length >= TELLING;
  return isContained && !isTelling ? undefined : [replacement(part, otherText(part.text, dice, { every: isContained }))];
}
