import type { Conversation, SpokenMessage } from '../../protocol/conversation.ts';
import type { Exchange } from '../../protocol/earlier.ts';

/**
 * A conversation that another program holds, as the exchanges before its last question. An answer holds what the assistant said and what its
 * tools returned: the steps that advise see nothing else of the project.
 */
export function exchangesOf({ messages }: Pick<Conversation, 'messages'>): Exchange[] {
  const asked = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  return asked.slice(0, -1).map((from, number) => ({
    runId: '', question: textOf(messages[from]), result: '', state: 'completed', isTold: true,
    answer: messages.slice(from + 1, asked[number + 1]).map(textOf).filter((text) => text !== '').join('\n\n'),
  }));
}

const textOf = (message: SpokenMessage | undefined): string => message?.content.trim() ?? '';
