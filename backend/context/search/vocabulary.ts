import { detached } from '../symbols/detached.ts';
import { wordsOf } from './words.ts';

/** Text that is made to have more different words than this is searched by the words seen before. */
const MAX_WORDS = 1_000_000;
const MAX_IDENTIFIERS = 1_000_000;
const NONE: readonly number[] = [];

/** Numbers for words, so that files are compared by numbers. */
export class Vocabulary {
  readonly #words = new Map<string, number>();
  readonly #identifiers = new Map<string, readonly number[]>();

  get size(): number {
    return this.#words.size;
  }

  /** The numbers of an identifier's words, see `wordsOf`. */
  numbersOf(identifier: string): readonly number[] {
    const known = this.#identifiers.get(identifier);
    if (known) return known;
    if (this.#identifiers.size >= MAX_IDENTIFIERS) return NONE;
    const numbers: number[] = [];
    for (const word of wordsOf(identifier)) {
      const number = this.#words.get(word) ?? this.#add(word);
      if (number !== undefined) numbers.push(number);
    }
    this.#identifiers.set(detached(identifier), numbers);
    return numbers;
  }

  /** The number of a word, if any file has it. */
  find(word: string): number | undefined {
    return this.#words.get(word);
  }

  #add(word: string): number | undefined {
    if (this.#words.size >= MAX_WORDS) return undefined;
    const number = this.#words.size;
    this.#words.set(detached(word), number);
    return number;
  }
}
