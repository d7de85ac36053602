import type { PairEncoder } from './pair-encoder.ts';

/** A token as written in the files. `raw` tokens are the added ones. */
export interface VocabularyEntry {
  readonly id: number;
  readonly token: string;
  readonly raw: boolean;
}

/** The bytes of all tokens in one buffer. A vocabulary of 151,936 takes less than 2 MB. */
export class Vocabulary {
  /** The highest id, plus one. Ids below it may be unused. */
  readonly size: number;
  readonly #bytes: Uint8Array;
  /** Token `id` is `#bytes[#offsets[id] … #offsets[id + 1]]`, which is empty for an unused id. */
  readonly #offsets: Uint32Array;

  /** @param entries in ascending order of unique ids */
  constructor(entries: readonly VocabularyEntry[], encoder: Pick<PairEncoder, 'writeToken'>) {
    this.size = (entries.at(-1)?.id ?? -1) + 1;
    this.#offsets = new Uint32Array(this.size + 1);
    // No token has more than three bytes for each UTF-16 unit.
    const bytes = new Uint8Array(entries.reduce((sum, { token }) => sum + 3 * token.length, 0));
    let end = 0;
    let next = 0;
    for (const { id, token, raw } of entries) {
      while (next <= id) this.#offsets[next++] = end;
      end = encoder.writeToken(token, raw, bytes, end);
    }
    this.#offsets[this.size] = end;
    this.#bytes = bytes.slice(0, end);
  }

  /** A read-only view. Empty for ids that are unused or out of range. */
  bytesOf(id: number): Uint8Array {
    return this.#bytes.subarray(this.#offsets[id] ?? 0, this.#offsets[id + 1] ?? 0);
  }

  /** The bytes of the tokens that have any, without those in `skip`. */
  pieces(ids: readonly number[], skip: ReadonlySet<number>): Uint8Array[] {
    return ids.filter((id) => !skip.has(id)).map((id) => this.bytesOf(id)).filter(({ length }) => length > 0);
  }
}
