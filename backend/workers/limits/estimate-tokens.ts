import type { Usage } from '../../protocol/usage.ts';
import type { Message } from '../model.ts';

/**
 * Bytes of UTF-8 per token, a low value so that the estimate is high. English and code have about four bytes per token, Chinese and
 * Japanese three (one character); OpenAI's rule of thumb is four characters (https://help.openai.com/en/articles/4936856). Long runs of
 * digits or rare scripts can still exceed the estimate. The usage that the provider reports replaces it.
 */
const BYTES_PER_TOKEN = 3;

/** The role, separators and other tokens that a chat template adds to a message. */
const TOKENS_PER_MESSAGE = 10;

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function estimateTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

export function estimateInputTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + estimateTokens(content) + TOKENS_PER_MESSAGE, 0);
}

/** The usage of a call whose provider reported none. */
export function estimateUsage(messages: readonly Message[], outputBytes: number): Usage {
  return {
    uncachedInput: estimateInputTokens(messages),
    cacheRead: 0,
    cacheWrite: 0,
    output: tokensOfBytes(outputBytes),
    reasoning: 0,
    estimated: true,
  };
}
