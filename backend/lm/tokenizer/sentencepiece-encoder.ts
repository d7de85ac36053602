import { TokenizerError, quoted } from './errors.ts';
import type { PairEncoder, Place } from './pair-encoder.ts';
import { PairMerger, type Merge } from './pair-merger.ts';
import { type SentencePieceForm, sentencePieceForm, SPACE } from './sentencepiece-form.ts';
import { readTokens, type TokenizerDefinition } from './tokenizer-files.ts';

const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;
const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
const utf8 = new TextEncoder();

/**
 * Encodes text as SentencePiece's BPE does where Hugging Face's library runs it (Llama 2, Mistral 7B, TinyLlama, Gemma, Phi-3): spaces are
 * written as `▁`, a whole text is one word, and a character without a token becomes the tokens of its bytes. No text is lost.
 *
 * The bytes of a text that a model writes are decoded like those of every other model: only what is no UTF-8 becomes U+FFFD. The Rust library
 * gives up the whole run of byte tokens around it.
 */
export class SentencePieceEncoder implements PairEncoder {
  readonly decodeFirst: PairEncoder['decodeFirst'];
  readonly #form: SentencePieceForm;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #bytes: readonly number[];
  readonly #merger: PairMerger;

  /** @throws TokenizerError */
  constructor(file: string, definition: TokenizerDefinition) {
    this.#form = sentencePieceForm(file, definition);
    this.decodeFirst = this.#form.decodeFirst;
    this.#ids = new Map(readTokens(file, definition));
    this.#bytes = Array.from({ length: 256 }, (_, byte) => {
      // A byte below 128 is a character. Older Gemma tokenizers have a token for the tabulator only, none for its byte.
      const id = this.#ids.get(byteToken(byte)) ?? (byte < 0x80 ? this.#ids.get(String.fromCharCode(byte)) : undefined);
      if (id === undefined) throw malformed(file, `has no token for byte ${byte}`);
      return id;
    });
    this.#merger = new PairMerger(readMerges(file, definition.model.merges, this.#ids));
  }

  normalize(text: string, place: Place = 'later'): string {
    if (text === '') return '';
    const spaced = this.#form.replacesSpaces ? text.replaceAll(' ', SPACE) : text;
    return (this.#form.prepends && place !== 'continued' ? SPACE + spaced : spaced).toWellFormed();
  }

  compose(text: string): string {
    return text;
  }

  encode(normalized: string, place: Place): number[] {
    return this.#words(normalized, place).flatMap((word) => this.#merger.merge(this.#characters(word)));
  }

  writeToken(token: string, _raw: boolean, bytes: Uint8Array, offset: number): number {
    const [, byte] = BYTE_TOKEN.exec(token) ?? [];
    if (byte === undefined) return offset + utf8.encodeInto(token.replaceAll(SPACE, ' '), bytes.subarray(offset)).written;
    bytes[offset] = Number.parseInt(byte, 16);
    return offset + 1;
  }

  #words(normalized: string, place: Place): string[] {
    const { metaspace } = this.#form;
    if (metaspace === undefined) return [normalized];
    const spaced = normalized.replaceAll(' ', SPACE);
    const begins = metaspace.prepends === 'always' ? place !== 'continued' : metaspace.prepends === 'first' && place === 'start';
    const text = begins && !spaced.startsWith(SPACE) ? SPACE + spaced : spaced;
    return metaspace.splits ? text.split(/(?=▁)/) : [text];
  }

  #characters(word: string): number[] {
    return Array.from(word).flatMap((character) =>
      this.#ids.get(character) ?? Array.from(utf8.encode(character), (byte) => this.#bytes[byte]!));
  }
}

/** A merge whose result is not a token would make text disappear. */
function* readMerges(file: string, merges: readonly unknown[], ids: ReadonlyMap<unknown, number>): Generator<Merge> {
  for (const merge of merges) {
    const parts: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
    const [left, right, more] = Array.isArray(parts) ? parts as unknown[] : [];
    const [first, second, merged] = [ids.get(left), ids.get(right), ids.get(`${String(left)}${String(right)}`)];
    if (first === undefined || second === undefined || merged === undefined || more !== undefined) {
      throw malformed(file, `has a merge ${quoted(JSON.stringify(merge) ?? '')} that makes no token`);
    }
    yield [first, second, merged];
  }
}

function malformed(file: string, problem: string): TokenizerError {
  return new TokenizerError({ kind: 'malformed', file, message: `${file} ${problem}: download the model again.` });
}
