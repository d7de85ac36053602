import { picturesIn, type Conversation, type SpokenMessage } from '../../protocol/conversation.ts';
import type { Exchange } from '../../protocol/earlier.ts';
import { pictureWords } from '../../protocol/pictures.ts';

/**
 * A conversation that another program holds, as the exchanges before its last question. An answer holds what the assistant said and what its
 * tools returned: the steps that advise see nothing else of the project.
 */
export function exchangesOf({ messages }: Pick<Conversation, 'messages'>): Exchange[] {
  const asked = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  return asked.slice(0, -1).map((from, number) => {
    const [question, ...answers] = messages.slice(from, asked[number + 1]);
    const pictures = question ? [...picturesIn(question)] : [];
    return {
      runId: '', question: question?.content.trim() ?? '', ...(pictures.length > 0 && { pictures }), result: '', state: 'completed', isTold: true,
      answer: answers.map(textOf).filter((text) => text !== '').join('\n\n'),
    };
  });
}

/** Of pictures that a tool returned, there are only words. */
function textOf(message: SpokenMessage): string {
  return [message.content.trim(), ...picturesIn(message).map((picture) => `[a picture: ${pictureWords(picture)}]`)].filter((text) => text !== '').join('\n');
}
