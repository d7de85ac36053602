import type { Edit } from '../syntax/edits.ts';
import type { Node } from '../syntax/parse.ts';

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 10;

/** The altered copies of the helpers in a file. A helper is copied once, however many tests call it. */
export class HelperCopies {
  /** By the helper's position. Undefined if there is no copy, or not yet: a helper may call itself. */
  readonly #copies = new Map<number, readonly Edit[] | undefined>();
  #depth = 0;

  /** The edits that add the altered copy of `helper`, or undefined if it cannot be altered. */
  of(helper: Node, make: (helper: Node) => readonly Edit[] | undefined): readonly Edit[] | undefined {
    const key = helper.startIndex;
    if (this.#copies.has(key)) return this.#copies.get(key);
    if (this.#depth >= MAX_DEPTH) return undefined;
    this.#copies.set(key, undefined);
    this.#depth += 1;
    const copy = make(helper);
    this.#depth -= 1;
    this.#copies.set(key, copy);
    return copy;
  }
}
