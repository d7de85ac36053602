import { randomInt } from 'node:crypto';
import type { LanguageModel, WrittenText } from '../../lm/language-model.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText } from './answer-text.ts';
import { abortError } from './classify-error.ts';
import { classifyLocalError } from './classify-local-error.ts';
import type { ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { withoutTools } from './no-tools.ts';

/** Returns the local model of a worker with provider `local`. The model is loaded on its first request. */
export type LocalModelSource = (worker: WorkerConfig) => LanguageModel;

/**
 * The settings recommended for Qwen2.5 and Qwen3 without thinking (generation_config.json of Qwen/Qwen2.5-7B-Instruct; "Best Practices" in
 * the model card of Qwen/Qwen3-8B). Without them small models repeat themselves.
 */
export const LOCAL_SAMPLING = { temperature: 0.7, topP: 0.8, topK: 20 } as const;

/** A random seed that models accept and JSON represents exactly. */
export function randomSeed(): number {
  return randomInt(2 ** 32);
}

/** A local model as a worker. It is free and processes one request at a time. */
export class LocalAdapter implements ModelAdapter {
  readonly #worker: WorkerConfig;
  readonly #model: LanguageModel;

  constructor(worker: WorkerConfig, model: LanguageModel) {
    this.#worker = worker;
    this.#model = model;
  }

  async stream(request: ModelRequest, { signal, onText, onActivity }: StreamOptions): Promise<ModelReply> {
    const worker = this.#worker;
    const { maxOutputTokens, continuation: { prefill, topK = LOCAL_SAMPLING.topK, grammar, adapter } = {}, seed = randomSeed() } = request;
    const messages = withoutTools(worker, request);
    const temperature = request.temperature ?? LOCAL_SAMPLING.temperature;
    // In addition to the caller's signal, an answer that is too large aborts the generation.
    const ended = new AbortController();
    const answer = new AnswerText(worker, onText);
    const take = (text: string): void => {
      onActivity();
      try {
        answer.append(text);
      } catch (error) {
        ended.abort(error);
      }
    };
    try {
      const [written] = await this.#model.write({
        messages: messages.map(({ role, content }) => ({ role, content })),
        samples: 1,
        maxTokens: maxOutputTokens,
        temperature,
        topP: request.topP ?? LOCAL_SAMPLING.topP,
        topK,
        prefill,
        grammar,
        adapter,
        seeds: [seed],
        signal: AbortSignal.any([signal, ended.signal]),
        onText: (_sample, text) => take(text),
      });
      if (!written) throw new Error('The model returned no text.');
      return localReply(worker, written, { seed, temperature });
    } catch (error) {
      if (signal.aborted) throw abortError({ worker, signal });
      throw classifyLocalError(ended.signal.aborted ? ended.signal.reason : error, worker);
    }
  }
}

function localReply({ model }: WorkerConfig, written: WrittenText, { seed, temperature }: { readonly seed: number; readonly temperature: number }): ModelReply {
  const { text, finishReason, device, promptTokenIds, tokenIds, logprobs } = written;
  return {
    text, finishReason, usage: localUsage(written), model, sampled: { seed, device }, tokens: { promptTokenIds, tokenIds, logprobs, temperature },
  };
}

/** Exact counts. Nothing is cached between requests, so all input is uncached. */
export function localUsage({ promptTokenIds, tokenIds }: Pick<WrittenText, 'promptTokenIds' | 'tokenIds'>): Usage {
  return {
    uncachedInput: promptTokenIds.length, cacheRead: 0, cacheWrite: 0, output: tokenIds.length, reasoning: 0, estimated: false,
  };
}
