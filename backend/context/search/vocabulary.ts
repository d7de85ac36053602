import { detached } from '../../common/detached.ts';
import { wordsOf } from './words.ts';

/** Text that is made to have more different words than this is searched by the words seen before. */
export const MAX_WORDS = 1_000_000;
const MAX_IDENTIFIERS = 1_000_000;
const NONE: readonly number[] = [];

/**
 * Numbers for words, so that files are compared by numbers. Words are known by hashes alone, because an index is kept on disk: what a file has
 * in it, such as a key that somebody forgot there, cannot be read from it.
 */
export class Vocabulary {
  readonly #numbers = new Map<number, number>();
  readonly #identifiers = new Map<string, readonly number[]>();

  /** @param hashes of the words that it has from the start, by their numbers */
  constructor(hashes: Iterable<number> = []) {
    for (const hash of hashes) this.#numbers.set(hash, this.#numbers.size);
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** The hashes of all words, by their numbers. */
  get hashes(): Float64Array {
    return Float64Array.from(this.#numbers.keys());
  }

  /** The numbers of an identifier's words, see `wordsOf`. */
  numbersOf(identifier: string): readonly number[] {
    const known = this.#identifiers.get(identifier);
    if (known) return known;
    if (this.#identifiers.size >= MAX_IDENTIFIERS) return NONE;
    const numbers: number[] = [];
    for (const word of wordsOf(identifier)) {
      const hash = hashOf(word);
      const number = this.#numbers.get(hash) ?? this.#add(hash);
      if (number !== undefined) numbers.push(number);
    }
    this.#identifiers.set(detached(identifier), numbers);
    return numbers;
  }

  /** The number of a word, if any file has it. */
  find(word: string): number | undefined {
    return this.#numbers.get(hashOf(word));
  }

  #add(hash: number): number | undefined {
    const number = this.#numbers.size;
    if (number >= MAX_WORDS) return undefined;
    this.#numbers.set(hash, number);
    return number;
  }
}

/** 53 bits, as many as a number holds exactly: cyrb53 (https://github.com/bryc/code, public domain). Among a million words two share one in 1 of 18,000 cases. */
function hashOf(word: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
