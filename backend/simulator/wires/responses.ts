import type {
  Response, ResponseFunctionToolCallItem, ResponseOutputMessage, ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import * as z from 'zod';
import type { SimulatedCall, SimulatedMessage } from '../simulated-model.ts';
import { openAiError } from './openai-error.ts';
import { dataUrlSchema, saidIn, textSchema } from './text-parts.ts';
import { checkResults, jsonSchemaSchema, offeredTools, toolNameSchema } from './tool-requests.ts';
import type { Answer, AnswerStream, ServerEvent, WireFormat, WireRequest } from './wire-format.ts';

const userPartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: dataUrlSchema, detail: z.enum(['auto', 'low', 'high', 'original']).optional() }),
]);

const itemSchema = z.union([
  z.object({ type: z.literal('message').optional(), role: z.enum(['system', 'developer', 'assistant']), content: textSchema }),
  z.object({ type: z.literal('message').optional(), role: z.literal('user'), content: z.union([z.string(), z.array(userPartSchema).min(1)]) }),
  z.object({ type: z.literal('function_call'), call_id: z.string().min(1).max(64), name: toolNameSchema, arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string().min(1).max(64), output: textSchema }),
  z.object({ type: z.literal('reasoning'), summary: z.array(z.unknown()), encrypted_content: z.string().nullish() }),
]);

const requestSchema = z.object({
  model: z.string().min(1),
  input: z.union([z.string().transform((content) => [{ role: 'user' as const, content }]), z.array(itemSchema).min(1)]),
  tools: z.array(z.union([
    z.object({ type: z.literal('function'), name: toolNameSchema, description: z.string().nullish(), parameters: jsonSchemaSchema.nullish() }),
    // Tools that the provider itself runs, and others that no simulated model asks for.
    z.object({ type: z.string() }),
  ])).nullish(),
  tool_choice: z.unknown().optional(),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
});

/** OpenAI's Responses (https://platform.openai.com/docs/api-reference/responses). */
export const responses: WireFormat = {
  read(body): WireRequest {
    const request = requestSchema.parse(body);
    const turns = turnsOf(request.input);
    checkResults(turns);
    const tools = (request.tools ?? []).flatMap((tool) => ('name' in tool ? { ...tool, description: tool.description ?? undefined } : []));
    return {
      model: request.model,
      messages: request.instructions ? [{ role: 'system', content: request.instructions }, ...turns] : turns,
      ...offeredTools(tools, request.tool_choice === 'none'),
      stream: request.stream ?? false,
      maxOutputTokens: request.max_output_tokens ?? undefined,
      sample: undefined,
      streamUsage: true,
    };
  },

  reply: finished,

  stream(answer): AnswerStream {
    let sequence = 0;
    const place = { item_id: itemIdOf(answer), output_index: 0, content_index: 0 };
    const part = (text: string): ResponseOutputMessage['content'][number] => ({
      type: 'output_text',
      text,
      annotations: [],
      logprobs: [],
    });
    const numbered = (...events: Unnumbered[]): ServerEvent[] =>
      events.map((event) => ({ event: event.type, data: { ...event, sequence_number: sequence++ } }));
    const textEnd: Unnumbered[] = hasText(answer)
      ? [
          { type: 'response.output_text.done', ...place, text: answer.text, logprobs: [] },
          { type: 'response.content_part.done', ...place, part: part(answer.text) },
          { type: 'response.output_item.done', output_index: 0, item: messageOf(answer, statusOf(answer)) },
        ]
      : [];
    const itemOf = (call: SimulatedCall, index: number) => ({ item_id: `fc_${call.id}`, output_index: index + (hasText(answer) ? 1 : 0) });
    return {
      opening: () =>
        numbered(
          { type: 'response.created', response: started(answer) },
          { type: 'response.in_progress', response: started(answer) },
          ...(hasText(answer)
            ? [
                { type: 'response.output_item.added' as const, output_index: 0, item: messageOf(answer, 'in_progress') },
                { type: 'response.content_part.added' as const, ...place, part: part('') },
              ]
            : []),
        ),
      piece: (delta) => numbered({ type: 'response.output_text.delta', ...place, delta, logprobs: [] }),
      call: (call, index) => {
        const at = itemOf(call, index);
        const { output_index } = at;
        return {
          opening: () => numbered(
            ...(index === 0 ? textEnd : []),
            { type: 'response.output_item.added', output_index, item: { ...callItem(call, 'in_progress'), arguments: '' } },
          ),
          piece: (delta) => numbered({ type: 'response.function_call_arguments.delta', ...at, delta }),
          closing: () => numbered(
            { type: 'response.function_call_arguments.done', ...at, arguments: call.arguments },
            { type: 'response.output_item.done', output_index, item: callItem(call, statusOf(answer)) },
          ),
        };
      },
      closing: () =>
        numbered(...(answer.calls.length === 0 ? textEnd : []), { type: `response.${statusOf(answer)}`, response: finished(answer) }),
    };
  },

  error: openAiError,
};

