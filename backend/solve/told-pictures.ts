import { seesPictures, type Picture } from '../protocol/pictures.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { pictureTokens } from '../workers/limits/picture-tokens.ts';
import type { SentPicture } from '../workers/model.ts';
import { clipExchanges } from './follow-up/clip-exchanges.ts';
import { exchangesOf } from './follow-up/told-conversation.ts';
import { picturesSentence } from './pictures-sentence.ts';

/** Whether a worker is shown pictures; nobody is not. */
export function isShownPictures(worker: WorkerConfig | undefined): worker is WorkerConfig {
  return worker !== undefined && seesPictures(worker);
}

/**
 * What a worker is told and shown of the pictures of a run: those of earlier questions come first, as the text names them. Undefined if there
 * are none, in the question or before.
 */
export function toldPictures(
  { request, earlier, conversation }: Pick<RunSnapshot, 'request' | 'earlier' | 'conversation'>, worker: WorkerConfig | undefined,
): { readonly words: string; readonly shown: readonly SentPicture[] } | undefined {
  const own = request.pictures ?? [];
  const exchanges = conversation ? clipExchanges(exchangesOf(conversation)) : earlier?.exchanges ?? [];
  const all = [...exchanges.flatMap(({ isTold, pictures = [] }) => (isTold ? pictures : [])), ...own];
  if (all.length === 0) return undefined;
  const shown = isShownPictures(worker) ? all.filter(({ data }) => data !== '').map((picture) => sentPicture(worker, picture)) : [];
  return { words: picturesSentence(own, isShownPictures(worker)) ?? '', shown };
}

/** @param worker one that is shown pictures */
export function sentPicture(worker: WorkerConfig, { type, data, width, height }: Picture): SentPicture {
  return { type, data, tokens: pictureTokens(worker, { width, height }) };
}
