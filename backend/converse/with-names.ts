import type { SpokenMessage } from '../protocol/conversation.ts';

const nameOf = (message: SpokenMessage): string | undefined => ('name' in message ? message.name : undefined);

/**
 * Says in the text of a message who said it, where not all messages of its role are of the same one, as in a chat of several agents. Most providers
 * have no field for it.
 */
export function withNames(messages: readonly SpokenMessage[]): SpokenMessage[] {
  const isShared = (asked: SpokenMessage['role']): boolean => new Set(messages.flatMap((message) => (message.role === asked ? [nameOf(message)] : []))).size > 1;
  const shared = new Set((['system', 'user', 'assistant'] as const).filter(isShared));
  return messages.map((message) => {
    if (message.role === 'tool' || message.name === undefined) return message;
    const { name, ...unnamed } = message;
    return shared.has(message.role) ? { ...unnamed, content: `${name}: ${message.content}` } : unnamed;
  });
}
