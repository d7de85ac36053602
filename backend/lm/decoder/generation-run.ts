import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Adapter } from '../adapter/read-adapter.ts';
import type { TokenAutomaton } from '../automaton/token-automaton.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { bools, type Feeds, float32s, int64s, type Session, type Values } from '../graph/session.ts';
import { uniform } from './noise.ts';
import { checkTokens, ModelRequestError } from './request-error.ts';

export interface GenerationRequest {
  readonly prompts: readonly (readonly number[])[];
  /** Continuations of each prompt. */
  readonly samples: number;
  readonly maxTokens: number;
  /** 0 takes the likeliest token each time. */
  readonly temperature: number;
  /** 1 for all tokens. */
  readonly topP: number;
  /** 0 for all tokens. */
  readonly topK: number;
  /** One a row, prompt · samples + sample. */
  readonly seeds: readonly number[];
  readonly stopTokenIds: readonly number[];
  /** Texts that it does not accept are never drawn. */
  readonly automaton?: TokenAutomaton | undefined;
  readonly adapter?: Adapter | undefined;
  /** So many tokens a run of onnxruntime: the steps of streaming and of cancelling. */
  readonly chunkTokens: number;
  readonly signal?: AbortSignal | undefined;
  readonly onTokens?: ((row: number, tokens: readonly number[]) => void) | undefined;
}

export interface GeneratedRow {
  /** The stop token included, if one came. */
  readonly tokens: readonly number[];
  /** Of each token, under softmax(logits / temperature), or softmax(logits) at temperature 0. */
  readonly logprobs: readonly number[];
  readonly finishReason: 'stop' | 'length';
}

/**
 * Prefixes are padded to a multiple of this: vectorised sums then add up in the same order whatever else is in the batch, and the same seed
 * gives the same tokens.
 */
const PREFIX_STEP = 64;

/** @throws ModelRequestError; the signal's reason once it is aborted, at the end of a chunk. */
export async function generateRows(
  session: Session, config: DecoderConfig, contextLength: number, request: GenerationRequest, shared: Feeds,
): Promise<GeneratedRow[]> {
  check(request, config, contextLength);
  const { prompts, samples, maxTokens, seeds, chunkTokens, signal, onTokens } = request;
  const rows = seeds.length;
  if (rows === 0) return [];
  const results = seeds.map(() => ({ tokens: [] as number[], logprobs: [] as number[], stopped: false }));
  const stops = new Set(request.stopTokenIds);
  const constants: Feeds = { ...shared, ...requestFeeds(request, config) };
  let carried: Feeds = firstFeeds(request, config);

  for (let before = 0; before < maxTokens;) {
    signal?.throwIfAborted();
    const steps = Math.min(chunkTokens, maxTokens - before);
    const draws = new Float32Array(steps * rows);
    for (let step = 0; step < steps; step += 1) seeds.forEach((seed, row) => { draws[step * rows + row] = uniform(seed, before + step); });
    const last = before + steps === maxTokens;
    const chunk = await session.run(
      { ...constants, ...carried, draws: float32s([steps, prompts.length, samples], draws) },
      ['tokens', 'logprobs', ...(last ? [] : carriedOutputs(config, before === 0))],
    );
    takeTokens(chunk.tokens as Values, chunk.logprobs as Values, results, { stops, maxTokens, onTokens });
    if (last || results.every(({ stopped }) => stopped)) break;
    carried = { ...carried, ...nextFeeds(chunk), fresh: bools([], [0]) };
    before += steps;
    // Lets a cancel be heard.
    await nextTurn();
  }
  return results.map(({ tokens, logprobs, stopped }) => ({ tokens, logprobs, finishReason: stopped ? 'stop' : 'length' }));
}

function check({ prompts, samples, maxTokens, temperature, topP, topK, seeds, stopTokenIds, chunkTokens }: GenerationRequest, config: DecoderConfig, contextLength: number): void {
  const demand = (holds: boolean, message: string): void => {
    if (!holds) throw new ModelRequestError(message);
  };
  demand(Number.isInteger(samples) && samples >= 1, `The number of samples must be a whole number from 1, not ${samples}.`);
  demand(Number.isInteger(maxTokens) && maxTokens >= 1, `The number of new tokens must be a whole number from 1, not ${maxTokens}.`);
  demand(Number.isInteger(chunkTokens) && chunkTokens >= 1, `A chunk must have a whole number of tokens from 1, not ${chunkTokens}.`);
  demand(temperature >= 0 && Number.isFinite(temperature), `The temperature must be 0 or more, not ${temperature}.`);
  demand(topP > 0 && topP <= 1, `top-p must be above 0 and at most 1, not ${topP}.`);
  demand(Number.isInteger(topK) && topK >= 0, `top-k must be a whole number from 0, not ${topK}.`);
  demand(seeds.length === prompts.length * samples, `${prompts.length * samples} rows need as many seeds, not ${seeds.length}.`);
  checkTokens(stopTokenIds, config.vocabularySize, 'The list of stop tokens');
  prompts.forEach((prompt, index) => {
    demand(prompt.length > 0, `Prompt ${index} is empty; it needs at least one token.`);
    checkTokens(prompt, config.vocabularySize, `Prompt ${index}`);
    demand(prompt.length + maxTokens <= contextLength,
      `Prompt ${index} has ${prompt.length} tokens; with ${maxTokens} new ones it passes the context of ${contextLength}.`);
  });
}

