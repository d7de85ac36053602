import { NAME_PLACE } from './question-names.ts';

/** Words of a phrase, in order; one that ends with * stands for all that begin so. `of` is whose phrase it is. */
export interface Phrase<T> {
  readonly of: T;
  readonly words: readonly string[];
}

/** Finds phrases by their first word, whole or by its beginning. */
export class PhraseIndex<T> {
  readonly #whole = new Map<string, Phrase<T>[]>();
  readonly #stems = new Map<string, Phrase<T>[]>();
  /** The lengths of the stems, by their first two letters; a shorter stem is never found. */
  readonly #stemLengths = new Map<string, number[]>();

  /** @returns the phrase's words as a text has them: "ci/cd" are two */
  add(phrase: string, of: T): readonly string[] {
    const words = phrase.split(/\s+/).flatMap((word) => splitLikeText(word));
    const [first = ''] = words;
    const stem = first.endsWith('*') ? first.slice(0, -1) : undefined;
    append(stem === undefined ? this.#whole : this.#stems, stem ?? first, { of, words });
    if (stem !== undefined && stem.length > 1) {
      const lengths = this.#stemLengths.get(stem.slice(0, 2));
      if (!lengths?.includes(stem.length)) append(this.#stemLengths, stem.slice(0, 2), stem.length).sort((a, b) => a - b);
    }
    return words;
  }

  /** Calls `found` with each phrase that begins at a word, and is longer than what `known` says of whose it is. */
  longer(words: readonly string[], at: number, known: (of: T) => number, found: (phrase: Phrase<T>) => void): void {
    const word = words[at] as string;
    const seek = (phrases: readonly Phrase<T>[] | undefined): void => {
      if (!phrases) return;
      for (const phrase of phrases) if (phrase.words.length > known(phrase.of) && isThere(phrase.words, words, at)) found(phrase);
    };
    seek(this.#whole.get(word));
    for (const length of this.#stemLengths.get(word.slice(0, 2)) ?? NONE) seek(this.#stems.get(word.slice(0, length)));
  }
}

const NONE: readonly number[] = [];

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): V[] {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
  return list;
}

/** The words that a text's words are compared with. § is the place of a name. */
function splitLikeText(word: string): string[] {
  const words = word.replaceAll('§', NAME_PLACE).match(/[\p{L}\p{N}\u0001]+(?:['’+#-][\p{L}\p{N}]+)*\*?/gu);
  return words ?? [];
}

const fits = (word: string | undefined, wanted: string): boolean =>
  word !== undefined && (wanted.endsWith('*') ? word.startsWith(wanted.slice(0, -1)) : word === wanted);

const isThere = (wanted: readonly string[], words: readonly string[], at: number): boolean => wanted.every((one, offset) => fits(words[at + offset], one));
