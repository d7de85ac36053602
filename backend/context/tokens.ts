/*
 * Tokens are estimated, because workers have different tokenizers and the budget must hold for all of them. English and code have about
 * four characters per token (https://help.openai.com/en/articles/4936856); 3.5 leaves room for dense code. Other scripts have up to one
 * token per character, so each of their UTF-16 units counts as one token.
 *
 * Sums are kept in exact units of a seventh of a token: two for an ASCII character, seven for any other.
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

/** The estimated number of tokens of a text, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(unitsOf(text) / UNITS_PER_TOKEN);
}
