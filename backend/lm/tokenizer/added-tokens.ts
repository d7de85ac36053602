import { escapeRegExp } from '../../common/escape-regexp.ts';
import type { Place } from './pair-encoder.ts';

/** A token such as `<|im_end|>` that is matched in the text before BPE. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** A control token that is not text. */
  readonly special: boolean;
  /** Matches the normalised text instead of the original. */
  readonly normalized: boolean;
  /** Does not match inside a word. */
  readonly singleWord: boolean;
  /** Includes the white space before it. */
  readonly leftStrip: boolean;
  /** Includes the white space after it. */
  readonly rightStrip: boolean;
}

/** A part of a text: the id of an added token, or the plain text between added tokens. */
export type Piece = number | string;

/**
 * A run of white space, which is text and no sign: Gemma has tokens of several line ends. `▁` is SentencePiece's space.
 */
export const isWhiteSpace = ({ content, special }: AddedToken): boolean => !special && /^[\s▁]+$/.test(content);

const WORD_BEFORE = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
const WORD_AFTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const WHITE_SPACE = /\p{White_Space}/u;

/**
 * Finds added tokens like the Rust library (github.com/huggingface/tokenizers, tokenizers/src/tokenizer/added_vocabulary.rs):
 * leftmost first, then longest; first in the original text, then in the rest after normalisation.
 *
 * Untrusted text must never become such a token, but a chat template mixes it with intended tokens. Therefore `guard` inserts a
 * mark, a character that occurs nowhere else, before each place where a token would begin. `cut` does not match at marks and
 * removes them, so that plain text is split and merged exactly as without marks.
 */
export class AddedTokens {
  readonly #written: Finder | undefined;
  readonly #normalized: Finder | undefined;
  readonly #normalize: (text: string, place?: Place) => string;
  readonly #compose: (text: string) => string;
  /** What `guard` forbids: in the form of the text that it guards. */
  readonly #signs: readonly string[];

  /** @param compose the part of `normalize` that is idempotent and may be done to a part of a text; by default all of it */
  constructor(tokens: readonly AddedToken[], normalize: (text: string, place?: Place) => string, compose: (text: string) => string = normalize) {
    this.#normalize = normalize;
    this.#compose = tokens.some(({ normalized }) => normalized) ? compose : (text) => text;
    const signs = tokens.filter((token) => token.content !== '' && !isWhiteSpace(token));
    this.#signs = signs.map(({ content, normalized }) => (normalized ? compose(content) : content));
    this.#written = finderOf(tokens.filter((token) => !token.normalized));
    this.#normalized = finderOf(
      tokens.filter((token) => token.normalized).map((token) => ({ ...token, content: normalize(token.content) })),
    );
  }

  /** Replaces every added token by its id, except after a mark, and normalises the rest. A first piece that is text stands at `place`. */
  cut(text: string, mark?: string, place: Place = 'start'): Piece[] {
    const pieces = cutBy(this.#written, text, mark).flatMap((piece, at) =>
      typeof piece === 'number' ? [piece] : cutBy(this.#normalized, this.#normalize(piece, at === 0 ? place : 'later'), mark));
    const plain = (piece: Piece): Piece => (typeof piece === 'number' || mark === undefined ? piece : piece.replaceAll(mark, ''));
    return pieces.map(plain).filter((piece) => piece !== '');
  }

  /** Inserts a mark wherever an added token begins, or could begin or end in combination with the text around. */
  guard(text: string, mark: string, exempt: ReadonlySet<string> = new Set()): string {
    const composed = this.#compose(text);
    const forbidden = this.#signs.filter((content) => !exempt.has(content)).map(spaced);
    if (forbidden.length === 0 || composed === '') return composed;

    const normal = spaced(composed);
    const places = new Set<number>();
    if (forbidden.some((content) => continuesInto(content, normal))) places.add(0);
    for (const { index } of normal.matchAll(new RegExp(`(?=${alternatives(forbidden)})`, 'g'))) places.add(index);
    const longest = Math.max(...forbidden.map((content) => content.length));
    for (let at = Math.max(0, normal.length - longest + 1); at < normal.length; at++) {
      if (forbidden.some((content) => content.startsWith(normal.slice(at)))) places.add(at);
    }

    const ascending = [...places].sort((a, b) => a - b);
    const pieces = ascending.map((place, at) => mark + composed.slice(place, ascending[at + 1]));
    return composed.slice(0, ascending[0]) + pieces.join('');
  }
}

/** A character that occurs in none of the texts. Unicode reserves U+FDD0 to U+FDEF for such internal uses. */
export function chooseMark(texts: readonly string[]): string {
  const absent = (code: number): boolean => !texts.some((text) => text.includes(String.fromCharCode(code)));
  for (let code = 0xfdd0; code <= 0xfdef; code++) if (absent(code)) return String.fromCharCode(code);
  // Only a malicious text contains all of these. The private use area has 6,400 more.
  for (let code = 0xe000; code <= 0xf8ff; code++) if (absent(code)) return String.fromCharCode(code);
  throw new RangeError('The texts use every character that could mark a place in them.');
}

interface Finder {
  readonly pattern: RegExp;
  readonly tokens: ReadonlyMap<string, AddedToken>;
}

function finderOf(tokens: readonly AddedToken[]): Finder | undefined {
  const byContent = new Map(tokens.filter(({ content }) => content !== '').map((token) => [token.content, token]));
  return byContent.size === 0 ? undefined : { pattern: new RegExp(alternatives([...byContent.keys()]), 'g'), tokens: byContent };
}

/** Of the same length, with SentencePiece's spaces as spaces: a token that names one may be matched by the other. */
const spaced = (text: string): string => text.replaceAll('▁', ' ');

/** Longest first, because a regular expression takes the first alternative that matches. */
function alternatives(contents: readonly string[]): string {
  const longestFirst = [...contents].sort((a, b) => b.length - a.length);
  return longestFirst.map(escapeRegExp).join('|');
}

/** Whether a token that begins before a text could continue in it. */
function continuesInto(content: string, text: string): boolean {
  for (let at = 1; at < content.length; at++) {
    const rest = content.slice(at);
    if (text.startsWith(rest) || rest.startsWith(text)) return true;
  }
  return false;
}

function cutBy(finder: Finder | undefined, text: string, mark: string | undefined): Piece[] {
  if (finder === undefined) return [text];
  const pieces: Piece[] = [];
  const { pattern, tokens } = finder;
  let done = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const token = tokens.get(match[0])!;
    let start = match.index;
    let end = pattern.lastIndex;
    if (mark !== undefined && text[start - 1] === mark) {
      pattern.lastIndex = start + 1;
      continue;
    }
    if (token.singleWord && isInWord(text, start, end)) continue;
    if (token.leftStrip) while (start > done && WHITE_SPACE.test(text[start - 1]!)) start--;
    if (token.rightStrip) while (end < text.length && WHITE_SPACE.test(text[end]!)) end++;
    pieces.push(text.slice(done, start), token.id);
    done = end;
  }
  pieces.push(text.slice(done));
  return pieces;
}

/** Two UTF-16 units on each side are enough for a whole character. */
function isInWord(text: string, start: number, end: number): boolean {
  return WORD_BEFORE.test(text.slice(Math.max(0, start - 2), start)) || WORD_AFTER.test(text.slice(end, end + 2));
}
