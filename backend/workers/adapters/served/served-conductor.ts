import { APIError } from 'openai/core/error';
import { NO_USAGE } from '../../../protocol/token-counts.ts';
import type { Usage } from '../../../protocol/usage.ts';
import type { Served, WorkerConfig } from '../../../protocol/worker-config.ts';
import { WorkerError } from '../../errors.ts';
import { estimateUsage } from '../../limits/estimate-tokens.ts';
import type { Continuation, ModelAdapter, ModelReply, ModelRequest, Sample, StreamOptions } from '../../model.ts';
import { baseUrlOf } from '../../servers/server-of.ts';
import { classifyError, type CallContext } from '../classify-error.ts';
import { LOCAL_SAMPLING } from '../local-adapter.ts';
import { withoutTools } from '../no-tools.ts';
import { openAiClient } from '../openai-client.ts';
import { chatUsage } from '../reported-usage.ts';
import { completionChunkSchema, CompletionTexts, type CompletionText } from './completion-texts.ts';
import type { CompletionTerms, KnownTerms, Term } from './completion-terms.ts';
import type { LoraRoutes } from './lora-routes.ts';
import { servedAdapterOf } from './served-adapter.ts';
import type { ServedModels } from './served-model.ts';

/** What all served Conductors of a process share. */
export interface ServedParts {
  readonly models: ServedModels;
  readonly routes: LoraRoutes;
  readonly terms: KnownTerms;
}

export interface ServedConductorOptions extends ServedParts {
  readonly worker: WorkerConfig;
  readonly key: string | undefined;
  /** Handles requests without a continuation: a served Conductor does steps like every worker of its server. */
  readonly chat: ModelAdapter;
}

interface Prompt {
  readonly ids: readonly number[];
  readonly stops: readonly number[];
  readonly text: (ids: readonly number[]) => string;
}

interface Asked {
  readonly request: ModelRequest;
  readonly continuation: Continuation;
  readonly prompt: Prompt;
  /** What the server calls the model with the adapter, or the model itself. */
  readonly model: string;
}

/**
 * A Conductor whose model is at a server with OpenAI's legacy Completions, such as vLLM. It is sent the same tokens as a model of this
 * machine reads, so neither the server's chat template nor text that looks like its tags has a part in it.
 */
export class ServedConductor implements ModelAdapter {
  readonly #options: ServedConductorOptions;

  constructor(options: ServedConductorOptions) {
    this.#options = options;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<ModelReply> {
    const { worker, key, chat, models, routes } = this.#options;
    const { served } = worker;
    const { continuation } = request;
    if (!continuation || !served) return await chat.stream(request, options);
    const context: CallContext = { worker, key, messages: request.messages, signal: options.signal };
    const adapter = await servedAdapterOf({ ...worker, adapter: continuation.adapter }, models);
    const prompt = await this.#prompt(served, request, continuation);
    const asked: Asked = { request, continuation, prompt, model: adapter?.name ?? worker.model };
    if (!adapter) return await this.#complete(asked, context, options);
    try {
      return await this.#complete(asked, context, options);
    } catch (error) {
      // The server was started again, has dropped the adapter, or has never had it.
      if (!(error instanceof MissingAdapterError)) throw error;
    }
    await routes.load(worker, adapter, { key, signal: options.signal });
    options.onActivity();
    try {
      return await this.#complete(asked, context, options);
    } catch (error) {
      throw error instanceof MissingAdapterError ? classifyError(error.cause, { ...context, usage: NO_USAGE }) : error;
    }
  }

