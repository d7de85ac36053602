import type { Edit } from '../syntax/edits.ts';
import { pick, type Dice } from './dice.ts';
import type { Mentions } from './mentions.ts';

/** A way to make an assertion fail with honest code. */
export interface Alteration {
  readonly edits: readonly Edit[];
  /** Whether another value is expected. Otherwise the opposite is, which also fails for a value that equals everything. */
  readonly isByValue: boolean;
  /** The edits that lie in helpers, by the helper's position; none if a helper stays as it is and only what it is given is altered. */
  readonly inHelpers?: ReadonlyMap<number, readonly Edit[]>;
}

/** How far apart literals of one row are, in signs, and how often one is drawn that has to differ. */
const SAME_ROW = 200;
const MAX_DRAWS = 10;

/**
 * The edits of literals, each drawn once: several tests may share a literal. What stood beside it and was altered for another test is not the same
 * now: code may have to give one for the other.
 */
export class LiteralEdits {
  /** By the literal's position. */
  readonly #made = new Map<number, readonly Edit[] | undefined>();

  of({ startIndex }: { readonly startIndex: number }, make: () => readonly Edit[] | undefined): readonly Edit[] | undefined {
    if (this.#made.has(startIndex)) return this.#made.get(startIndex);
    const beside = new Set<string>();
    for (const [start, edits] of this.#made) if (Math.abs(start - startIndex) <= SAME_ROW) for (const text of textsOf(edits)) beside.add(text);
    let edits = make();
    for (let draws = 1; draws < MAX_DRAWS && textsOf(edits).some((text) => beside.has(text)); draws += 1) edits = make();
    this.#made.set(startIndex, edits);
    return edits;
  }
}

const textsOf = (edits: readonly Edit[] | undefined): readonly string[] => (edits ?? []).map(({ text }) => text);

/** `one other`: each is the opposite of the other. */
export const oppositesOf = (pairs: readonly string[]): ReadonlyMap<string, string> =>
  new Map(pairs.map((pair) => pair.split(' ')).flatMap(([one = '', other = '']): [string, string][] => [[one, other], [other, one]]));

export const byValue = (edits: readonly Edit[] | undefined): Alteration | undefined => edits && { edits, isByValue: true };
export const opposite = (...edits: readonly Edit[]): Alteration => ({ edits, isByValue: false });

/** Alterations of the assertions of a helper, for a test that calls it. */
export function throughHelper({ startIndex, endIndex }: { readonly startIndex: number; readonly endIndex: number }, all: readonly Alteration[]): readonly Alteration[] {
  return all.map((alteration) => {
    const own = alteration.edits.filter(({ start, end }) => start >= startIndex && end <= endIndex);
    return { ...alteration, inHelpers: new Map([...(alteration.inHelpers ?? []), [startIndex, own]]) };
  });
}

/** Draws the alterations of the tests of one file. */
export class Draws {
  readonly #dice: Dice;
  readonly #mentions: Mentions;
  readonly #inHelpers = new Map<number, readonly Edit[]>();

  constructor(dice: Dice, mentions: Mentions) {
    this.#dice = dice;
    this.#mentions = mentions;
  }

  /**
   * The edits of one alteration, left to chance, and of what mentions the value: one by value if there is any. Undefined if there is none.
   * All tests that rely on a helper share its text: if one test turned its condition and another expected another value of it, the other
   * would pass. So what changes a helper in another way than a test before is not drawn.
   */
  of(all: readonly Alteration[]): readonly Edit[] | undefined {
    const possible = all.filter(({ inHelpers = [] }) => [...inHelpers].every(([helper, edits]) => isSame(edits, this.#inHelpers.get(helper) ?? edits)));
    const values = possible.filter(({ isByValue }) => isByValue);
    const drawn = pick(values.length > 0 ? values : possible, this.#dice);
    for (const [helper, edits] of drawn?.inHelpers ?? []) this.#inHelpers.set(helper, edits);
    return drawn && [...drawn.edits, ...this.#mentions.of(drawn.edits)];
  }
}

/**
 * Whether an altered side may hold for the value that another side expected, as in `x == 1 or x == 2` that becomes `x == 2 or x == 3`: the whole
 * would still hold.
 */
export function mayStandIn(sides: readonly Alteration[], text: string): boolean {
  const originals = sides.map(({ edits }) => new Set(edits.map(({ start, end }) => text.slice(start, end))));
  return sides.some(({ edits }, side) => edits.some((edit) => originals.some((others, other) => other !== side && others.has(edit.text))));
}

const isSame = (edits: readonly Edit[], others: readonly Edit[]): boolean =>
  edits.length === others.length && edits.every(({ start, end, text }, index) => {
    const other = others[index];
    return other?.start === start && other.end === end && other.text === text;
  });
