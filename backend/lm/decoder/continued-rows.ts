import { type Feeds, int32s, int64s } from '../graph/session.ts';
import type { Use } from './continued-prompts.ts';
import { PLACES_AT_ONCE } from './scoring.ts';

export interface PromptedSequences {
  readonly sequences: readonly (readonly number[])[];
  /** The number of tokens of each sequence that are its prompt; at least 1. */
  readonly promptLengths: readonly number[];
}

export interface ContinuedRows {
  readonly feeds: Feeds;
  /** The number of blocks of PLACES_AT_ONCE that the completion tokens fill. */
  readonly blocks: number;
  /** For each completion token, the index of the token before it (in the row of all prompts, then all completions) and its id; padded with 0. */
  readonly from: readonly number[];
  readonly targets: readonly number[];
}

/** Sequences as inputs of the graph. If all have the same prompt, it is fed once. Returns undefined if all completions are empty. */
export function continuedRows(request: PromptedSequences, use: Use): ContinuedRows | undefined {
  const { sequences, promptLengths } = request;
  const rows = sequences.map((sequence, row) => ({ prompt: sequence.slice(0, promptLengths[row]), completion: sequence.slice(promptLengths[row]) }));
  const isShared = haveOnePrompt(request);
  const prompts = (isShared ? rows.slice(0, 1) : rows).map(({ prompt }) => prompt);
  const completions = rows.map(({ completion }) => completion);
  const promptLength = longest(prompts);
  const length = longest(completions);
  if (length === 0) return undefined;
  const places = completions.flatMap((completion, row) => completion.map((_, place) => {
    // The token before a completion's first is the last of its prompt.
    const first = (isShared ? 0 : row) * promptLength + prompts[isShared ? 0 : row]!.length;
    return (place === 0 ? first : prompts.length * promptLength + row * length + place) - 1;
  }));
  return { feeds: feedsOf(use, prompts, completions), ...inBlocks(places, completions.flat()) };
}

/**
 * The same, with each whole sequence fed as a prompt without a completion: attention over prompts uses the fastest kernel, which holds no
 * [length, length] scores.
 */
export function wholeRows({ sequences, promptLengths }: PromptedSequences, use: Use): ContinuedRows | undefined {
  const width = longest(sequences);
  const places = sequences.flatMap((sequence, row) =>
    Array.from({ length: sequence.length - promptLengths[row]! }, (_, place) => row * width + promptLengths[row]! + place - 1));
  if (places.length === 0) return undefined;
  // One padding token for each, because kernels do not expect empty tensors.
  return { feeds: feedsOf(use, sequences, sequences.map(() => [0])), ...inBlocks(places, sequences.flatMap((sequence, row) => sequence.slice(promptLengths[row]))) };
}

/** Inputs for a program that is not used: `tokens` padding tokens. */
export const idleRows = (use: Use, tokens: 0 | 1): Feeds => feedsOf(use, tokens === 0 ? [] : [[0]], tokens === 0 ? [] : [[0]]);

function feedsOf(use: Use, prompts: readonly (readonly number[])[], completions: readonly (readonly number[])[]): Feeds {
  const [promptLength, length] = [longest(prompts), longest(completions)];
  return {
    [`${use} prompts`]: int64s([prompts.length, promptLength], prompts.flatMap((prompt) => padded(prompt, promptLength))),
    [`${use} longestPrompt`]: int32s([], [promptLength]),
    [`${use} promptLengths`]: int64s([prompts.length], prompts.map((prompt) => prompt.length)),
    [`${use} completions`]: int64s(
      [prompts.length, prompts.length === 0 ? 0 : completions.length / prompts.length, length], completions.flatMap((completion) => padded(completion, length)),
    ),
  };
}

function inBlocks(from: readonly number[], targets: readonly number[]): Pick<ContinuedRows, 'blocks' | 'from' | 'targets'> {
  const blocks = Math.ceil(targets.length / PLACES_AT_ONCE);
  return { blocks, from: padded(from, blocks * PLACES_AT_ONCE), targets: padded(targets, blocks * PLACES_AT_ONCE) };
}

const longest = (rows: readonly (readonly number[])[]): number => Math.max(0, ...rows.map((row) => row.length));

const padded = (values: readonly number[], length: number): number[] => [...values, ...new Array<number>(length - values.length).fill(0)];

/** Whether there are several sequences and all have the same prompt. */
export const sharesPrompt = (request: PromptedSequences): boolean => request.sequences.length > 1 && haveOnePrompt(request);

function haveOnePrompt({ sequences, promptLengths }: PromptedSequences): boolean {
  const [first = [], ...others] = sequences.map((sequence, row) => sequence.slice(0, promptLengths[row]));
  return others.every((prompt) => haveSameTokens(prompt, first));
}

const haveSameTokens = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((token, place) => token === b[place]);
