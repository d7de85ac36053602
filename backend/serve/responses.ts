import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { AnswerFormat } from '../protocol/conversation.ts';
import { openAiError, parsed, refused } from './endpoint-error.ts';
import { itemsUntil, keepResponse, type Given, type GivenResponse } from './given-responses.ts';
import { NO_LOGPROBS, noTopLogprobs, schemaFormat, schemaFormatFields } from './openai-fields.ts';
import { effortOf, sessionSchema } from './options.ts';
import { responsesAnswer } from './responses-answer.ts';
import { itemsSchema, keptItems, messagesOf, wholeItems } from './responses-items.ts';
import { choiceSchema, ResponsesTools, toolsSchema } from './responses-tools.ts';
import type { Asked, Wire } from './wire.ts';

/* OpenAI's Responses on the wire (https://platform.openai.com/docs/api-reference/responses). */

const formatSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }), z.object({ type: z.literal('json_object') }), z.object({ type: z.literal('json_schema'), ...schemaFormatFields }),
], { error: 'it is text, json_object or json_schema' });

/** What would change the answer is honoured or refused. What else a client sends, such as "metadata" or "truncation", is passed over. */
const requestSchema = z.object({
  model: z.string().min(1).max(64),
  input: itemsSchema,
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  tools: toolsSchema.nullish(),
  tool_choice: choiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  text: z.looseObject({ format: formatSchema.nullish() }).nullish(),
  reasoning: z.looseObject({ effort: z.unknown().optional() }).nullish(),
  top_logprobs: noTopLogprobs,
  include: z.array(z.string().refine((part) => part !== 'message.output_text.logprobs', NO_LOGPROBS)).nullish(),
  previous_response_id: z.string().min(1).max(256).nullish(),
  conversation: refused('conversations are not kept here: name the last response as "previous_response_id", or send the whole conversation as "input"'),
  prompt: refused('prompts that OpenAI keeps are not here: send "instructions" and "input"'),
  prompt_cache_key: sessionSchema,
  // Codex says so, and sends all of it each time.
  store: z.boolean().nullish(),
  background: z.literal(false, { error: 'an answer is given while its client waits' }).nullish(),
});
type ResponsesRequest = z.infer<typeof requestSchema>;

export const responses = (given: Given): Wire => ({
  read(body): Asked {
    const { model, input, instructions, store, previous_response_id: previous, tools: brought, tool_choice: choice, temperature, top_p: topP, max_output_tokens: maxOutputTokens, parallel_tool_calls: parallelCalls, ...request } = parsed(requestSchema, body);
    const tools = new ResponsesTools(brought ?? []);
    const before = previous ? keptItems(itemsUntil(previous, given.responses)) : [];
    const items = wholeItems(input, given.items);
    const id = `resp_${randomUUID().replaceAll('-', '')}`;
    const keep = (response: GivenResponse['response']): void => keepResponse({ id, ...(previous && { previous }), sent: items, response }, given);
    const format = formatOf(request.text);
    return {
      turn: {
        model,
        messages: [...(instructions ? [{ role: 'system' as const, content: instructions }] : []), ...messagesOf([...before, ...items])],
        ...tools.chosen(choice),
        ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
        ...(typeof temperature === 'number' && { temperature }),
        ...(typeof topP === 'number' && { topP }),
        ...(typeof parallelCalls === 'boolean' && { parallelCalls }),
        ...(format && { format }),
        ...effortOf(request.reasoning?.effort),
      },
      stops: [],
      isStreamed: request.stream === true,
      session: request.prompt_cache_key ?? undefined,
      answer: responsesAnswer({ id, model, createdAt: Math.floor(Date.now() / 1_000), parallelCalls: parallelCalls ?? true, previous: previous ?? null }, tools, store === false ? undefined : keep),
    };
  },
  error: openAiError,
});

function formatOf(text: ResponsesRequest['text']): AnswerFormat | undefined {
  const format = text?.format;
  if (format?.type === 'json_object') return 'json';
  return format?.type === 'json_schema' ? schemaFormat(format) : undefined;
}
