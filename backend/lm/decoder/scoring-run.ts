import type { Adapter } from '../adapter/read-adapter.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type Feeds, float32s, int64s, type Values } from '../graph/session.ts';
import { continuedRows, idleRows, sharesPrompt, wholeRows } from './continued-rows.ts';
import { requireNumber } from './not-a-number-error.ts';
import { checkTemperature, checkTokens, ModelRequestError } from './request-error.ts';
import { PLACES_AT_ONCE } from './scoring.ts';

export interface ScoringRequest {
  readonly sequences: readonly (readonly number[])[];
  /** The number of tokens of each sequence that are its prompt and not scored; at least 1. */
  readonly promptLengths: readonly number[];
  readonly temperature?: number | undefined;
  readonly adapter?: Adapter | undefined;
}

/** Returns undefined if there is nothing to score. */
export function scoringFeeds(request: ScoringRequest, config: DecoderConfig, contextLength: number): Feeds | undefined {
  const { temperature = 1 } = request;
  checkTemperature(temperature);
  checkSequences(request, config, contextLength);
  const rows = sharesPrompt(request) ? continuedRows(request, 'scored') : wholeRows(request, 'scored');
  return rows && {
    ...rows.feeds,
    blocks: int64s([], [rows.blocks]),
    from: int64s([rows.blocks, PLACES_AT_ONCE], rows.from),
    targets: int64s([rows.blocks, PLACES_AT_ONCE], rows.targets),
    scoringTemperature: float32s([], [temperature]),
  };
}

/** @throws ModelRequestError if a prompt length, a token id or a sequence's length is not valid for this model */
export function checkSequences(
  { sequences, promptLengths }: Pick<ScoringRequest, 'sequences' | 'promptLengths'>, config: DecoderConfig, contextLength: number,
): void {
  if (sequences.length !== promptLengths.length) {
    throw new ModelRequestError(`There are ${sequences.length} sequences and ${promptLengths.length} prompt lengths.`);
  }
  const width = Math.max(0, ...sequences.map((sequence) => sequence.length));
  if (width > contextLength) throw new ModelRequestError(`A sequence has ${width} tokens, and the model's context ends at ${contextLength}.`);
  sequences.forEach((sequence, row) => {
    checkTokens(sequence, config.vocabularySize, `Sequence ${row}`);
    const promptLength = promptLengths[row] as number;
    if (!Number.isInteger(promptLength) || promptLength < 1 || promptLength > sequence.length) {
      throw new ModelRequestError(`Sequence ${row} has ${sequence.length} tokens, and its prompt length is ${promptLength}; it must be from 1 to that.`);
    }
  });
}

/** @throws NotANumberError */
export function scoresOf({ sequences, promptLengths }: ScoringRequest, scores: Values): number[][] {
  const all = Array.from(scores.data as Float32Array);
  let taken = 0;
  return sequences.map((sequence, row) => {
    const count = sequence.length - (promptLengths[row] as number);
    taken += count;
    return all.slice(taken - count, taken).map(requireNumber);
  });
}

/** Inputs of scoring while the graph generates. During training the scoring program runs too, so it gets a single token and scores nothing. */
export function idleScoring(tokens: 0 | 1 = 0): Feeds {
  return {
    ...idleRows('scored', tokens),
    blocks: int64s([], [0]),
    from: int64s([0, PLACES_AT_ONCE], []),
    targets: int64s([0, PLACES_AT_ONCE], []),
    scoringTemperature: float32s([], [1]),
  };
}
