import { createHash } from 'node:crypto';
import type { PlanTokens } from '../protocol/run-events.ts';
import type { ModelReply } from '../workers/model.ts';

/** A policy gradient needs no more digits. */
const LOGPROB_DIGITS = 5;

/** What the journal keeps of a plan that a local model sampled; undefined for other models. */
export function planTokens({ tokens }: Pick<ModelReply, 'tokens'>): PlanTokens | undefined {
  if (!tokens) return undefined;
  const { promptTokenIds, tokenIds, logprobs, temperature } = tokens;
  return { prompt: promptDigest(promptTokenIds), ids: [...tokenIds], logprobs: logprobs.map((logprob) => Number(logprob.toFixed(LOGPROB_DIGITS))), temperature };
}

/** Tells whether a prompt that is made again is the one that a plan was sampled from. */
export const promptDigest = (tokenIds: readonly number[]): string => createHash('sha256').update(tokenIds.join(' ')).digest('hex').slice(0, 32);
