import type { SpokenMessage } from '../protocol/conversation.ts';

/**
 * OpenAI takes requests in which nobody but the system says something, as chains with one prompt send them. What the system says last before an answer is
 * then the question: nothing else could be planned, and Anthropic's models take no request without one.
 */
export function withQuestion(messages: readonly SpokenMessage[]): SpokenMessage[] {
  const spoken = messages.findIndex(({ role }) => role !== 'system');
  const last = spoken < 0 ? messages.length - 1 : spoken - 1;
  const hasQuestion = messages.some(({ role }) => role === 'user');
  return messages.map((message, index): SpokenMessage => (index === last && !hasQuestion ? { role: 'user', content: message.content } : message));
}
