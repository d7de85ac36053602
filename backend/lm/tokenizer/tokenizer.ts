import { AddedTokens, chooseMark, isWhiteSpace, type AddedToken } from './added-tokens.ts';
import { BytePairEncoder } from './byte-pair-encoder.ts';
import { ChatTemplate } from './chat-template.ts';
import { TokenizerError } from './errors.ts';
import type { PairEncoder, Place } from './pair-encoder.ts';
import { SentencePieceEncoder } from './sentencepiece-encoder.ts';
import { TextStream } from './text-stream.ts';
import { readTokenizerFiles, readTokens, type TokenizerFiles } from './tokenizer-files.ts';
import { Vocabulary, type VocabularyEntry } from './vocabulary.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface EncodeOptions {
  /** `parse`: text such as `<|im_end|>` becomes the token of that name. `plain`: it stays text, for untrusted input. */
  readonly specialTokens: 'parse' | 'plain';
  /** The text stands right behind other text, so no space is put before it, as SentencePiece's tokenizers do; false by default. */
  readonly continues?: boolean | undefined;
}

export interface DecodeOptions {
  /** Omit special tokens. */
  readonly skipSpecial: boolean;
  /** The text stands right behind other text, so a space at its start stays; false by default. */
  readonly continues?: boolean | undefined;
}

export interface ChatOptions {
  /** Begins the assistant's turn; true by default. */
  readonly addGenerationPrompt?: boolean | undefined;
  /** The beginning of the assistant's answer. The model continues after its last character. */
  readonly prefill?: string | undefined;
  /** Lets a reasoning model (Qwen3) think before it answers; false by default. */
  readonly thinking?: boolean | undefined;
}

/** Templates use these tags to remove earlier reasoning from the assistant's messages, so they must stay tokens. */
const REASONING_TAGS: ReadonlySet<string> = new Set(['<think>', '</think>']);
const NOTHING: ReadonlySet<string> = new Set();
const NONE: ReadonlySet<number> = new Set();

/**
 * Encodes and decodes text like Hugging Face's `tokenizers` and `transformers`. A byte-order mark is text. Adds no tokens (such
 * as BOS) beyond those in the text or the chat template.
 */
export class Tokenizer {
  /** The highest used id, plus one. A model's embedding may have more rows. */
  readonly vocabularySize: number;
  /** The ids of control tokens, which are not text. */
  readonly specialTokenIds: ReadonlySet<number>;
  /** The ids that end a generation. */
  readonly stopTokenIds: readonly number[];

  readonly #encoder: PairEncoder;
  readonly #addedTokens: AddedTokens;
  /** Those that are found in plain text, too. */
  readonly #whiteSpace: AddedTokens;
  readonly #vocabulary: Vocabulary;
  readonly #addedContents: string;
  readonly #template: ChatTemplate | undefined;
  readonly #namedTokens: Readonly<Record<string, string>>;
  readonly #file: string;

  /** @throws TokenizerError */
  constructor(files: TokenizerFiles) {
    const { definitionFile, definition, chatTemplate, namedTokens } = files;
    this.#file = definitionFile;
    const encoder = new (definition.model.byte_fallback === true ? SentencePieceEncoder : BytePairEncoder)(definitionFile, definition);
    this.#encoder = encoder;
    const added = readAddedTokens(files);
    const find = (tokens: readonly AddedToken[]): AddedTokens =>
      new AddedTokens(tokens, (text, place) => encoder.normalize(text, place), (text) => encoder.compose(text));
    this.#addedTokens = find(added);
    this.#whiteSpace = find(added.filter(isWhiteSpace));
    this.#addedContents = added.map(({ content }) => content).join('');
    this.#vocabulary = new Vocabulary(mergeEntries(definitionFile, readTokens(definitionFile, definition), added), encoder);
    this.#template = chatTemplate === undefined ? undefined : new ChatTemplate(chatTemplate.file, chatTemplate.source);
    this.#namedTokens = namedTokens;
    this.vocabularySize = this.#vocabulary.size;
    this.specialTokenIds = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    const endOfText = added.find(({ content }) => content === namedTokens['eos_token']);
    this.stopTokenIds = [...new Set([...files.stopTokenIds, ...(endOfText === undefined ? [] : [endOfText.id])])];
  }

  encode(text: string, { specialTokens, continues = false }: EncodeOptions): number[] {
    return this.#encodePieces(text, { added: specialTokens === 'plain' ? this.#whiteSpace : this.#addedTokens, place: continues ? 'continued' : 'start' });
  }

  /** Omits unused ids. Invalid UTF-8 becomes U+FFFD. */
  decode(ids: readonly number[], options: DecodeOptions): string {
    const stream = this.textStream(options);
    return stream.push(ids) + stream.end();
  }

