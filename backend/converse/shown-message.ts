import type { SpokenMessage } from '../protocol/conversation.ts';
import { pictureWords } from '../protocol/pictures.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { isShownPictures, sentPicture } from '../solve/told-pictures.ts';
import type { ConversationMessage } from '../workers/model.ts';

/** A client's message as a worker is sent it: with its pictures, or with words in their place. */
export function shownMessage(message: SpokenMessage, worker: WorkerConfig | undefined): ConversationMessage {
  if (message.role === 'system' || message.role === 'assistant') return message;
  const { pictures = [], ...said } = message;
  const sees = isShownPictures(worker);
  const shown = sees ? pictures.filter(({ data }) => data !== '').map((picture) => sentPicture(worker, picture)) : [];
  const words = pictures.filter(({ data }) => !sees || data === '').map((picture) => `[A picture (${pictureWords(picture)}), which you ${sees ? 'are not shown any more' : 'cannot see'}.]`);
  return { ...said, content: [said.content, ...words].filter((text) => text !== '').join('\n\n'), ...(shown.length > 0 && { pictures: shown }) };
}
