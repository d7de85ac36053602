import { redactText } from '../../common/secrets/secrets.ts';
import type { EarlierChange } from '../../protocol/earlier.ts';
import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { EarlierTold } from '../../workflow/earlier-told.ts';
import { picturesSentence } from '../pictures-sentence.ts';
import { exchangesOf } from './told-conversation.ts';
import { clipExchanges, clipMiddle, EARLIER_TOKENS } from './clip-exchanges.ts';

/** Tokens of a change that is shown as text, because it does not fit any more. */
const LOST_TOKENS = 2_000;

export interface ToldOptions {
  /** At most so many for the exchanges. */
  readonly tokens?: number;
  /** Whether the model is shown the pictures that came with earlier questions. */
  readonly seesPictures?: boolean;
}

/** What a model is told of the conversation; undefined if the run continues from nothing. */
export function toldEarlier(
  { earlier, conversation }: Pick<RunSnapshot, 'earlier' | 'conversation'>, { tokens = EARLIER_TOKENS, seesPictures = false }: ToldOptions = {},
): EarlierTold | undefined {
  const all = conversation ? exchangesOf(conversation) : earlier?.exchanges;
  if (!all || (conversation && all.length === 0)) return undefined;
  const exchanges = clipExchanges(all, tokens);
  const told = exchanges.filter(({ isTold }) => isTold);
  return {
    exchanges: told.map(({ question, pictures = [], result, answer }) => {
      const words = picturesSentence(pictures, seesPictures);
      return { question, ...(words !== undefined && { pictures: words }), result, answer };
    }),
    leftOut: all.length - told.length,
    ...(earlier?.change && { note: NOTES[earlier.change.state] }),
    ...(earlier?.change?.state === 'lost' && { lostChange: clipMiddle(redactText(diffOf(earlier.change)), Math.min(LOST_TOKENS, tokens)) }),
  };
}

const NOTES = {
  there: 'The project has the change of the last answer. Build on it, and do not make it again.',
  pending: 'The files that you are shown have the change of the last answer. Build on it, and do not make it again.',
  lost: 'The project does not have the change of the last answer, and it does not fit any more. It is shown only; make again what is still wanted of it.',
} as const satisfies Record<EarlierChange['state'], string>;

const diffOf = ({ edits }: EarlierChange): string => edits.map(({ diff }) => diff.trimEnd()).join('\n');
