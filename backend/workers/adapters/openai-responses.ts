import type {
  Response, ResponseCreateParamsStreaming, ResponseFormatTextConfig, ResponseFunctionToolCall, ResponseOutputItem, ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText, textOf } from './answer-text.ts';
import { classifyError, classifyProviderError, workerError, type CallContext } from './classify-error.ts';
import { estimateUsage } from '../limits/estimate-tokens.ts';
import type { FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { openAiClient } from './openai-client.ts';
import { responsesUsage } from './reported-usage.ts';
import { responsesInput, responsesTool, responsesVerbatim } from './responses-input.ts';
import { modelKey } from '../servers/server-of.ts';
import { plainCalls, StreamedCalls, type CallPiece } from './streamed-calls.ts';

/** The smallest `max_output_tokens` that the API accepts. */
const MIN_OUTPUT_TOKENS = 16;

/** OpenAI's API in the Responses format. It does not support seeds; the request's seed is ignored. */
export class OpenAiResponsesAdapter implements ModelAdapter {
  readonly #worker: WorkerConfig;
  readonly #key: string | undefined;

  constructor(worker: WorkerConfig, key: string | undefined) {
    this.#worker = worker;
    this.#key = key;
  }

  async stream(request: ModelRequest, { signal, onText, onThinking, onActivity }: StreamOptions): Promise<ModelReply> {
    const worker = this.#worker;
    const { messages } = request;
    const answer = new AnswerText(worker, onText);
    const calls = new StreamedCalls({ worker, answer, onPiece: onThinking });
    const output = new Map<number, ResponseOutputItem>();
    let usage: Usage | undefined;
    const context = (): CallContext => ({ worker, key: this.#key, messages, signal, usage });
    try {
      const client = openAiClient(worker, this.#key, onActivity);
      const events: AsyncIterable<ResponseStreamEvent> = await client.responses.create(parameters(worker, request), { signal });
      let ended: { finishReason: FinishReason; model: string } | undefined;
      for await (const event of events) {
        switch (event.type) {
          case 'response.output_text.delta':
          case 'response.refusal.delta':
            answer.append(event.delta);
            break;
          case 'response.reasoning_text.delta':
          case 'response.reasoning_summary_text.delta':
            onThinking(textOf(event.delta));
            break;
          case 'response.output_item.added':
            if (event.item.type === 'function_call') calls.append({ ...callIn(event.item), index: event.output_index });
            break;
          case 'response.function_call_arguments.delta':
            calls.append({ index: event.output_index, arguments: event.delta });
            break;
          case 'response.output_item.done':
            output.set(event.output_index, event.item);
            // A server that streams no arguments sends them here.
            if (event.item.type === 'function_call' && !calls.hasArguments(event.output_index)) {
              calls.append({ ...callIn(event.item), index: event.output_index });
            }
            break;
          case 'response.completed':
          case 'response.incomplete':
            usage = responsesUsage(event.response.usage);
            ended = { finishReason: finishReasonOf(event.response), model: event.response.model };
            break;
          case 'response.failed':
            usage = responsesUsage(event.response.usage);
            throw classifyProviderError(event.response.error ?? {}, context());
          default:
        }
      }
      // An aborted or interrupted stream ends this loop without an error, like a complete one.
      if (ended === undefined) throw workerError('incomplete', { worker }, { usage });
      const called = calls.calls(messages);
      return {
        text: answer.toString(),
        toolCalls: plainCalls(called),
        verbatim: responsesVerbatim(modelKey(worker), output, called),
        finishReason: ended.finishReason,
        usage: usage ?? estimateUsage(request, answer.bytes),
        model: typeof ended.model === 'string' ? ended.model : worker.model,
      };
    } catch (error) {
      throw classifyError(error, context());
    }
  }
}

function parameters(worker: WorkerConfig, request: ModelRequest): ResponseCreateParamsStreaming {
  const { messages, tools, toolChoice, parallelCalls, format, maxOutputTokens, temperature, topP, reasoningEffort } = request;
  return {
    ...request.extraBody,
    model: worker.model,
    input: messages.flatMap((message) => responsesInput(message, modelKey(worker))),
    ...(tools && tools.length > 0 && {
      tools: tools.map(responsesTool),
      ...(toolChoice !== undefined && { tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', ...toolChoice } }),
      ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    }),
    ...(format !== undefined && { text: { format: responsesFormat(format) } }),
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens),
    stream: true,
    // Questions contain the user's code. Do not let the provider store them.
    store: false,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(reasoningEffort !== undefined && { reasoning: { effort: reasoningEffort } }),
  };
}

function responsesFormat(format: NonNullable<ModelRequest['format']>): ResponseFormatTextConfig {
  if (format === 'json') return { type: 'json_object' };
  const { name, schema, isStrict } = format;
  return { type: 'json_schema', name, schema, ...(isStrict !== undefined && { strict: isStrict }) };
}

function callIn({ call_id: id, name, arguments: written }: ResponseFunctionToolCall): CallPiece {
  return { id, name, arguments: written };
}

function finishReasonOf({ status, incomplete_details }: Response): FinishReason {
  if (status !== 'incomplete') return 'stop';
  return incomplete_details?.reason === 'content_filter' ? 'content-filter' : 'length';
}
