import type { OpenAI } from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText } from './answer-text.ts';
import { dialectAfter, type ChatDialect, type ChatDialects } from './chat-dialect.ts';
import { classifyError, workerError, type CallContext } from './classify-error.ts';
import { estimateUsage } from '../limits/estimate-tokens.ts';
import type { FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { openAiClient } from './openai-client.ts';
import { chatUsage } from './reported-usage.ts';

/** Servers with the wire format of OpenAI's Chat Completions: Ollama, LM Studio, vLLM, OpenRouter, Gemini, DeepSeek, … */
export class OpenAiChatAdapter implements ModelAdapter {
  readonly #worker: WorkerConfig;
  readonly #key: string | undefined;
  readonly #dialects: ChatDialects;

  constructor(worker: WorkerConfig, key: string | undefined, dialects: ChatDialects) {
    this.#worker = worker;
    this.#key = key;
    this.#dialects = dialects;
  }

  async stream(request: ModelRequest, { signal, onText, onThinking, onActivity }: StreamOptions): Promise<ModelReply> {
    const worker = this.#worker;
    const { messages } = request;
    const answer = new AnswerText(worker, onText);
    let thoughtBytes = 0;
    let usage: Usage | undefined;
    let finishReason: FinishReason | undefined;
    let model = worker.model;
    try {
      const client = openAiClient(worker, this.#key, onActivity);
      for await (const chunk of await this.#open(client, request, signal)) {
        if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
        // Some servers repeat the cumulative usage in every chunk. The last one counts.
        usage = chatUsage(chunk.usage) ?? usage;
        const choice = chunk.choices?.[0];
        if (!choice) continue;
        const thought = thoughtIn(choice.delta);
        if (thought !== '') {
          thoughtBytes += Buffer.byteLength(thought);
          onThinking();
        }
        answer.append(choice.delta?.content);
        answer.append(choice.delta?.refusal);
        finishReason = finishReasonOf(choice.finish_reason) ?? finishReason;
      }
      // An aborted or interrupted stream ends this loop without an error, like a complete one.
      if (finishReason === undefined) throw workerError('incomplete', { worker }, { usage });
    } catch (error) {
      const context: CallContext = { worker, key: this.#key, messages, signal, usage };
      const failure = classifyError(error, context);
      // After the finish reason only the usage can be missing, so the answer is kept.
      if (finishReason === undefined || failure.kind === 'cancelled' || failure.kind === 'too-large') throw failure;
    }
    return {
      text: answer.toString(),
      finishReason,
      usage: usage ?? estimateUsage(messages, answer.bytes + thoughtBytes),
      model,
    };
  }

  /** Opens the stream. If the server rejects the dialect, tries the next one; a rejected request costs nothing. */
  async #open(client: OpenAI, request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<ChatCompletionChunk>> {
    for (let dialect = this.#dialects.of(this.#worker); ;) {
      try {
        const stream = await client.chat.completions.create(parameters(this.#worker, request, dialect), { signal });
        this.#dialects.learn(this.#worker, dialect);
        return stream;
      } catch (error) {
        const next = dialectAfter(error, dialect);
        if (next === undefined) throw error;
        dialect = next;
      }
    }
  }
}

function parameters(worker: WorkerConfig, request: ModelRequest, dialect: ChatDialect): ChatCompletionCreateParamsStreaming {
  const { messages, maxOutputTokens, temperature, topP, seed, reasoningEffort } = request;
  return {
    model: worker.model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    [dialect.limit]: maxOutputTokens,
    stream: true,
    ...(dialect.asksForUsage && { stream_options: { include_usage: true } }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(seed !== undefined && { seed }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
  };
}

/** Reasoning in a chunk: `reasoning_content` (DeepSeek, vLLM) or `reasoning` (OpenRouter, Ollama). */
function thoughtIn(delta: unknown): string {
  if (typeof delta !== 'object' || delta === null) return '';
  const thought: unknown = Reflect.get(delta, 'reasoning_content') ?? Reflect.get(delta, 'reasoning');
  return typeof thought === 'string' ? thought : '';
}

/** Servers have different names for a normal end, so every unknown reason counts as `stop`. */
function finishReasonOf(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined;
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  return reason === 'content_filter' ? 'content-filter' : 'stop';
}
