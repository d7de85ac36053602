import { Tokenizer as Library } from '@huggingface/tokenizers';
import { BYTE_CHARACTERS } from './byte-alphabet.ts';
import { TokenizerError, quoted, type TokenizerErrorKind } from './errors.ts';
import { HIGHEST_ID, type Component, type TokenizerDefinition } from './tokenizer-files.ts';

/**
 * Encodes text without added tokens: normalises it, splits it into words and merges pairs, with Hugging Face's JavaScript library.
 * Supports only byte-level BPE, as in the tokenizers of Qwen, Llama 3 and SmolLM2. It encodes every text without loss, unless the vocabulary lacks
 * some bytes (SmolLM2's: 21, mainly control characters): these are left out.
 *
 * The library's own search for added tokens is not used, because it cannot exclude tokens.
 *
 * Hugging Face's Rust library differs in two ways. Its Unicode tables are older than Node's, so it splits letters and accents of the
 * latest Unicode versions elsewhere. It also matches a long s (`ſ`) after an apostrophe as the `'s` of Qwen's pattern.
 */
export class BytePairEncoder {
  readonly #library: Library;
  readonly #normalizes: boolean;

  /** @throws TokenizerError */
  constructor(file: string, definition: TokenizerDefinition) {
    const { model, normalizer, pre_tokenizer, decoder } = definition;
    refuseOtherKinds(file, definition);
    this.#normalizes = flatten(normalizer).length > 0;
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

  encode(text: string): number[] {
    return this.#library.encode(text, { add_special_tokens: false }).ids;
  }
}

function refuseOtherKinds(file: string, { model, normalizer, pre_tokenizer, decoder }: TokenizerDefinition): void {
  const unsupported = (field: string, found: string | null | undefined): TokenizerError => {
    const problem = `${field} is ${quoted(found ?? 'missing')}, and Conductor reads byte-level BPE alone: choose a Llama 3, Qwen or SmolLM2 model`;
    return failure('unsupported', file, problem);
  };
  if (model.type !== 'BPE') throw unsupported('model.type', model.type);
  if (model.byte_fallback === true) throw unsupported('model.byte_fallback', 'true');
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

/** The components of a possibly nested sequence. */
function flatten(component: Component | null | undefined): Component[] {
  if (!component) return [];
  if (component.type !== 'Sequence') return [component];
  return (component.normalizers ?? component.pretokenizers ?? component.decoders ?? []).flatMap(flatten);
}

/**
 * The BPE tokens, in the byte alphabet, and their ids.
 * @throws TokenizerError
 */
export function readVocabulary(file: string, { model: { vocab } }: TokenizerDefinition): [token: string, id: number][] {
  const malformed = (problem: string): TokenizerError => failure('malformed', file, `${problem}: download the model again`);
  const seen = new Set<unknown>();
  const entries = Object.entries(vocab);
  for (const [token, id] of entries) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > HIGHEST_ID) throw malformed(`has no valid id for ${quoted(token)}`);
    if (seen.has(id)) throw malformed(`has two tokens of id ${id}`);
    seen.add(id);
  }
  const missing = BYTE_CHARACTERS.findIndex((character, byte) => isNeeded(byte) && !Object.hasOwn(vocab, character));
  if (missing >= 0) throw malformed(`has no token for byte ${missing}`);
  return entries as [string, number][];
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
