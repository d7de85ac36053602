import { beyond, type Gap } from './gap.ts';

const CAPACITY = 200;
/** So much of the text before the cursor tells one place from another. */
const KEY_CHARACTERS = 1_000;
/** So far a person may have typed along with a suggestion and still be shown the rest of it. */
const MAX_TYPED = 200;

/**
 * What was suggested, by the place it was suggested at: the same place again, after going back or undoing, costs nothing, and who
 * types what was suggested is shown the rest. The least recently used is forgotten first.
 */
export class SuggestionCache {
  /** A map keeps the order in which keys were added. */
  readonly #texts = new Map<string, string>();

  put(gap: Gap, text: string): void {
    const key = keyOf(gap, gap.before);
    this.#texts.delete(key);
    this.#texts.set(key, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > CAPACITY && oldest !== undefined) this.#texts.delete(oldest);
  }

  /** What belongs at the gap: empty where nothing does, undefined where that is not known. */
  get(gap: Gap): string | undefined {
    // Several lines begin with the one that is wanted.
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
      // Somebody who has typed a suggestion to its end wants the next one.
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