/** An event before it has its number; the union is kept member by member. */
type Unnumbered = ResponseStreamEvent extends infer Event
  ? Event extends { type: string }
    ? Omit<Event, 'sequence_number'>
    : never
  : never;

/** The turns of a conversation. Calls belong to the assistant's message before them. */
function turnsOf(items: readonly z.infer<typeof itemSchema>[]): SimulatedMessage[] {
  const turns: SimulatedMessage[] = [];
  for (const item of items) {
    if ('role' in item && item.role === 'user') turns.push(saidIn(item.content, (part) => (part.type === 'input_image' ? part.image_url : undefined)));
    else if ('role' in item) turns.push({ role: item.role === 'developer' ? 'system' : item.role, content: item.content });
    else if (item.type === 'function_call_output') turns.push({ role: 'tool', content: item.output, callId: item.call_id });
    else if (item.type === 'function_call') {
      const call = { id: item.call_id, name: item.name, arguments: item.arguments };
      const last = turns.at(-1);
      if (last?.role === 'assistant') turns.splice(-1, 1, { ...last, toolCalls: [...(last.toolCalls ?? []), call] });
      else turns.push({ role: 'assistant', content: '', toolCalls: [call] });
    }
  }
  return turns;
}

/** A turn that only calls has no message. */
function hasText({ text, calls }: Answer): boolean {
  return text !== '' || calls.length === 0;
}

function callItem(call: SimulatedCall, status: ResponseFunctionToolCallItem['status']): ResponseFunctionToolCallItem {
  const { id, name, arguments: written } = call;
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: written, status };
}

function statusOf({ finish }: Answer): 'completed' | 'incomplete' {
  return finish === 'length' ? 'incomplete' : 'completed';
}

function itemIdOf({ id }: Answer): string {
  return `msg_${id}`;
}

function messageOf(answer: Answer, status: ResponseOutputMessage['status']): ResponseOutputMessage {
  return {
    id: itemIdOf(answer),
    type: 'message',
    role: 'assistant',
    status,
    content: status === 'in_progress' ? [] : [{ type: 'output_text', text: answer.text, annotations: [], logprobs: [] }],
  };
}

/** `output_text` is a convenience of the SDK and never on the wire. */
type ResponseBody = Omit<Response, 'output_text'>;

function started(answer: Answer): Response {
  const body: ResponseBody = {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: Math.floor(answer.createdAt.getTime() / 1000),
    status: 'in_progress',
    model: answer.model,
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
  };
  return body as Response;
}

function finished(answer: Answer): Response {
  return {
    ...started(answer),
    status: statusOf(answer),
    incomplete_details: answer.finish === 'length' ? { reason: 'max_output_tokens' } : null,
    output: [
      ...(hasText(answer) ? [messageOf(answer, statusOf(answer))] : []),
      ...answer.calls.map((call) => callItem(call, statusOf(answer))),
    ],
    usage: {
      input_tokens: answer.inputTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: answer.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: answer.inputTokens + answer.outputTokens,
    },
  };
}
