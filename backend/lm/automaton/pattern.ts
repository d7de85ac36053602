/*
 * Patterns over bytes, which constrain a text, built from a few combinators. A pattern is plain data that can be sent as JSON to the
 * model's process, where `compilePattern` compiles it to an automaton.
 */

/** The lowest and the highest byte, inclusive. */
export type ByteRange = readonly [low: number, high: number];

export type Pattern =
  | { readonly kind: 'byte'; readonly ranges: readonly ByteRange[] }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly alternatives: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly part: Pattern; readonly minimum: number; readonly maximum?: number }
  | { readonly kind: 'except'; readonly part: Pattern; readonly excluded: Pattern }
  | { readonly kind: 'following'; readonly part: Pattern; readonly prefix: string }
  | { readonly kind: 'reserving'; readonly part: Pattern; readonly tokens: number };

/** One byte of the given ranges. */
export const byteOf = (...ranges: readonly ByteRange[]): Pattern => ({ kind: 'byte', ranges });

/** The parts in order; without parts, the empty text. */
export const sequence = (...parts: readonly Pattern[]): Pattern => ({ kind: 'sequence', parts });

/** One of the alternatives; without alternatives, no text matches. */
export const choice = (...alternatives: readonly Pattern[]): Pattern => ({ kind: 'choice', alternatives });

/** Repeats `part` from `minimum` to `maximum` times, or without an upper bound. Every counted repetition costs states. */
export function repeat(part: Pattern, minimum: number, maximum?: number): Pattern {
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  if (!isCount(minimum) || (maximum !== undefined && (!isCount(maximum) || maximum < minimum))) {
    throw new RangeError(`A pattern cannot repeat from ${minimum} to ${maximum} times.`);
  }
  return { kind: 'repeat', part, minimum, ...(maximum !== undefined && { maximum }) };
}

export const optional = (part: Pattern): Pattern => repeat(part, 0, 1);

export const star = (part: Pattern): Pattern => repeat(part, 0);

/** The texts that match `part` and do not, as a whole, match `excluded`. */
export const except = (part: Pattern, excluded: Pattern): Pattern => ({ kind: 'except', part, excluded });

/** The texts of `part` that begin with `prefix`, without that prefix. */
export const following = (prefix: string, part: Pattern): Pattern => ({ kind: 'following', part, prefix });

/**
 * The texts of `part`. While one of them is generated, this many tokens are kept in reserve for the text after it, in addition to the
 * fewest that the text after it takes. A generation that reaches its limit then leaves `part` early enough for a good ending.
 */
export const reserving = (tokens: number, part: Pattern): Pattern => ({ kind: 'reserving', part, tokens });

export const ANY_BYTE: Pattern = byteOf([0x00, 0xff]);

/** This exact text, in UTF-8. */
export const literal = (text: string): Pattern =>
  sequence(...[...new TextEncoder().encode(text)].map((byte) => byteOf([byte, byte])));

/** This text, ignoring the case of ASCII letters. */
export const literalInAnyCase = (text: string): Pattern =>
  sequence(...[...text].map((character) =>
    /[a-z]/i.test(character) ? oneOf(character.toLowerCase() + character.toUpperCase()) : literal(character)));

/** One of the characters of `characters`. */
export const oneOf = (characters: string): Pattern =>
  codePoints(...[...characters].map((character) => [character, character] as const));

const SURROGATES = [0xd800, 0xdfff] as const;

/** The first code point of each length of UTF-8 encoding, and the end of the last. */
const LENGTH_LIMITS = [0x00, 0x80, 0x800, 0x1_0000, 0x11_0000] as const;

/** One character of the given inclusive ranges, in valid UTF-8. Surrogates have no encoding and are excluded. */
export function codePoints(...ranges: readonly (readonly [first: string, last: string])[]): Pattern {
  const alternatives: Pattern[] = [];
  for (const [firstCharacter, lastCharacter] of ranges) {
    const first = firstCharacter.codePointAt(0) ?? 0;
    const last = lastCharacter.codePointAt(0) ?? 0;
    for (const [low, high] of [[first, Math.min(last, SURROGATES[0] - 1)], [Math.max(first, SURROGATES[1] + 1), last]] as const) {
      for (let length = 1; length < LENGTH_LIMITS.length; length += 1) {
        const from = Math.max(low, LENGTH_LIMITS[length - 1] as number);
        const to = Math.min(high, (LENGTH_LIMITS[length] as number) - 1);
        if (from <= to) alternatives.push(...encodings(from, to, length));
      }
    }
  }
  return alternatives.length === 1 ? (alternatives[0] as Pattern) : choice(...alternatives);
}

/**
 * The UTF-8 encodings of `from` to `to`, all of `length` bytes, as sequences of byte ranges. In one sequence, if the leading bytes
 * differ, the trailing bytes must cover their whole range. The ends are split off until that holds.
 */
function encodings(from: number, to: number, length: number): Pattern[] {
  for (let trailing = 1; trailing < length; trailing += 1) {
    const mask = 64 ** trailing - 1;
    if (Math.floor(from / (mask + 1)) === Math.floor(to / (mask + 1))) continue;
    const split = (first: number): Pattern[] => [...encodings(from, first - 1, length), ...encodings(first, to, length)];
    if ((from & mask) !== 0) return split((from | mask) + 1);
    if ((to & mask) !== mask) return split(to & ~mask);
  }
  const encode = (codePoint: number): Uint8Array => new TextEncoder().encode(String.fromCodePoint(codePoint));
  const [low, high] = [encode(from), encode(to)];
  return [sequence(...[...low].map((byte, index) => byteOf([byte, high[index] as number])))];
}
