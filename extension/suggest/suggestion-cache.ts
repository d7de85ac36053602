import { beyond, type Gap } from './gap.ts';

const CAPACITY = 200;
/** The number of characters before the cursor that identify a place. */
const KEY_CHARACTERS = 1_000;
/** The most characters of a suggestion that a user may have typed and still see the rest. */
const MAX_TYPED = 200;

/**
 * Caches suggestions by place. Returning to a place, for example after an undo, costs nothing. A user who types a suggestion sees the rest
 * of it. Evicts the least recently used entry.
 */
export class SuggestionCache {
  /** A map iterates in insertion order. */
  readonly #texts = new Map<string, string>();

  put(gap: Gap, text: string): void {
    const key = keyOf(gap, gap.before);
    this.#texts.delete(key);
    this.#texts.set(key, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > CAPACITY && oldest !== undefined) this.#texts.delete(oldest);
  }

  /** The cached suggestion: empty if nothing fits at the gap, undefined if unknown. */
  get(gap: Gap): string | undefined {
    // A suggestion of several lines begins with the wanted line.
    return this.#find(gap) ?? (gap.multiline ? undefined : this.#find({ ...gap, multiline: true }));
  }

  clear(): void {
    this.#texts.clear();
  }

  #find(gap: Gap): string | undefined {
    const { before } = gap;
    for (let typed = 0; typed <= Math.min(MAX_TYPED, before.length); typed += 1) {
      const key = keyOf(gap, before.slice(0, before.length - typed));
      const text = this.#texts.get(key);
      if (text === undefined || !text.startsWith(before.slice(before.length - typed))) continue;
      // After typing a whole suggestion, the user wants a new one.
      if (typed > 0 && text.length === typed) continue;
      this.#texts.delete(key);
      this.#texts.set(key, text);
      return text.slice(typed);
    }
    return undefined;
  }
}

function keyOf(gap: Gap, before: string): string {
  return JSON.stringify([gap.document, gap.multiline, before.slice(-KEY_CHARACTERS), beyond(gap)]);
}
