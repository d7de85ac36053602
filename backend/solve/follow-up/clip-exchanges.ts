import { redactText } from '../../common/secrets/secrets.ts';
import { tokensOf } from '../../context/tokens.ts';
import type { Exchange } from '../../protocol/earlier.ts';

/*
 * How much of a conversation the models of a run are told. The newest exchange says most of what the question is about, so each exchange,
 * from the newest to the oldest, gets at most half of the room that is left. What one does not need is left for those before it.
 */

/** Tokens of all earlier exchanges together. A question is sent with 12,000 tokens of its project. */
export const EARLIER_TOKENS = 4_000;
/** With less room an exchange is not told: its question alone would be cut to nothing. */
const LEAST_TOKENS = 100;
/** Shares of an exchange's room. Its answer has the rest. */
const [QUESTION_SHARE, RESULT_SHARE] = [0.25, 0.1];
/** Of an exchange that is not told, for people. */
const QUESTION_TOKENS = 60;
/** A conversation is shown so far back. */
const MAX_EXCHANGES = 50;

/** The exchanges with what is told of them, oldest first. Lines that look like secrets are left out, as in the context. */
export function clipExchanges(exchanges: readonly Exchange[], tokens = EARLIER_TOKENS): Exchange[] {
  let left = tokens;
  return exchanges.slice(-MAX_EXCHANGES).toReversed().map((exchange) => {
    const room = Math.floor(left / 2);
    if (room < LEAST_TOKENS || !exchange.isTold) {
      left = 0;
      return { ...exchange, question: clipMiddle(redactText(exchange.question), QUESTION_TOKENS), answer: '', isTold: false };
    }
    const question = clipMiddle(redactText(exchange.question), room * QUESTION_SHARE);
    const result = clipMiddle(redactText(exchange.result), room * RESULT_SHARE);
    const answer = clipMiddle(redactText(exchange.answer), room - tokensOf(question) - tokensOf(result));
    left -= tokensOf(question) + tokensOf(result) + tokensOf(answer);
    return { ...exchange, question, result, answer };
  }).toReversed();
}

/** Keeps the beginning and the end of a text: both tell more than its middle. */
export function clipMiddle(text: string, tokens: number): string {
  if (tokensOf(text) <= tokens) return text;
  const mark = '\n[… left out …]\n';
  const fits = (characters: number): boolean => tokensOf(parts(characters)) <= tokens;
  const parts = (characters: number): string =>
    text.slice(0, Math.ceil(characters * 0.6)).toWellFormed() + mark + text.slice(text.length - Math.floor(characters * 0.4)).toWellFormed();
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return parts(low);
}
