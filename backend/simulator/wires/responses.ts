import type { Response, ResponseOutputMessage, ResponseStreamEvent } from 'openai/resources/responses/responses';
import * as z from 'zod';
import { openAiError } from './openai-error.ts';
import { textSchema } from './text-parts.ts';
import type { Answer, AnswerStream, ServerEvent, WireFormat, WireRequest } from './wire-format.ts';

const requestSchema = z.object({
  model: z.string().min(1),
  input: z.union([
    z.string().transform((content) => [{ role: 'user' as const, content }]),
    z.array(z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: textSchema })).min(1),
  ]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
});

/** OpenAI's Responses (https://platform.openai.com/docs/api-reference/responses). */
export const responses: WireFormat = {
  read(body): WireRequest {
    const request = requestSchema.parse(body);
    const turns = request.input.map(({ role, content }) => ({
      role: role === 'developer' ? ('system' as const) : role,
      content,
    }));
    return {
      model: request.model,
      messages: request.instructions ? [{ role: 'system', content: request.instructions }, ...turns] : turns,
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
    return {
      opening: () =>
        numbered(
          { type: 'response.created', response: started(answer) },
          { type: 'response.in_progress', response: started(answer) },
          { type: 'response.output_item.added', output_index: 0, item: messageOf(answer, 'in_progress') },
          { type: 'response.content_part.added', ...place, part: part('') },
        ),
      piece: (delta) => numbered({ type: 'response.output_text.delta', ...place, delta, logprobs: [] }),
      closing: () =>
        numbered(
          { type: 'response.output_text.done', ...place, text: answer.text, logprobs: [] },
          { type: 'response.content_part.done', ...place, part: part(answer.text) },
          { type: 'response.output_item.done', output_index: 0, item: messageOf(answer, statusOf(answer)) },
          { type: `response.${statusOf(answer)}`, response: finished(answer) },
        ),
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
    output: [messageOf(answer, statusOf(answer))],
    usage: {
      input_tokens: answer.inputTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: answer.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: answer.inputTokens + answer.outputTokens,
    },
  };
}
