import * as z from 'zod';
import type { ConverseRequest, ConverseResult, SpokenMessage } from '../../protocol/conversation.ts';

/* OpenAI's Chat Completions on the wire (https://platform.openai.com/docs/api-reference/chat). */

const partSchema = z.union([z.object({ type: z.enum(['text', 'input_text']), text: z.string() }), z.looseObject({ type: z.string() })]);
const contentSchema = z.union([z.string(), z.array(partSchema), z.null()]).optional();
const callSchema = z.object({ id: z.string().min(1), function: z.object({ name: z.string(), arguments: z.string() }) });

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content: contentSchema }),
  z.object({ role: z.literal('assistant'), content: contentSchema, tool_calls: z.array(callSchema).nullish() }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: contentSchema }),
]);

/** What else a client sends is passed over. */
export const chatRequestSchema = z.object({
  model: z.string().min(1).max(64),
  messages: z.array(messageSchema).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(z.object({ type: z.literal('function'), function: z.object({ name: z.string().min(1).max(128), description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() }) })).max(1_000).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.literal(1, { error: 'n: one answer is given to a request.' }).nullish(),
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;

/** The turn that a request asks for, without whose it is. */
export function turnOf({ model, messages, tools, max_tokens, max_completion_tokens, temperature, top_p }: ChatRequest): Omit<ConverseRequest, 'requestId' | 'account' | 'session'> {
  const maxOutputTokens = max_completion_tokens ?? max_tokens ?? undefined;
  return {
    model,
    messages: messages.map(spoken),
    tools: (tools ?? []).map(({ function: { name, description, parameters } }) => ({ name, description: description ?? '', parameters: parameters ?? { type: 'object', properties: {} } })),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
  };
}

function spoken(message: ChatRequest['messages'][number]): SpokenMessage {
  const content = textOf(message.content);
  switch (message.role) {
    case 'assistant':
      return { role: 'assistant', content, ...(message.tool_calls?.length && { toolCalls: message.tool_calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given })) }) };
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, content };
    case 'developer':
      return { role: 'system', content };
    default:
      return { role: message.role, content };
  }
}

/** Workers' messages are text: of a picture or a file it is said that there was one. */
function textOf(content: z.infer<typeof contentSchema>): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => ('text' in part && typeof part.text === 'string' ? part.text : `[${part.type}: not shown, since workers are sent text alone]`)).join('\n');
}

interface Head {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
}

const FINISH = { 'stop': 'stop', 'length': 'length', 'content-filter': 'content_filter' } as const;
const finishOf = ({ calls, finishReason }: ConverseResult): string => (calls.length > 0 ? 'tool_calls' : FINISH[finishReason]);
const callsOf = ({ calls }: ConverseResult): object[] => calls.map(({ id, name, arguments: given }) => ({ id, type: 'function', function: { name, arguments: given } }));

/** The speaker's tokens in OpenAI's fields; what the plan and its other steps took stands beside them. */
function usageOf({ usage, orchestration, cost }: ConverseResult): object {
  const prompt = usage.uncachedInput + usage.cacheRead + usage.cacheWrite;
  const completion = usage.output + usage.reasoning;
  return {
    prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    orchestration_tokens: orchestration.uncachedInput + orchestration.cacheRead + orchestration.cacheWrite + orchestration.output + orchestration.reasoning,
    ...(cost.usd !== undefined && { cost_usd: cost.usd }),
  };
}

/** The body of an answer that is not streamed. */
export function completion({ id, model, created }: Head, result: ConverseResult): object {
  const calls = callsOf(result);
  return {
    id, object: 'chat.completion', created, model,
    choices: [{ index: 0, message: { role: 'assistant', content: result.text === '' && calls.length > 0 ? null : result.text, ...(calls.length > 0 && { tool_calls: calls }) }, finish_reason: finishOf(result), logprobs: null }],
    usage: usageOf(result),
  };
}

const chunk = ({ id, model, created }: Head, delta: object, finish: string | null = null): object =>
  ({ id, object: 'chat.completion.chunk', created, model, choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] });

export const firstChunk = (head: Head): object => chunk(head, { role: 'assistant', content: '' });
export const textChunk = (head: Head, text: string): object => chunk(head, { content: text });

/** What follows the text: the calls, why it ended, and the usage if it was asked for. */
export function lastChunks(head: Head, result: ConverseResult, { usage }: { readonly usage: boolean }): object[] {
  const calls = callsOf(result);
  return [
    ...(calls.length > 0 ? [chunk(head, { tool_calls: calls.map((call, index) => ({ index, ...call })) })] : []),
    chunk(head, {}, finishOf(result)),
    ...(usage ? [{ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices: [], usage: usageOf(result) }] : []),
  ];
}
