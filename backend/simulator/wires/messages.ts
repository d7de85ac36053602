import type { Message, RawMessageStreamEvent, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import * as z from 'zod';
import { textSchema } from './text-parts.ts';
import type { Answer, AnswerStream, ErrorKind, ServerEvent, WireFormat, WireRequest } from './wire-format.ts';

const requestSchema = z.object({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  system: textSchema.optional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: textSchema })).min(1),
  stream: z.boolean().optional(),
});

const ERROR_TYPES: Readonly<Record<ErrorKind, string>> = {
  'invalid-request': 'invalid_request_error',
  unauthorized: 'authentication_error',
  'not-found': 'not_found_error',
  'too-large': 'request_too_large',
  internal: 'api_error',
};

/** Anthropic's Messages (https://docs.anthropic.com/en/api/messages). */
export const messages: WireFormat = {
  read(body): WireRequest {
    const request = requestSchema.parse(body);
    return {
      model: request.model,
      messages: request.system ? [{ role: 'system', content: request.system }, ...request.messages] : request.messages,
      stream: request.stream ?? false,
      maxOutputTokens: request.max_tokens,
      sample: undefined,
      streamUsage: true,
    };
  },

  reply(answer): Message {
    return {
      ...empty(answer),
      content: [{ type: 'text', text: answer.text, citations: null }],
      stop_reason: stopReasonOf(answer),
      usage: usageOf(answer, answer.outputTokens),
    };
  },

  stream(answer): AnswerStream {
    const named = (...events: (RawMessageStreamEvent | { type: 'ping' })[]): ServerEvent[] =>
      events.map((event) => ({ event: event.type, data: event }));
    return {
      opening: () =>
        named(
          { type: 'message_start', message: empty(answer) },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
          { type: 'ping' },
        ),
      piece: (text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      closing: () =>
        named(
          { type: 'content_block_stop', index: 0 },
          {
            type: 'message_delta',
            delta: { stop_reason: stopReasonOf(answer), stop_sequence: null, stop_details: null, container: null },
            usage: usageOf(answer, answer.outputTokens),
          },
          { type: 'message_stop' },
        ),
    };
  },

  error(kind, message): unknown {
    return { type: 'error', error: { type: ERROR_TYPES[kind], message }, request_id: null };
  },
};

function stopReasonOf({ finish }: Answer): StopReason {
  return finish === 'length' ? 'max_tokens' : 'end_turn';
}

/** The message as a stream begins it: no text yet, and the input already counted. */
function empty(answer: Answer): Message {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: usageOf(answer, 1),
  };
}

function usageOf({ inputTokens }: Answer, outputTokens: number): Message['usage'] {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
    output_tokens_details: null,
    server_tool_use: null,
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  };
}
