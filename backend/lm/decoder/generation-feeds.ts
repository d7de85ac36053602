import type { TokenAutomaton } from '../automaton/token-automaton.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { bools, type Feeds, float32s, int32s, int64s, type Values } from '../graph/session.ts';
import type { GenerationRequest } from './generation-request.ts';
import { uniform } from './noise.ts';

/* Makes the inputs of generation.ts from a request, and those of the next chunk from the outputs of the last. */

/**
 * Prefixes are padded to a multiple of this. Vectorised sums then add up in the same order in any batch, so that a seed always gives the
 * same tokens.
 */
const PREFIX_STEP = 64;

export const paddedLength = (tokens: number): number => Math.ceil(Math.max(1, tokens) / PREFIX_STEP) * PREFIX_STEP;

export function promptFeeds(prompts: readonly (readonly number[])[], length: number): Feeds {
  const ids = prompts.flatMap((prompt) => [...prompt.slice(0, -1), ...new Array<number>(length - prompt.length + 1).fill(0)]);
  return {
    ids: int64s([prompts.length, length], ids), lengths: int64s([prompts.length], prompts.map((prompt) => prompt.length - 1)), length: int32s([], [length]),
  };
}

/** The inputs that are the same in every chunk of a request. */
export function samplingFeeds({ seeds, temperature, topP, topK, maxTokens, stopTokenIds, automaton }: GenerationRequest, config: DecoderConfig): Feeds {
  const rows = seeds.length;
  const stops = new Uint8Array(config.vocabularySize);
  for (const id of stopTokenIds) stops[id] = 1;
  return {
    temperature: float32s([rows, 1], seeds.map(() => temperature)),
    topP: float32s([rows, 1], seeds.map(() => topP)),
    topK: int64s([rows, 1], seeds.map(() => topK)),
    restricted: bools([], [topP < 1 || topK > 0 ? 1 : 0]),
    limits: int64s([rows], seeds.map(() => maxTokens)),
    stops: bools([config.vocabularySize], stops),
    ...automatonFeeds(automaton, config.vocabularySize),
  };
}

function automatonFeeds(automaton: TokenAutomaton | undefined, vocabularySize: number): Feeds {
  const { states, classes, allow, next, classOf, distance } = automaton ?? anything(vocabularySize);
  return {
    allow: bools([states, classes], allow),
    next: int64s([states, classes], next),
    classOf: int64s([vocabularySize], classOf),
    distance: int64s([states], distance),
  };
}

/** One state in which every token is allowed. */
const anything = (vocabularySize: number) =>
  ({ states: 1, classes: 1, allow: [1], next: [0], classOf: new Int32Array(vocabularySize), distance: [0] });

/** The state before the first chunk: empty caches, and the last token of each prompt to feed next. */
export function startFeeds({ prompts, samples, seeds, automaton }: GenerationRequest, config: DecoderConfig): Feeds {
  const rows = seeds.length;
  return {
    fresh: bools([], [1]),
    pending: int64s([rows], prompts.flatMap((prompt) => new Array<number>(samples).fill(prompt.at(-1) as number))),
    done: bools([rows], new Uint8Array(rows)),
    state: int64s([rows], new Array<number>(rows).fill(automaton?.start ?? 0)),
    ...emptyCaches(config, rows),
  };
}

/** Uniform numbers for the next `steps` tokens of every row, after the first `before`. */
export function drawFeeds({ prompts, samples, seeds }: Pick<GenerationRequest, 'prompts' | 'samples' | 'seeds'>, before: number, steps: number): Feeds {
  const draws = new Float32Array(steps * seeds.length);
  for (let step = 0; step < steps; step += 1) seeds.forEach((seed, row) => { draws[step * seeds.length + row] = uniform(seed, before + step); });
  return { draws: float32s([steps, prompts.length, samples], draws), steps: int64s([], [steps]) };
}

function emptyCaches({ layers, keyValueHeads, headSize }: DecoderConfig, rows: number): Feeds {
  const prefix = float32s([0, keyValueHeads, 0, headSize], []);
  const tail = float32s([rows, keyValueHeads, 0, headSize], []);
  return Object.fromEntries(cacheNames(layers, 'prefix').map((name) => [name, prefix]).concat(cacheNames(layers, 'tail').map((name) => [name, tail])));
}

const cacheNames = (layers: number, cache: 'prefix' | 'tail'): string[] =>
  Array.from({ length: layers }, (_, layer) => [`${cache}.${layer}.key`, `${cache}.${layer}.value`]).flat();

/** The outputs that the next chunk needs. Prefixes do not change, so that one chunk returns them. */
export function carriedOutputs({ layers }: DecoderConfig, { prefixes }: { readonly prefixes: boolean }): string[] {
  return [...['pending', 'done', 'state', ...cacheNames(layers, 'tail')].map(asOutput), ...(prefixes ? prefixOutputs({ layers }) : [])];
}

export const prefixInputs = ({ layers }: Pick<DecoderConfig, 'layers'>): string[] => cacheNames(layers, 'prefix');
export const prefixOutputs = (config: Pick<DecoderConfig, 'layers'>): string[] => prefixInputs(config).map(asOutput);

const asOutput = (input: string): string => `next.${input}`;

/** Outputs of a chunk as inputs of the next. */
export function carriedFeeds(chunk: Readonly<Record<string, Values>>): Feeds {
  const carried = Object.entries(chunk).flatMap(([name, values]) => (name.startsWith('next.') ? [[name.slice('next.'.length), values] as const] : []));
  return { ...Object.fromEntries(carried), fresh: bools([], [0]) };
}

/** Keeps only the rows at these indices. */
export function keptRows(carried: Feeds, places: readonly number[], { layers }: Pick<DecoderConfig, 'layers'>): Feeds {
  const kept = ['pending', 'done', 'state', ...cacheNames(layers, 'tail')].map((name) => [name, rowsIn(carried[name] as Values, places)] as const);
  return { ...carried, ...Object.fromEntries(kept) };
}

function rowsIn(values: Values, places: readonly number[]): Values {
  const [rows = 0, ...rest] = values.shape;
  const size = rows === 0 ? 0 : values.data.length / rows;
  const data = values.data.slice(0, places.length * size);
  places.forEach((from, to) => (data as Float32Array).set(values.data.subarray(from * size, (from + 1) * size) as Float32Array, to * size));
  return { ...values, shape: [places.length, ...rest], data };
}

/** Inputs of generation while the graph scores or trains. */
export function idleGeneration(config: DecoderConfig): Feeds {
  return {
    ids: int64s([0, 0], []), lengths: int64s([0], []), length: int32s([], [0]), fresh: bools([], [0]), pending: int64s([0], []), done: bools([0], []),
    draws: float32s([0, 0, 0], []), steps: int64s([], [0]), temperature: float32s([0, 1], []), topP: float32s([0, 1], []), topK: int64s([0, 1], []),
    restricted: bools([], [0]), limits: int64s([0], []), stops: bools([config.vocabularySize], new Uint8Array(config.vocabularySize)),
    state: int64s([0], []), ...automatonFeeds(undefined, config.vocabularySize), ...emptyCaches(config, 0),
  };
}
