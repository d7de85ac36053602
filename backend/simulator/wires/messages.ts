import type { Message, RawMessageStreamEvent, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import * as z from 'zod';
import { PICTURE_TYPES } from '../../common/picture-facts.ts';
import type { SimulatedMessage } from '../simulated-model.ts';
import { base64Schema, textSchema } from './text-parts.ts';
import { checkResults, InvalidRequestError, jsonSchemaSchema, offeredTools, toolNameSchema } from './tool-requests.ts';
import type { Answer, AnswerStream, ErrorKind, ServerEvent, WireFormat, WireRequest } from './wire-format.ts';

const idSchema = z.string().regex(/^[a-zA-Z0-9_-]+$/, 'must be letters, digits, dashes or underscores');

const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text') }),
  z.object({
    type: z.literal('image'),
    source: z.object({ type: z.literal('base64'), media_type: z.enum(PICTURE_TYPES), data: base64Schema }),
  }),
  z.object({ type: z.literal('tool_use'), id: idSchema, name: toolNameSchema, input: jsonSchemaSchema }),
  z.object({ type: z.literal('tool_result'), tool_use_id: idSchema, content: textSchema.optional() }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
]);

const turnSchema = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.union([z.string(), z.array(blockSchema)]) });

const requestSchema = z.object({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  system: textSchema.optional(),
  messages: z.array(turnSchema).min(1),
  tools: z.array(z.union([
    z.object({ name: toolNameSchema, description: z.string().optional(), input_schema: jsonSchemaSchema.and(z.object({ type: z.literal('object') })) }),
    // Tools that the provider itself runs.
    z.object({ type: z.string(), name: z.string() }),
  ])).optional(),
  tool_choice: z.object({ type: z.string() }).optional(),
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
    checkMarks(body);
    const turns = request.messages.flatMap(turnsOf);
    checkResults(turns);
    const tools = (request.tools ?? []).flatMap((tool) => ('input_schema' in tool ? { ...tool, parameters: tool.input_schema } : []));
    return {
      model: request.model,
      messages: request.system ? [{ role: 'system', content: request.system }, ...turns] : turns,
      ...offeredTools(tools, request.tool_choice?.type === 'none'),
      stream: request.stream ?? false,
      maxOutputTokens: request.max_tokens,
      sample: undefined,
      streamUsage: true,
    };
  },

  reply(answer): Message {
    return {
      ...empty(answer),
      content: [
        ...(hasText(answer) ? [{ type: 'text' as const, text: answer.text, citations: null }] : []),
        ...answer.calls.map(({ id, name, arguments: written }) =>
          ({ type: 'tool_use' as const, id, name, input: inputOf(written), caller: { type: 'direct' as const } })),
      ],
      stop_reason: stopReasonOf(answer),
      usage: usageOf(answer, answer.outputTokens),
    };
  },

  stream(answer): AnswerStream {
    const named = (...events: (RawMessageStreamEvent | { type: 'ping' })[]): ServerEvent[] =>
      events.map((event) => ({ event: event.type, data: event }));
    const textEnd: RawMessageStreamEvent[] = hasText(answer) ? [{ type: 'content_block_stop', index: 0 }] : [];
    return {
      opening: () =>
        named(
          { type: 'message_start', message: empty(answer) },
          ...(hasText(answer)
            ? [{ type: 'content_block_start' as const, index: 0, content_block: { type: 'text' as const, text: '', citations: null } }]
            : []),
          { type: 'ping' },
        ),
      piece: (text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      call: ({ id, name }, place) => {
        const index = place + (hasText(answer) ? 1 : 0);
        const part = (partial_json: string) => named({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
        return {
          opening: () => [
            ...named(...(place === 0 ? textEnd : []), {
              type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } },
            }),
            ...part(''),
          ],
          piece: part,
          closing: () => named({ type: 'content_block_stop', index }),
        };
      },
      closing: () =>
        named(
          ...(answer.calls.length === 0 ? textEnd : []),
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

/** The results of tools, which come first in their turn, as messages of their own. @throws InvalidRequestError */
function turnsOf({ role, content }: z.infer<typeof turnSchema>): SimulatedMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  const results = content.filter((block) => block.type === 'tool_result');
  if (results.some((block, index) => content[index] !== block)) {
    throw new InvalidRequestError('messages: tool_result blocks must come before other blocks of their turn.');
  }
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
  const pictures = content.flatMap((block) => (block.type === 'image' ? { data: block.source.data } : []));
  if (pictures.length > 0 && role !== 'user') throw new InvalidRequestError('messages: image blocks are only permitted in turns of the user.');
  const toolCalls = content.flatMap((block) =>
    block.type === 'tool_use' ? { id: block.id, name: block.name, arguments: JSON.stringify(block.input) } : []);
  return [
    ...results.map(({ tool_use_id: callId, content: result = '' }): SimulatedMessage => ({ role: 'tool', content: result, callId })),
    ...(text !== '' || results.length === 0 ? [{ role, content: text, ...(toolCalls.length > 0 && { toolCalls }), ...(pictures.length > 0 && { pictures }) }] : []),
  ];
}

/** @throws InvalidRequestError if more parts of the prompt are marked for the cache than the API accepts */
function checkMarks(body: unknown): void {
  let marks = 0;
  JSON.stringify(body, (name, value: unknown) => {
    if (name === 'cache_control' && value !== null) marks += 1;
    return value;
  });
  if (marks > 4) throw new InvalidRequestError(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

/** A turn that only calls has no text block. */
function hasText({ text, calls }: Answer): boolean {
  return text !== '' || calls.length === 0;
}

/** What was cut off has no input. */
function inputOf(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return {};
  }
}

function stopReasonOf({ finish, calls }: Answer): StopReason {
  if (finish === 'length') return 'max_tokens';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
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
