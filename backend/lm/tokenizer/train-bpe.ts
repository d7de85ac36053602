import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BYTE_CHARACTERS } from './byte-alphabet.ts';

/*
 * Trains a byte-level BPE tokenizer (Sennrich et al., arXiv 1508.07909, on bytes as in GPT-2) and writes it in Hugging Face's format. The same
 * texts give the same files.
 */

/** Qwen2's pattern for words, without its case for English contractions. Merges do not cross words. */
const WORDS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** Qwen2's control tokens, which come last in the vocabulary. */
const END_OF_TEXT = '<|endoftext|>';
const TURN_BEGINS = '<|im_start|>';
const TURN_ENDS = '<|im_end|>';
const SPECIAL_TOKENS = [END_OF_TEXT, TURN_BEGINS, TURN_ENDS];

const CHAT_TEMPLATE =
  `{% for message in messages %}{{ '${TURN_BEGINS}' + message['role'] + '\\n' + message['content'] + '${TURN_ENDS}' + '\\n' }}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '${TURN_BEGINS}assistant\\n' }}{% endif %}`;

/** The minimum count of a pair to be merged. */
const FEWEST_SIGHTS = 2;

type Pair = readonly [left: string, right: string];

export interface LearnedTokens {
  /** The tokens in the byte alphabet, in the order of their ids. */
  readonly tokens: readonly string[];
  /** In the order in which they were learned and must be applied. */
  readonly merges: readonly Pair[];
}

export interface NewTokenizer extends LearnedTokens {
  /** The number of all tokens, including special tokens. */
  readonly vocabularySize: number;
  /** The token that ends a turn, and thus a text. */
  readonly stopTokenId: number;
}

/**
 * `vocabularySize` includes the 256 bytes and the special tokens. The result has fewer tokens if the texts have too few pairs to merge.
 * Each text is split separately.
 */
export function trainTokenizer(texts: Iterable<string>, vocabularySize: number): NewTokenizer {
  const smallest = BYTE_CHARACTERS.length + SPECIAL_TOKENS.length;
  if (vocabularySize < smallest) throw new RangeError(`A byte-level tokenizer has at least ${smallest} tokens, not ${vocabularySize}.`);
  const learned = learnMerges(countWords(texts), vocabularySize - smallest);
  const stopTokenId = learned.tokens.length + SPECIAL_TOKENS.indexOf(TURN_ENDS);
  return { ...learned, vocabularySize: learned.tokens.length + SPECIAL_TOKENS.length, stopTokenId };
}

/** Writes tokenizer.json and tokenizer_config.json to a folder (absolute), which it creates if needed. @throws file system errors */
export async function writeTokenizer(folder: string, { tokens, merges }: LearnedTokens): Promise<void> {
  const added = SPECIAL_TOKENS.map((content, index) => ({
    id: tokens.length + index, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true,
  }));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const split = { type: 'Split', pattern: { Regex: WORDS }, behavior: 'Isolated', invert: false };
  const definition = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [split, byteLevel] },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: '', end_of_word_suffix: '', fuse_unk: false, byte_fallback: false,
      ignore_merges: false, vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges,
    },
  };
  const settings = {
    tokenizer_class: 'Qwen2Tokenizer',
    add_prefix_space: false,
    bos_token: null,
    eos_token: TURN_ENDS,
    pad_token: END_OF_TEXT,
    unk_token: null,
    added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [id, token])),
    chat_template: CHAT_TEMPLATE,
    clean_up_tokenization_spaces: false,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'tokenizer.json'), `${JSON.stringify(definition, null, 1)}\n`);
  await writeFile(path.join(folder, 'tokenizer_config.json'), `${JSON.stringify(settings, null, 2)}\n`);
}

/** The count of each word, written in the byte alphabet. */
function countWords(texts: Iterable<string>): Map<string, number> {
  const pattern = new RegExp(WORDS, 'gu');
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.normalize('NFC').matchAll(pattern)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const inBytes = (word: string): string => Array.from(Buffer.from(word), (byte) => BYTE_CHARACTERS[byte]).join('');
  return new Map(Array.from(counts, ([word, count]) => [inBytes(word), count]));
}

interface Word {
  symbols: readonly string[];
  readonly count: number;
}

/** Repeatedly merges the most frequent pair; ties go to the first pair in character order. */
function learnMerges(counts: ReadonlyMap<string, number>, most: number): LearnedTokens {
  const words = Array.from(counts, ([word, count]): Word => ({ symbols: [...word], count }));
  const sights = new PairSights();
  for (const word of words) sights.add(word, 1);
  const tokens = [...BYTE_CHARACTERS];
  const known = new Set(tokens);
  const merges: Pair[] = [];
  while (merges.length < most) {
    const best = sights.mostSeen();
    if (!best) break;
    merges.push(best);
    const token = best.join('');
    // Two pairs can give the same token.
    if (!known.has(token)) tokens.push(token);
    known.add(token);
    for (const word of sights.wordsWith(best)) {
      sights.add(word, -1);
      word.symbols = joined(word.symbols, best);
      sights.add(word, 1);
    }
  }
  return { tokens, merges };
}

function joined(symbols: readonly string[], [left, right]: Pair): string[] {
  const result: string[] = [];
  for (let at = 0; at < symbols.length; at += 1) {
    const isPair = symbols[at] === left && symbols[at + 1] === right;
    result.push(isPair ? left + right : (symbols[at] as string));
    if (isPair) at += 1;
  }
  return result;
}

/** The count of each pair of adjacent symbols, and the words that contain it. */
class PairSights {
  readonly #pairs = new Map<string, { readonly pair: Pair; count: number; readonly words: Set<Word> }>();

  add(word: Word, sign: 1 | -1): void {
    const { symbols, count } = word;
    for (let at = 0; at + 1 < symbols.length; at += 1) {
      const pair: Pair = [symbols[at] as string, symbols[at + 1] as string];
      const key = pair.join(' ');
      const sight = this.#pairs.get(key) ?? { pair, count: 0, words: new Set() };
      sight.count += sign * count;
      if (sign === 1) sight.words.add(word);
      else sight.words.delete(word);
      if (sight.count > 0) this.#pairs.set(key, sight);
      else this.#pairs.delete(key);
    }
  }

  mostSeen(): Pair | undefined {
    let best: { readonly key: string; readonly pair: Pair; readonly count: number } | undefined;
    for (const [key, { pair, count }] of this.#pairs) {
      if (count >= FEWEST_SIGHTS && (!best || count > best.count || (count === best.count && key < best.key))) best = { key, pair, count };
    }
    return best?.pair;
  }

  wordsWith(pair: Pair): Word[] {
    return [...(this.#pairs.get(pair.join(' '))?.words ?? [])];
  }
}