  /** Decodes ids incrementally. The joined pieces equal `decode` of all ids. */
  textStream({ skipSpecial, continues = false }: DecodeOptions): TextStream {
    const skip = skipSpecial ? this.specialTokenIds : NONE;
    return new TextStream(this.#vocabulary, skip, continues ? undefined : this.#encoder.decodeFirst);
  }

  /**
   * Encodes a conversation with the model's chat template.
   *
   * The content of messages never becomes an added token: `<|im_end|>` in a question stays text and ends no turn. The only
   * exceptions are `<think>` and `</think>` in the assistant's messages and in `prefill`.
   *
   * @throws TokenizerError of kind `no-chat-template` or `chat-template`
   */
  chat(messages: readonly ChatMessage[], { addGenerationPrompt = true, prefill = '', thinking = false }: ChatOptions = {}): number[] {
    if (prefill !== '' && !addGenerationPrompt) throw new RangeError('A prefill needs the turn that it begins.');
    if (this.#template === undefined) {
      const message = `${this.#file} comes without a chat template, so the model was not made to answer questions: choose an instruct model.`;
      throw new TokenizerError({ kind: 'no-chat-template', file: this.#file, message });
    }
    const contents = messages.map(({ content }) => content);
    const mark = chooseMark([...contents, prefill, this.#template.source, this.#addedContents]);
    const guard = (content: string, role: ChatMessage['role']): string =>
      this.#addedTokens.guard(content, mark, role === 'assistant' ? REASONING_TAGS : NOTHING);
    const text = this.#template.render(
      {
        ...this.#namedTokens,
        messages: messages.map(({ role, content }) => ({ role, content: guard(content, role) })),
        add_generation_prompt: addGenerationPrompt,
        enable_thinking: thinking,
      },
      contents.reduce((sum, content) => sum + content.length, 0),
    );
    return this.#encodePieces(text + guard(prefill, 'assistant'), { added: this.#addedTokens, mark, place: 'start' });
  }

  /**
   * The bytes of each id; `undefined` for special and unused ids. Each call creates 150,000 small read-only views of the same
   * memory.
   */
  tokenBytes(): readonly (Uint8Array | undefined)[] {
    return Array.from({ length: this.vocabularySize }, (_, id) => {
      const bytes = this.specialTokenIds.has(id) ? undefined : this.#vocabulary.bytesOf(id);
      return bytes?.length ? bytes : undefined;
    });
  }

  #encodePieces(text: string, { added, mark, place }: { readonly added: AddedTokens; readonly mark?: string; readonly place: Place }): number[] {
    const pieces = added.cut(text, mark, place);
    return pieces.flatMap((piece, at) => (typeof piece === 'number' ? piece : this.#encoder.encode(piece, at === 0 ? place : 'later')));
  }
}

/**
 * Opens the tokenizer of a Hugging Face folder. Use it only in the model's process: reading a vocabulary of 151,936 blocks the
 * thread for a third of a second. Encoding runs the model's own regular expression, whose time is not bounded.
 *
 * @throws TokenizerMissingError if the folder has none
 * @throws TokenizerError if its files are damaged, too large or not supported
 */
export async function openTokenizer(folder: string): Promise<Tokenizer> {
  return new Tokenizer(await readTokenizerFiles(folder));
}

/** The added tokens of tokenizer.json and tokenizer_config.json. The latter takes precedence, as in transformers. */
function readAddedTokens({ definition, config }: TokenizerFiles): AddedToken[] {
  const configured = Object.entries(config.added_tokens_decoder ?? {}).map(([id, token]) => ({ ...token, id: Number(id) }));
  const byId = new Map([...definition.added_tokens, ...configured].map((token) => [token.id, token]));
  return [...byId.values()].map((token) => ({
    id: token.id,
    content: token.content,
    special: token.special,
    normalized: token.normalized ?? !token.special,
    singleWord: token.single_word,
    leftStrip: token.lstrip,
    rightStrip: token.rstrip,
  }));
}

/** In ascending order of unique ids. An added token may also be in the vocabulary. */
function mergeEntries(
  file: string, vocabulary: readonly (readonly [token: string, id: number])[], added: readonly AddedToken[],
): VocabularyEntry[] {
  const entries = new Map(vocabulary.map(([token, id]): [number, VocabularyEntry] => [id, { id, token, raw: false }]));
  for (const { id, content } of added) {
    const other = entries.get(id);
    if (other !== undefined && other.token !== content) {
      const message = `${file} gives id ${id} to two tokens: download the model again.`;
      throw new TokenizerError({ kind: 'malformed', file, message });
    }
    entries.set(id, { id, token: content, raw: true });
  }
  return [...entries.values()].sort((a, b) => a.id - b.id);
}
