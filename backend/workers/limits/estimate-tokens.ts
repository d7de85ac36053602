import type { Usage } from '../../protocol/usage.ts';
import type { ConversationMessage, ModelRequest } from '../model.ts';

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

/** What a request puts before a model. */
export type ModelInput = Pick<ModelRequest, 'messages' | 'tools'>;

export function estimateInputTokens({ messages, tools = [] }: ModelInput): number {
  const ofTools = tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)) + TOKENS_PER_MESSAGE, 0);
  return messages.reduce((sum, message) => sum + estimateTokens(writtenIn(message)) + picturesIn(message) + TOKENS_PER_MESSAGE, ofTools);
}

function picturesIn(message: ConversationMessage): number {
  return (message.pictures ?? []).reduce((sum, { tokens }) => sum + tokens, 0);
}

/** All text of a message. A verbatim turn repeats the text and the calls. */
function writtenIn(message: ConversationMessage): string {
  if (message.role === 'tool') return message.callId + message.content;
  const { content, toolCalls, verbatim } = message;
  if (verbatim) return JSON.stringify(verbatim.items);
  return toolCalls ? content + JSON.stringify(toolCalls) : content;
}

/** The usage of a call whose provider reported none. */
export function estimateUsage(input: ModelInput, outputBytes: number): Usage {
  return {
    uncachedInput: estimateInputTokens(input),
    cacheRead: 0,
    cacheWrite: 0,
    output: tokensOfBytes(outputBytes),
    reasoning: 0,
    estimated: true,
  };
}
