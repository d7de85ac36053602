import type { Vocabulary } from './vocabulary.ts';

const UTF8 = { ignoreBOM: true } as const;

/**
 * Decodes token ids incrementally. A character whose bytes span several tokens is held back until it is complete. Invalid UTF-8
 * becomes U+FFFD, as when decoding all ids together.
 */
export class TextStream {
  readonly #vocabulary: Vocabulary;
  readonly #skip: ReadonlySet<number>;
  readonly #decoder = new TextDecoder('utf-8', UTF8);

  constructor(vocabulary: Vocabulary, skip: ReadonlySet<number>) {
    this.#vocabulary = vocabulary;
    this.#skip = skip;
  }

  /** Returns the text that is now complete; often none. */
  push(ids: readonly number[]): string {
    return this.#decoder.decode(this.#vocabulary.concatenate(ids, this.#skip), { stream: true });
  }

  /** Returns the rest: U+FFFD if the last character is incomplete, else nothing. The stream can then decode another text. */
  end(): string {
    return this.#decoder.decode();
  }
}

/** The text of all ids: the same as the joined output of a stream. */
export function decodeTokens(vocabulary: Vocabulary, ids: readonly number[], skip: ReadonlySet<number>): string {
  return new TextDecoder('utf-8', UTF8).decode(vocabulary.concatenate(ids, skip));
}
