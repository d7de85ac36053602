/*
 * Tokens are estimated, because every worker counts with another tokenizer and the budget must hold for all of them. English and
 * code come to about four characters a token (https://help.openai.com/en/articles/4936856); 3.5 leaves room for dense code. Other
 * scripts reach one token a character, so each of their UTF-16 units counts as a whole token.
 *
 * Sums are kept in sevenths of a token, so that they are exact: two for an ASCII character, seven for any other.
 */

const UNITS_PER_TOKEN = 7;
const UNITS_PER_ASCII_CHARACTER = 2;

export function unitsOf(text: string): number {
  let others = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) others += 1;
  return (text.length - others) * UNITS_PER_ASCII_CHARACTER + others * UNITS_PER_TOKEN;
}

export function unitsIn(tokens: number): number {
  return Math.max(0, Math.floor(tokens)) * UNITS_PER_TOKEN;
}

/** Estimated tokens of a text, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(unitsOf(text) / UNITS_PER_TOKEN);
}
