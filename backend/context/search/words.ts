/*
 * The words of a text, as they are compared: an identifier is one word in lower case without underscores, and each of its parts is a word
 * without grammatical ending. So `parseFloatValue`, `parse_float_value` and "parsing of float values" have words in common.
 */

export const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lm}]+|[\p{Lo}]+|\p{N}+/gu;
const MAX_LENGTH = 80;

/** The whole identifier first, then its parts if it has several. */
export function wordsOf(identifier: string): string[] {
  if (identifier.length > MAX_LENGTH) return [];
  const parts = identifier.match(PART) ?? [];
  if (parts.length < 2) return parts.map((part) => stem(part.toLowerCase()));
  const whole = parts.join('').toLowerCase();
  const words = parts.filter((part) => part.length > 1).map((part) => stem(part.toLowerCase()));
  return words.includes(whole) ? words : [whole, ...words];
}

/** Without grammatical ending, so that `intervals` and `merging` meet `mergeInterval`. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let bare = word;
  if (bare.endsWith('ies') && bare.length > 4) bare = `${bare.slice(0, -3)}y`;
  else if (/(?:ss|x|ch|sh)es$/.test(bare)) bare = bare.slice(0, -2);
  else if (/[^su]s$/.test(bare)) bare = bare.slice(0, -1);
  if (/(?:ing|ed)$/.test(bare)) {
    const cut = bare.replace(/(?:ing|ed)$/, '');
    if (cut.length >= 3 && /[aeiouy]/.test(cut)) bare = /([^aeiouls])\1$/.test(cut) ? cut.slice(0, -1) : cut;
  }
  return bare.length > 3 && bare.endsWith('e') ? bare.slice(0, -1) : bare;
}
