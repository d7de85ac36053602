import { Anthropic } from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages/messages';
import { NO_USAGE } from '../../protocol/token-counts.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText, textOf } from './answer-text.ts';
import { classifyError, workerError, type CallContext } from './classify-error.ts';
import { estimateUsage, tokensOfBytes } from '../limits/estimate-tokens.ts';
import { WorkerError } from '../errors.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { MessagesBlocks } from './messages-blocks.ts';
import { messagesPrompt } from './messages-turns.ts';
import type { FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { NO_SDK_TIMEOUT_MS } from './openai-client.ts';
import { messagesUsage } from './reported-usage.ts';
import { baseUrlOf, modelKey } from '../servers/server-of.ts';
import { plainCalls, StreamedCalls } from './streamed-calls.ts';

/** The version that all Anthropic-compatible servers support, and the last one in which Anthropic's API accepts sampling parameters. */
const OLD_VERSION = '2023-06-01';

/** Anthropic's Messages format. A worker with a baseUrl is a compatible server, which uses the old version and its key header. */
export class AnthropicAdapter implements ModelAdapter {
  readonly #worker: WorkerConfig;
  readonly #key: string | undefined;

  constructor(worker: WorkerConfig, key: string | undefined) {
    this.#worker = worker;
    this.#key = key;
  }

  async stream(request: ModelRequest, { signal, onText, onThinking, onActivity }: StreamOptions): Promise<ModelReply> {
    const worker = this.#worker;
    const { messages } = request;
    if (request.format === 'json') {
      const message = `Worker "${worker.id}" cannot be held to JSON without a schema: send the schema, or name another worker.`;
      throw new WorkerError({ kind: 'invalid-request', message, usage: NO_USAGE });
    }
    const answer = new AnswerText(worker, onText);
    const calls = new StreamedCalls({ worker, answer, onPiece: onThinking });
    const blocks = new MessagesBlocks(calls);
    let model = worker.model;
    let started: unknown;
    let counted: unknown;
    let stopReason: string | undefined;
    let complete = false;
    try {
      const client = this.#client(request, onActivity);
      const events: AsyncIterable<RawMessageStreamEvent> = await client.messages.create(parameters(worker, request), { signal });
      for await (const event of events) {
        switch (event.type) {
          case 'message_start':
            started = event.message.usage;
            if (typeof event.message.model === 'string' && event.message.model !== '') model = event.message.model;
            break;
          case 'content_block_start':
            blocks.start(event);
            break;
          case 'content_block_delta':
            blocks.delta(event);
            if (event.delta.type === 'text_delta') answer.append(event.delta.text);
            else if (event.delta.type !== 'input_json_delta') onThinking(event.delta.type === 'thinking_delta' ? textOf(event.delta.thinking) : '');
            break;
          case 'message_delta':
            counted = event.usage;
            stopReason = event.delta.stop_reason ?? stopReason;
            break;
          case 'message_stop':
            complete = true;
            break;
          default:
        }
      }
      blocks.end();
      // An aborted or interrupted stream ends this loop without an error, like a complete one.
      if (!complete) throw workerError('incomplete', { worker }, { usage: partialUsage(started, answer.bytes) });
    } catch (error) {
      const usage = partialUsage(started, answer.bytes);
      const context: CallContext = { worker, key: this.#key, messages, signal, usage };
      throw classifyError(error, context);
    }
    const called = calls.calls(messages);
    return {
      text: answer.toString(),
      toolCalls: plainCalls(called),
      verbatim: blocks.verbatim(modelKey(worker), called),
      finishReason: finishReasonOf(stopReason),
      usage: messagesUsage(started, counted) ?? estimateUsage(request, answer.bytes),
      model,
    };
  }

  /** The SDK for one attempt, without retries, logging, telemetry, or reading environment variables and credential files. */
  #client(request: ModelRequest, onActivity: () => void): Anthropic {
    const compatible = this.#worker.baseUrl !== undefined;
    const sampled = request.temperature !== undefined || request.topP !== undefined || request.extraBody?.['top_k'] !== undefined;
    return new Anthropic({
      baseURL: baseUrlOf(this.#worker),
      // Always set, so that the SDK does not search for credentials.
      apiKey: this.#key ?? 'none',
      defaultHeaders: {
        ...((compatible || sampled) && { 'anthropic-version': OLD_VERSION }),
        ...((compatible || this.#key === undefined) && { Authorization: null }),
        ...(compatible && this.#key !== undefined && { 'x-api-key': this.#key }),
      },
      webhookKey: null,
      maxRetries: 0,
      timeout: NO_SDK_TIMEOUT_MS,
      logLevel: 'off',
      openTelemetry: false,
      fetch: guardedFetch(onActivity),
    });
  }
}

/** The SDK's types are those of the new API version, which has no sampling parameters. */
type Parameters = MessageCreateParamsStreaming & { temperature?: number; top_p?: number };

function parameters(worker: WorkerConfig, request: ModelRequest): Parameters {
  const { maxOutputTokens, temperature, topP } = request;
  return {
    ...request.extraBody,
    model: worker.model,
    max_tokens: maxOutputTokens,
    stream: true,
    ...messagesPrompt(request, modelKey(worker)),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...toolChoice(request),
    ...thought(request),
  };
}

function toolChoice({ tools = [], toolChoice: choice, parallelCalls }: ModelRequest): Pick<Parameters, 'tool_choice'> {
  if (tools.length === 0 || (choice === undefined && parallelCalls !== false)) return {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const single = parallelCalls === false && { disable_parallel_tool_use: true };
  if (typeof choice === 'object') return { tool_choice: { type: 'tool', ...choice, ...single } };
  return { tool_choice: { type: choice === 'required' ? 'any' : 'auto', ...single } };
}

function thought({ reasoningEffort, format }: ModelRequest): Pick<Parameters, 'thinking' | 'output_config'> {
  const isThinking = reasoningEffort !== undefined && reasoningEffort !== 'none';
  const output: NonNullable<Parameters['output_config']> = {
    ...(isThinking && { effort: reasoningEffort === 'minimal' ? 'low' : reasoningEffort }),
    ...(typeof format === 'object' && { format: { type: 'json_schema', schema: format.schema } }),
  };
  return { ...(reasoningEffort === 'none' && { thinking: { type: 'disabled' } }), ...(Object.keys(output).length > 0 && { output_config: output }) };
}

/** The input is known when the answer begins; the output is estimated from the text received so far. */
function partialUsage(started: unknown, answerBytes: number): Usage | undefined {
  const usage = messagesUsage(started, undefined);
  return usage && { ...usage, output: Math.max(usage.output, tokensOfBytes(answerBytes)), estimated: true };
}

function finishReasonOf(reason: string | undefined): FinishReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  return reason === 'refusal' ? 'content-filter' : 'stop';
}
