import type { Vocabulary } from './vocabulary.ts';

const UTF8 = { ignoreBOM: true } as const;

/** What decoding makes of the first token's bytes. */
export type DecodeFirst = (bytes: Uint8Array) => Uint8Array;

/**
 * Decodes token ids incrementally. A character whose bytes span several tokens is held back until it is complete. Invalid UTF-8
 * becomes U+FFFD, as when decoding all ids together.
 */
export class TextStream {
  readonly #vocabulary: Vocabulary;
  readonly #skip: ReadonlySet<number>;
  readonly #decodeFirst: DecodeFirst | undefined;
  readonly #decoder = new TextDecoder('utf-8', UTF8);
  #isFirst = true;

  constructor(vocabulary: Vocabulary, skip: ReadonlySet<number>, decodeFirst?: DecodeFirst) {
    this.#vocabulary = vocabulary;
    this.#skip = skip;
    this.#decodeFirst = decodeFirst;
  }

  /** Returns the text that is now complete; often none. */
  push(ids: readonly number[]): string {
    const pieces = this.#vocabulary.pieces(ids, this.#skip);
    const [first] = pieces;
    if (first === undefined) return '';
    if (this.#isFirst && this.#decodeFirst) pieces[0] = this.#decodeFirst(first);
    this.#isFirst = false;
    return this.#decoder.decode(Buffer.concat(pieces), { stream: true });
  }

  /** Returns the rest: U+FFFD if the last character is incomplete, else nothing. The stream can then decode another text. */
  end(): string {
    this.#isFirst = true;
    return this.#decoder.decode();
  }
}
