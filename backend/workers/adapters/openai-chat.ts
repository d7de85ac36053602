import type { OpenAI } from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText } from './answer-text.ts';
import { chatMessages, chatTool, chatVerbatim } from './chat-messages.ts';
import { ChatThoughts } from './chat-thoughts.ts';
import { dialectAfter, type ChatDialect, type ChatDialects } from './chat-dialect.ts';
import { classifyError, workerError, type CallContext } from './classify-error.ts';
import { estimateUsage } from '../limits/estimate-tokens.ts';
import type { FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { finishReasonOf } from './finish-reason.ts';
import { openAiClient } from './openai-client.ts';
import { chatUsage } from './reported-usage.ts';
import { modelKey } from '../servers/server-of.ts';
import { plainCalls, StreamedCalls, type CallPiece } from './streamed-calls.ts';

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
    const calls = new StreamedCalls({ worker, answer, onPiece: onThinking });
    const thoughts = new ChatThoughts();
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
        const thought = thoughts.take(choice.delta);
        if (thought !== '') {
          thoughtBytes += Buffer.byteLength(thought);
          onThinking(thought);
        }
        answer.append(choice.delta?.content);
        answer.append(choice.delta?.refusal);
        for (const piece of callPiecesIn(choice.delta)) calls.append(piece);
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
    const text = answer.toString();
    const called = calls.calls(messages);
    return {
      text,
      toolCalls: plainCalls(called),
      verbatim: chatVerbatim(modelKey(worker), text, called, thoughts.fields()),
      finishReason,
      usage: usage ?? estimateUsage(request, answer.bytes + thoughtBytes),
      model,
    };
  }

  /** Opens the stream. If the server rejects the dialect, tries the next one; a rejected request costs nothing. */
  async #open(client: OpenAI, request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<ChatCompletionChunk>> {
    const hasThoughts = request.messages.some((message) => message.role !== 'tool' && message.verbatim !== undefined);
    for (let dialect = this.#dialects.of(this.#worker); ;) {
      try {
        const stream = await client.chat.completions.create(parameters(this.#worker, request, dialect), { signal });
        this.#dialects.learn(this.#worker, dialect);
        return stream;
      } catch (error) {
        const next = dialectAfter(error, dialect, { hasThoughts });
        if (next === undefined) throw error;
        dialect = next;
      }
    }
  }
}

function parameters(worker: WorkerConfig, request: ModelRequest, dialect: ChatDialect): ChatCompletionCreateParamsStreaming {
  const { messages, tools, toolChoice, parallelCalls, format, maxOutputTokens, temperature, topP, seed, frequencyPenalty, presencePenalty, reasoningEffort } = request;
  const by = dialect.takesThoughts ? modelKey(worker) : undefined;
  return {
    ...request.extraBody,
    model: worker.model,
    messages: chatMessages(messages, by),
    ...(tools && tools.length > 0 && {
      tools: tools.map(chatTool),
      ...(toolChoice !== undefined && { tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice } }),
      ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    }),
    ...(format !== undefined && { response_format: chatFormat(format) }),
    [dialect.limit]: maxOutputTokens,
    stream: true,
    ...(dialect.asksForUsage && { stream_options: { include_usage: true } }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(seed !== undefined && { seed }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
  };
}

function chatFormat(format: NonNullable<ModelRequest['format']>): NonNullable<ChatCompletionCreateParamsStreaming['response_format']> {
  if (format === 'json') return { type: 'json_object' };
  const { name, schema, isStrict } = format;
  return { type: 'json_schema', json_schema: { name, schema, ...(isStrict !== undefined && { strict: isStrict }) } };
}

function callPiecesIn(delta: unknown): CallPiece[] {
  const pieces: unknown = typeof delta === 'object' && delta !== null ? Reflect.get(delta, 'tool_calls') : undefined;
  return Array.isArray(pieces) ? pieces.flatMap(callPieceIn) : [];
}

function callPieceIn(piece: unknown): CallPiece[] {
  if (typeof piece !== 'object' || piece === null) return [];
  const { index, id, function: called, extra_content: extra } = piece as Record<string, unknown>;
  const { name, arguments: written } = (typeof called === 'object' ? called ?? {} : {}) as Record<string, unknown>;
  return [{ index, id, name, arguments: written, extra: extra ?? undefined }];
}
