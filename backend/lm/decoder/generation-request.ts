import type { Adapter } from '../adapter/read-adapter.ts';
import type { TokenAutomaton } from '../automaton/token-automaton.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { checkTemperature, checkTokens, ModelRequestError } from './request-error.ts';

export interface GenerationRequest {
  readonly prompts: readonly (readonly number[])[];
  /** Continuations of each prompt. */
  readonly samples: number;
  readonly maxTokens: number;
  /** 0 always takes the most likely token. */
  readonly temperature: number;
  /** 1 for all tokens. */
  readonly topP: number;
  /** 0 for all tokens. */
  readonly topK: number;
  /** One for each row, prompt · samples + sample. */
  readonly seeds: readonly number[];
  readonly stopTokenIds: readonly number[];
  /** Restricts the result to texts that it accepts. */
  readonly automaton?: TokenAutomaton | undefined;
  readonly adapter?: Adapter | undefined;
  /** The number of tokens in one run of onnxruntime. Tokens are streamed, and an abort takes effect, between runs. */
  readonly chunkTokens: number;
  readonly signal?: AbortSignal | undefined;
  readonly onTokens?: ((row: number, tokens: readonly number[]) => void) | undefined;
}

export interface GeneratedRow {
  /** Including the stop token if there is one. */
  readonly tokens: readonly number[];
  /** Of each token, under softmax(logits / temperature), or softmax(logits) at temperature 0. */
  readonly logprobs: readonly number[];
  readonly finishReason: 'stop' | 'length';
}

export const isForOneRow = ({ prompts, samples, seeds }: GenerationRequest): boolean => prompts.length === 1 && samples === 1 && seeds.length === 1;

/** A request for one row, extended by a copy of that row whose tokens are not reported. */
export const withTwin = ({ seeds, onTokens, ...request }: GenerationRequest): GenerationRequest => ({
  ...request, samples: 2, seeds: [...seeds, ...seeds], onTokens: onTokens && ((row, tokens) => { if (row === 0) onTokens(row, tokens); }),
});

/** @throws ModelRequestError */
export function checkGenerationRequest(request: GenerationRequest, config: DecoderConfig, contextLength: number): void {
  const { prompts, samples, maxTokens, temperature, topP, topK, seeds, stopTokenIds, automaton, chunkTokens } = request;
  const demand = (holds: boolean, message: string): void => {
    if (!holds) throw new ModelRequestError(message);
  };
  demand(Number.isInteger(samples) && samples >= 1, `The number of samples must be a whole number from 1, not ${samples}.`);
  demand(Number.isInteger(maxTokens) && maxTokens >= 1, `The number of new tokens must be a whole number from 1, not ${maxTokens}.`);
  demand(Number.isInteger(chunkTokens) && chunkTokens >= 1, `A chunk must have a whole number of tokens from 1, not ${chunkTokens}.`);
  if (temperature !== 0) checkTemperature(temperature);
  demand(topP > 0 && topP <= 1, `Top-p must be above 0 and at most 1, not ${topP}.`);
  demand(Number.isSafeInteger(topK) && topK >= 0, `Top-k must be a whole number from 0, not ${topK}.`);
  demand(seeds.length === prompts.length * samples, `Every row needs a seed: there are ${prompts.length * samples} rows and ${seeds.length} seeds.`);
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
