import type { Adapter } from '../adapter/read-adapter.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type Feeds, float32s, int64s, type Values } from '../graph/session.ts';
import { requireNumber } from './not-a-number-error.ts';
import { checkTemperature, checkTokens, ModelRequestError } from './request-error.ts';
import { PLACES_AT_ONCE } from './scoring.ts';

export interface ScoringRequest {
  readonly sequences: readonly (readonly number[])[];
  /** How many tokens of each sequence are given and not scored, from 1. */
  readonly promptLengths: readonly number[];
  readonly temperature?: number | undefined;
  readonly adapter?: Adapter | undefined;
}

/** undefined where there is nothing to score. */
export function scoringFeeds({ sequences, promptLengths, temperature = 1 }: ScoringRequest, config: DecoderConfig, contextLength: number): Feeds | undefined {
  if (sequences.length !== promptLengths.length) {
    throw new ModelRequestError(`There are ${sequences.length} sequences and ${promptLengths.length} prompt lengths.`);
  }
  checkTemperature(temperature);
  const width = Math.max(0, ...sequences.map((sequence) => sequence.length));
  if (width > contextLength) throw new ModelRequestError(`A sequence has ${width} tokens, and the model's context ends at ${contextLength}.`);
  const from: number[] = [];
  const targets: number[] = [];
  sequences.forEach((sequence, row) => {
    checkTokens(sequence, config.vocabularySize, `Sequence ${row}`);
    const promptLength = promptLengths[row] as number;
    if (!Number.isInteger(promptLength) || promptLength < 1 || promptLength > sequence.length) {
      throw new ModelRequestError(`Sequence ${row} has ${sequence.length} tokens, and its prompt length is ${promptLength}; it must be from 1 to that.`);
    }
    for (let place = promptLength; place < sequence.length; place += 1) {
      from.push(row * width + place - 1);
      targets.push(sequence[place] as number);
    }
  });
  if (targets.length === 0) return undefined;
  const blocks = Math.ceil(targets.length / PLACES_AT_ONCE);
  return {
    sequences: int64s([sequences.length, width], sequences.flatMap((sequence) => padded(sequence, width))),
    from: int64s([blocks, PLACES_AT_ONCE], padded(from, blocks * PLACES_AT_ONCE)),
    targets: int64s([blocks, PLACES_AT_ONCE], padded(targets, blocks * PLACES_AT_ONCE)),
    scoringTemperature: float32s([], [temperature]),
  };
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

/** What the scoring side is fed while the graph generates. */
export function idleScoring(): Feeds {
  return {
    sequences: int64s([0, 0], []),
    from: int64s([0, PLACES_AT_ONCE], []),
    targets: int64s([0, PLACES_AT_ONCE], []),
    scoringTemperature: float32s([], [1]),
  };
}

const padded = (values: readonly number[], length: number): number[] => [...values, ...new Array<number>(length - values.length).fill(0)];
