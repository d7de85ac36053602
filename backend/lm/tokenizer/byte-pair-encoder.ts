import { Tokenizer as Library } from '@huggingface/tokenizers';
import { BYTE_CHARACTERS, writeTokenBytes } from './byte-alphabet.ts';
import { TokenizerError, quoted, type TokenizerErrorKind } from './errors.ts';
import type { PairEncoder } from './pair-encoder.ts';
import { flatten, type TokenizerDefinition } from './tokenizer-files.ts';

const utf8 = new TextEncoder();

/**
 * Encodes text without added tokens: normalises it, splits it into words and merges pairs, with Hugging Face's JavaScript library.
 * Supports byte-level BPE, as in the tokenizers of Qwen, Llama 3 and SmolLM2. It encodes every text without loss, unless the vocabulary lacks
 * some bytes (SmolLM2's: 21, mainly control characters): these are left out.
 *
 * The library's own search for added tokens is not used, because it cannot exclude tokens.
 *
 * Hugging Face's Rust library differs in two ways. Its Unicode tables are older than Node's, so it splits letters and accents of the
 * latest Unicode versions elsewhere. It also matches a long s (`ſ`) after an apostrophe as the `'s` of Qwen's pattern.
 */
export class BytePairEncoder implements PairEncoder {
  readonly #library: Library;
  readonly #normalizes: boolean;

  /** @throws TokenizerError */
  constructor(file: string, definition: TokenizerDefinition) {
    const { model, normalizer, pre_tokenizer, decoder } = definition;
    refuseOtherKinds(file, definition);
    this.#normalizes = flatten(normalizer).length > 0;
    requireBytes(file, definition);
    checkMerges(file, model.merges, model.vocab);
    try {
      // Without an unknown token, the library leaves out bytes that have none.
      this.#library = new Library({ model: { ...model, unk_token: null }, normalizer, pre_tokenizer, decoder, post_processor: null, added_tokens: [] }, {});
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw failure('unsupported', file, `cannot be used (${quoted(reason)}): choose another model`, error);
    }
  }

  /** Applies NFC if the tokenizer has a normalizer. */
  normalize(text: string): string {
    return this.#normalizes ? text.normalize('NFC') : text;
  }

  compose(text: string): string {
    return this.normalize(text);
  }

  encode(text: string): number[] {
    return this.#library.encode(text, { add_special_tokens: false }).ids;
  }

  /** Added tokens are plain text. (The Rust library reads them in the byte alphabet too, so that it decodes an added token `é` to U+FFFD.) */
  writeToken(token: string, raw: boolean, bytes: Uint8Array, offset: number): number {
    return (raw ? undefined : writeTokenBytes(token, bytes, offset)) ?? offset + utf8.encodeInto(token, bytes.subarray(offset)).written;
  }
}

function refuseOtherKinds(file: string, { model, normalizer, pre_tokenizer, decoder }: TokenizerDefinition): void {
  const unsupported = (field: string, found: string | null | undefined): TokenizerError => {
    const problem = `${field} is ${quoted(found ?? 'missing')}, and Conductor reads BPE alone, of bytes or with byte fallback: choose another model`;
    return failure('unsupported', file, problem);
  };
  if (model.type !== 'BPE') throw unsupported('model.type', model.type);
  for (const field of ['continuing_subword_prefix', 'end_of_word_suffix'] as const) {
    if (model[field]) throw unsupported(`model.${field}`, model[field]);
  }
  const other = flatten(normalizer).find(({ type }) => type !== 'NFC');
  if (other !== undefined) throw unsupported('normalizer', other.type);
  const lastCut = flatten(pre_tokenizer).at(-1);
  if (lastCut?.type !== 'ByteLevel') throw unsupported('pre_tokenizer', lastCut?.type);
  const decoders = flatten(decoder);
  if (decoders.length !== 1 || decoders[0]?.type !== 'ByteLevel') throw unsupported('decoder', decoders.map(({ type }) => type).join());
}

function requireBytes(file: string, { model: { vocab } }: TokenizerDefinition): void {
  const missing = BYTE_CHARACTERS.findIndex((character, byte) => isNeeded(byte) && !Object.hasOwn(vocab, character));
  if (missing >= 0) throw failure('malformed', file, `has no token for byte ${missing}: download the model again`);
}

/** Whether a byte occurs in texts of every kind: in UTF-8, except control characters and the first bytes of rare characters. */
const isNeeded = (byte: number): boolean => byte === 0x0a || (byte >= 0x20 && byte <= 0x7e) || (byte >= 0x80 && byte <= 0xbf);

/** A merge whose result is not a token would make text disappear. */
function checkMerges(file: string, merges: readonly unknown[], vocab: Readonly<Record<string, unknown>>): void {
  for (const merge of merges) {
    const parts: unknown = typeof merge === 'string' ? merge.split(' ') : merge;
    const sound = Array.isArray(parts) && parts.length === 2 && [...parts, parts.join('')].every((token) => Object.hasOwn(vocab, String(token)));
    if (!sound) {
      throw failure('malformed', file, `has a merge ${quoted(JSON.stringify(merge) ?? '')} that makes no token: download the model again`);
    }
  }
}

function failure(kind: TokenizerErrorKind, file: string, problem: string, cause?: unknown): TokenizerError {
  return new TokenizerError({ kind, file, message: `${file} ${problem}.`, cause });
}