/** What stays the same in every chunk of a request. */
function requestFeeds({ prompts, seeds, temperature, topP, topK, maxTokens, stopTokenIds, automaton }: GenerationRequest, config: DecoderConfig): Feeds {
  const rows = seeds.length;
  const prefixes = prompts.map((prompt) => prompt.slice(0, -1));
  const length = Math.ceil(Math.max(1, ...prefixes.map((prefix) => prefix.length)) / PREFIX_STEP) * PREFIX_STEP;
  const stops = new Uint8Array(config.vocabularySize);
  for (const id of stopTokenIds) stops[id] = 1;
  return {
    ids: int64s([prompts.length, length], prefixes.flatMap((prefix) => [...prefix, ...new Array<number>(length - prefix.length).fill(0)])),
    lengths: int64s([prompts.length], prefixes.map((prefix) => prefix.length)),
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

function firstFeeds({ prompts, samples, seeds, automaton }: GenerationRequest, config: DecoderConfig): Feeds {
  const rows = seeds.length;
  return {
    fresh: bools([], [1]),
    pending: int64s([rows], prompts.flatMap((prompt) => new Array<number>(samples).fill(prompt.at(-1) as number))),
    done: bools([rows], new Uint8Array(rows)),
    state: int64s([rows], new Array<number>(rows).fill(automaton?.start ?? 0)),
    ...emptyCaches(config, rows),
  };
}

function emptyCaches({ layers, keyValueHeads, headSize }: DecoderConfig, rows: number): Feeds {
  const prefix = float32s([0, keyValueHeads, 0, headSize], []);
  const tail = float32s([rows, keyValueHeads, 0, headSize], []);
  return Object.fromEntries(cacheNames(layers, 'prefix').map((name) => [name, prefix]).concat(cacheNames(layers, 'tail').map((name) => [name, tail])));
}

const cacheNames = (layers: number, cache: 'prefix' | 'tail'): string[] =>
  Array.from({ length: layers }, (_, layer) => [`${cache}.${layer}.key`, `${cache}.${layer}.value`]).flat();

/** The prefixes come out once; they do not change. */
function carriedOutputs({ layers }: DecoderConfig, first: boolean): string[] {
  return ['pending', 'done', 'state', ...cacheNames(layers, 'tail'), ...(first ? cacheNames(layers, 'prefix') : [])].map((name) => `next.${name}`);
}

function nextFeeds(chunk: Readonly<Record<string, Values>>): Feeds {
  return Object.fromEntries(Object.entries(chunk).flatMap(([name, values]) => (name.startsWith('next.') ? [[name.slice(5), values]] : [])));
}

interface Taking {
  readonly stops: ReadonlySet<number>;
  readonly maxTokens: number;
  readonly onTokens: GenerationRequest['onTokens'];
}

function takeTokens(
  tokens: Values, logprobs: Values, results: readonly { tokens: number[]; logprobs: number[]; stopped: boolean }[], { stops, onTokens }: Taking,
): void {
  const [steps = 0, rows = 0] = tokens.shape;
  results.forEach((result, row) => {
    const fresh: number[] = [];
    for (let step = 0; step < steps && !result.stopped; step += 1) {
      const token = Number((tokens.data as BigInt64Array)[step * rows + row]);
      fresh.push(token);
      result.logprobs.push((logprobs.data as Float32Array)[step * rows + row] as number);
      result.stopped = stops.has(token);
    }
    result.tokens.push(...fresh);
    if (fresh.length > 0) onTokens?.(row, fresh);
  });
}

/** What the generating side is fed while the graph scores. */
export function idleGeneration(config: DecoderConfig): Feeds {
  return {
    ids: int64s([0, 0], []), lengths: int64s([0], []), fresh: bools([], [0]), pending: int64s([0], []), done: bools([0], []),
    draws: float32s([0, 0, 0], []), temperature: float32s([0, 1], []), topP: float32s([0, 1], []), topK: int64s([0, 1], []),
    restricted: bools([], [0]), limits: int64s([0], []), stops: bools([config.vocabularySize], new Uint8Array(config.vocabularySize)),
    state: int64s([0], []), ...automatonFeeds(undefined, config.vocabularySize), ...emptyCaches(config, 0),
  };
}