  /** @throws WorkerError `invalid-request` where this machine lacks the model's tokenizer */
  async #prompt({ model }: Served, request: ModelRequest, { prefill }: Continuation): Promise<Prompt> {
    const { worker, models } = this.#options;
    const messages = withoutTools(worker, request);
    try {
      const tokenizer = await models.tokenizerOf(model);
      const stops = new Set(tokenizer.stopTokenIds);
      return {
        ids: tokenizer.chat(messages.map(({ role, content }) => ({ role, content })), { prefill }),
        stops: tokenizer.stopTokenIds,
        text: (ids) => tokenizer.decode(stops.has(ids.at(-1) ?? -1) ? ids.slice(0, -1) : ids, { skipSpecial: true, continues: prefill !== '' }),
      };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      throw new WorkerError({ kind: 'invalid-request', message: `Worker "${worker.id}": the tokenizer of "served.model" cannot be used: ${said}`, usage: NO_USAGE, cause: error });
    }
  }

  /** @throws WorkerError, MissingAdapterError before anything was written */
  async #complete(asked: Asked, context: CallContext, { signal, onText, onThinking, onActivity }: StreamOptions): Promise<ModelReply> {
    const { worker } = this.#options;
    const { request, continuation: { prefill }, model: named } = asked;
    const texts = new CompletionTexts(worker, request.samples ?? 1, { onText, onOther: onThinking });
    let usage: Usage | undefined;
    let model = named;
    let isBegun = false;
    try {
      const { stream, hasTokens } = await this.#open(asked, { signal, onActivity });
      isBegun = true;
      onText(prefill);
      for await (const event of stream) {
        const chunk = completionChunkSchema.parse(event);
        if (chunk.model) model = chunk.model;
        usage = chatUsage(chunk.usage) ?? usage;
        for (const choice of chunk.choices) texts.add(choice);
      }
      // An interrupted stream ends the loop without an error, like a complete one.
      const [first, ...others] = texts.finish();
      const sampleOf = (text: CompletionText): Sample => this.#sample(text, asked, hasTokens);
      return {
        ...sampleOf(first), model, usage: usage ?? estimateUsage(request, texts.bytes),
        ...(others.length > 0 && { others: others.map(sampleOf) }),
      };
    } catch (error) {
      if (!isBegun && named !== worker.model && error instanceof APIError && error.status === 404) throw new MissingAdapterError(error);
      throw classifyError(error, { ...context, usage });
    }
  }

  #sample({ text, finishReason, tokenIds, logprobs }: CompletionText, { continuation: { prefill }, prompt }: Asked, hasTokens: boolean): Sample {
    if (!tokenIds || !logprobs || !hasTokens) return { text: prefill + text, finishReason };
    return { text: prefill + prompt.text(tokenIds), finishReason, tokens: { promptTokenIds: prompt.ids, tokenIds, logprobs, temperature: 1 } };
  }

  /** Opens the stream. Where the server refuses a field that not every server has, asks again without it; a refused request costs nothing. */
  async #open(asked: Asked, { signal, onActivity }: Pick<StreamOptions, 'signal' | 'onActivity'>): Promise<{ stream: AsyncIterable<unknown>; hasTokens: boolean }> {
    const { worker, key, terms } = this.#options;
    const client = openAiClient(worker, key, onActivity);
    for (let taken = terms.of(worker); ;) {
      const { body, has } = completionOf(asked, taken);
      try {
        const stream = await client.post<unknown>(`${baseUrlOf(worker).replace(/\/+$/, '')}/completions`, { body, stream: true, signal });
        return { stream: stream as AsyncIterable<unknown>, hasTokens: has.includes('tokens') };
      } catch (error) {
        const next = terms.after(error, worker, has);
        if (!next) throw error;
        taken = next;
      }
    }
  }
}

/** The server has no model of the adapter's name. */
class MissingAdapterError extends Error {
  override readonly name = 'MissingAdapterError';

  constructor(cause: unknown) {
    super('The server has no such adapter.', { cause });
  }
}

/** The body of a request, and the terms of which it has fields. */
function completionOf({ request, continuation, prompt, model }: Asked, terms: CompletionTerms): { body: Record<string, unknown>; has: Term[] } {
  const { maxOutputTokens, seed, samples = 1 } = request;
  const { regex, topK = LOCAL_SAMPLING.topK } = continuation;
  const temperature = request.temperature ?? LOCAL_SAMPLING.temperature;
  const fields: Readonly<Record<Term, Record<string, unknown> | undefined>> = {
    structure: regex === undefined ? undefined : { structured_outputs: { regex } },
    // vLLM gives log-probabilities at a temperature of 1, and after it has ruled out what does not fit the form: others are of no use to a training.
    tokens: temperature === 1 && regex === undefined ? { return_token_ids: true, logprobs: 0 } : undefined,
    several: samples > 1 ? { n: samples } : undefined,
    sampling: { top_k: topK, repetition_penalty: 1 },
  };
  const has = (Object.keys(fields) as Term[]).filter((term) => terms[term] && fields[term] !== undefined);
  return {
    has,
    body: {
      ...request.extraBody,
      model,
      prompt: prompt.ids,
      max_tokens: maxOutputTokens,
      stop_token_ids: prompt.stops,
      temperature,
      top_p: request.topP ?? LOCAL_SAMPLING.topP,
      stream: true,
      stream_options: { include_usage: true },
      ...(seed !== undefined && { seed }),
      ...Object.assign({}, ...has.map((term) => fields[term])),
    },
  };
}
