/** Where a plain text stands: at the start of all text, after an added token, or right behind text that was encoded before. */
export type Place = 'start' | 'later' | 'continued';

/** The part of a tokenizer that knows plain text, without added tokens. */
export interface PairEncoder {
  /** What `encode` takes, and what some added tokens are looked for in. */
  normalize(text: string, place?: Place): string;
  /** The part of `normalize` that may be done again, and to a part of a text. */
  compose(text: string): string;
  /** @param normalized may be joined from results of `normalize` */
  encode(normalized: string, place: Place): number[];
  /** Writes the bytes of a token and returns the offset after them. `raw` tokens are added ones. `bytes` has room for three for each UTF-16 unit. */
  writeToken(token: string, raw: boolean, bytes: Uint8Array, offset: number): number;
  /** What decoding makes of the first token's bytes; by default nothing. */
  readonly decodeFirst?: ((bytes: Uint8Array) => Uint8Array) | undefined;
}
