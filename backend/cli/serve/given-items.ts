/** The most characters of all items together. */
const MAX_CHARACTERS = 16 * 2 ** 20;

interface Item {
  readonly id: string;
}

/** The items of one account. */
export interface OwnItems {
  keep(item: Item): void;
  /** As it was given; undefined for one that is not known, or no more. */
  find(id: string): unknown;
}

/**
 * What clients of Responses were given and may name by its id instead of sending it again, as Vercel's AI SDK does with messages unless it is told
 * to store nothing. The newest are kept, in memory alone.
 */
export class GivenItems {
  readonly #maxCharacters: number;
  /** As JSON, the oldest first. */
  readonly #texts = new Map<string, string>();
  #characters = 0;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  of(account: string): OwnItems {
    const keyOf = (id: string): string => `${account} ${id}`;
    return {
      keep: (item) => this.#keep(keyOf(item.id), JSON.stringify(item)),
      find: (id) => {
        const text = this.#texts.get(keyOf(id));
        return text === undefined ? undefined : JSON.parse(text) as unknown;
      },
    };
  }

  #keep(key: string, text: string): void {
    this.#forget(key);
    this.#texts.set(key, text);
    this.#characters += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= this.#maxCharacters) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#characters -= this.#texts.get(key)?.length ?? 0;
    this.#texts.delete(key);
  }
}
