import type { Vocabulary } from './vocabulary.ts';

const UTF8 = { ignoreBOM: true } as const;

/**
 * Text from token ids as they arrive. A character whose bytes are spread over tokens is held back until it is whole; bytes that
 * are no UTF-8 become U+FFFD, as in one go. Each id is looked at once.
 */
export class TextStream {
  readonly #vocabulary: Vocabulary;
  readonly #skip: ReadonlySet<number>;
  readonly #decoder = new TextDecoder('utf-8', UTF8);

  constructor(vocabulary: Vocabulary, skip: ReadonlySet<number>) {
    this.#vocabulary = vocabulary;
    this.#skip = skip;
  }

  /** What is now certain to be in the text; often nothing. */
  push(ids: readonly number[]): string {
    return this.#decoder.decode(this.#vocabulary.concatenate(ids, this.#skip), { stream: true });
  }

  /** The rest: U+FFFD where the last character is not whole, else nothing. The stream can then be used for another text. */
  end(): string {
    return this.#decoder.decode();
  }
}

/** The text of all ids: what a stream gives, joined. */
export function decodeTokens(vocabulary: Vocabulary, ids: readonly number[], skip: ReadonlySet<number>): string {
  return new TextDecoder('utf-8', UTF8).decode(vocabulary.concatenate(ids, skip));
}
