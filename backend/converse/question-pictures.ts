import { picturesIn, type SpokenMessage } from '../protocol/conversation.ts';
import { PictureError, takenPictures, withoutData, type Picture } from '../protocol/pictures.ts';
import { TurnError } from './turn-error.ts';

/*
 * The pictures of the person's newest message are those of the run's question, as in every other run. So the journal has them once: its
 * conversation only names them.
 */

/** Position of the person's newest message; -1 if nobody said anything. */
export const newestOf = (messages: readonly SpokenMessage[]): number => messages.findLastIndex(({ role }) => role === 'user');

/** The pictures of the newest message, and the messages without their data. */
export function partedPictures(messages: readonly SpokenMessage[]): { readonly messages: SpokenMessage[]; readonly pictures: Picture[] } {
  const index = newestOf(messages);
  const newest = messages[index];
  const pictures = newest ? [...picturesIn(newest)] : [];
  return { messages: withPictures(messages, index, withoutData(pictures)), pictures };
}

/** The messages with these pictures in the one at the position. */
export function withPictures(messages: readonly SpokenMessage[], index: number, pictures: readonly Picture[] = []): SpokenMessage[] {
  return messages.map((message, at) => (at === index && message.role === 'user' && pictures.length > 0 ? { ...message, pictures: [...pictures] } : message));
}

/** What is said of each picture that a worker may be shown is read from its bytes. @throws TurnError for one that no model takes */
export function checkedMessages(messages: readonly SpokenMessage[]): SpokenMessage[] {
  try {
    return messages.map((message) => {
      const pictures = picturesIn(message);
      return pictures.every(({ data }) => data === '') ? message : { ...message, pictures: takenPictures(pictures) };
    });
  } catch (error) {
    if (error instanceof PictureError) throw new TurnError('invalid-request', error.message);
    throw error;
  }
}
