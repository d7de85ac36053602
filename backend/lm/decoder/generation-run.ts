import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Adapter } from '../adapter/read-adapter.ts';
import type { TokenAutomaton } from '../automaton/token-automaton.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { bools, type Feeds, type Session, type Values } from '../graph/session.ts';
import {
  carriedFeeds, carriedOutputs, drawFeeds, paddedLength, prefixInputs, prefixOutputs, promptFeeds, samplingFeeds, startFeeds,
} from './generation-feeds.ts';
import { checkTemperature, checkTokens, ModelRequestError } from './request-error.ts';

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

/** Prompts are read in groups of about so many tokens, padding included: what a pass holds besides weights and caches grows with them. */
const TOKENS_AT_ONCE = 4096;

/** @throws ModelRequestError; the signal's reason once it is aborted, at the end of a run. */
export async function generateRows(
  session: Session, config: DecoderConfig, contextLength: number, request: GenerationRequest, shared: Feeds,
): Promise<GeneratedRow[]> {
  check(request, config, contextLength);
  const { prompts, maxTokens, seeds, chunkTokens, signal, onTokens } = request;
  if (seeds.length === 0) return [];
  const length = paddedLength(Math.max(...prompts.map((prompt) => prompt.length - 1)));
  const constants: Feeds = { ...shared, ...samplingFeeds(request, config), ...promptFeeds(prompts, length) };
  let carried: Feeds = { ...startFeeds(request, config), ...(await readAhead(session, config, request, length, shared)) };
  const results = seeds.map(() => ({ tokens: [] as number[], logprobs: [] as number[], stopped: false }));
  const stops = new Set(request.stopTokenIds);

  for (let before = 0; before < maxTokens;) {
    signal?.throwIfAborted();
    const steps = Math.min(chunkTokens, maxTokens - before);
    const last = before + steps === maxTokens;
    const outputs = ['tokens', 'logprobs', ...(last ? [] : carriedOutputs(config, { prefixes: before === 0 }))];
    const chunk = await session.run({ ...constants, ...carried, ...drawFeeds(request, before, steps) }, outputs);
    takeTokens(chunk.tokens as Values, chunk.logprobs as Values, results, { stops, onTokens });
    if (last || results.every(({ stopped }) => stopped)) break;
    carried = { ...carried, ...carriedFeeds(chunk) };
    before += steps;
    // Lets a cancel be heard.
    await nextTurn();
  }
  return results.map(({ tokens, logprobs, stopped }) => ({ tokens, logprobs, finishReason: stopped ? 'stop' : 'length' }));
}

/** The prompts' caches, read group by group in runs that draw no token. Nothing where the first chunk can read all prompts at once. */
async function readAhead(
  session: Session, config: DecoderConfig, { prompts, signal, ...request }: GenerationRequest, length: number, shared: Feeds,
): Promise<Feeds> {
  const together = Math.max(1, Math.floor(TOKENS_AT_ONCE / length));
  if (prompts.length <= together) return {};
  const groups: Feeds[] = [];
  for (let first = 0; first < prompts.length; first += together) {
    signal?.throwIfAborted();
    const some = prompts.slice(first, first + together);
    const group = { ...request, prompts: some, samples: 1, seeds: some.map(() => 0) };
    const feeds = { ...shared, ...samplingFeeds(group, config), ...promptFeeds(some, length), ...startFeeds(group, config), ...drawFeeds(group, 0, 0) };
    groups.push(carriedFeeds(await session.run(feeds, prefixOutputs(config))));
    await nextTurn();
  }
  const caches = prefixInputs(config).map((name) => [name, stacked(groups.map((group) => group[name] as Values))] as const);
  return { ...Object.fromEntries(caches), fresh: bools([], [0]) };
}

/** Joins tensors along their first axis. */
function stacked(parts: readonly Values[]): Values {
  const [first] = parts as readonly [Values];
  const arrays = parts.map(({ data }) => data as Float32Array);
  const data = new Float32Array(arrays.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of arrays) {
    data.set(part, offset);
    offset += part.length;
  }
  const rows = parts.reduce((count, { shape }) => count + (shape[0] as number), 0);
  return { ...first, shape: [rows, ...first.shape.slice(1)], data };
}

function check(request: GenerationRequest, config: DecoderConfig, contextLength: number): void {
  const { prompts, samples, maxTokens, temperature, topP, topK, seeds, stopTokenIds, automaton, chunkTokens } = request;
  const demand = (holds: boolean, message: string): void => {
    if (!holds) throw new ModelRequestError(message);
  };
  demand(Number.isInteger(samples) && samples >= 1, `The number of samples must be a whole number from 1, not ${samples}.`);
  demand(Number.isInteger(maxTokens) && maxTokens >= 1, `The number of new tokens must be a whole number from 1, not ${maxTokens}.`);
  demand(Number.isInteger(chunkTokens) && chunkTokens >= 1, `A chunk must have a whole number of tokens from 1, not ${chunkTokens}.`);
  if (temperature !== 0) checkTemperature(temperature);
  demand(topP > 0 && topP <= 1, `top-p must be above 0 and at most 1, not ${topP}.`);
  demand(Number.isSafeInteger(topK) && topK >= 0, `top-k must be a whole number from 0, not ${topK}.`);
  demand(seeds.length === prompts.length * samples, `${prompts.length * samples} rows need as many seeds, not ${seeds.length}.`);
  const seed = seeds.find((number) => !Number.isInteger(number));
  demand(seed === undefined, `A seed must be a whole number, not ${seed}.`);
  checkTokens(stopTokenIds, config.vocabularySize, 'The list of stop tokens');
  const fewest = automaton?.distance[automaton.start] ?? 0;
  demand(fewest <= maxTokens, `The answer must have a form that takes at least ${fewest} tokens, and ${maxTokens} are allowed.`);
  prompts.forEach((prompt, index) => {
    demand(prompt.length > 0, `Prompt ${index} is empty; it needs at least one token.`);
    checkTokens(prompt, config.vocabularySize, `Prompt ${index}`);
    demand(prompt.length + maxTokens <= contextLength,
      `Prompt ${index} has ${prompt.length} tokens; with ${maxTokens} new ones it passes the context of ${contextLength}.`);
  });
}

interface Taking {
  readonly stops: ReadonlySet<number>;
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
