import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { AnswerFormat, OfferedTool, SpokenMessage } from '../protocol/conversation.ts';
import { openAiError, parsed, refused } from './endpoint-error.ts';
import { contentOf, contentSchema, textOf } from './message-parts.ts';
import { allowedModeSchema, allowedTools, choiceModeSchema, NO_LOGPROBS, NO_PARAMETERS, noTopLogprobs, parametersSchema, schemaFormat, schemaFormatFields } from './openai-fields.ts';
import { effortOf, sessionSchema, stopsSchema } from './options.ts';
import type { AnswerForm, Asked, AskedTurn, Said, ServerEvent, Wire } from './wire.ts';
import { beside } from './usage-beside.ts';

/* OpenAI's Chat Completions on the wire (https://platform.openai.com/docs/api-reference/chat). */

const callSchema = z.object({ id: z.string().min(1), function: z.object({ name: z.string(), arguments: z.string() }) });

const nameSchema = z.string().max(256).nullish();

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content: contentSchema, name: nameSchema }),
  z.object({ role: z.literal('assistant'), content: contentSchema, name: nameSchema, tool_calls: z.array(callSchema).nullish() }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: contentSchema }),
]);

const namedSchema = z.object({ type: z.literal('function'), function: z.object({ name: z.string().min(1) }) });
const choiceSchema = z.union([
  choiceModeSchema, namedSchema, z.object({ type: z.literal('allowed_tools'), allowed_tools: z.object({ mode: allowedModeSchema, tools: z.array(namedSchema).min(1).max(1_000) }) }),
], { error: 'it is "auto", "none", "required", one function or the functions that are allowed' });

const formatSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), json_schema: z.object(schemaFormatFields) }),
], { error: 'it is text, json_object or json_schema' });

const penaltySchema = z.number().min(-2).max(2).nullish();

/** What would change the answer is honoured or refused. What else a client sends, such as "user", "metadata" or "service_tier", is passed over. */
const requestSchema = z.object({
  model: z.string().min(1).max(64),
  messages: z.array(messageSchema).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z.array(z.object({
    type: z.literal('function', { error: 'only tools of type "function" are handed on' }),
    function: z.object({ name: z.string().min(1).max(128), description: z.string().nullish(), parameters: parametersSchema, strict: z.boolean().nullish() }),
  })).max(1_000).nullish(),
  tool_choice: choiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: formatSchema.nullish(),
  stop: stopsSchema.nullish(),
  seed: z.number().int().nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning_effort: z.string().nullish(),
  n: z.literal(1, { error: 'one answer is given to a request' }).nullish(),
  logprobs: z.literal(false, { error: NO_LOGPROBS }).nullish(),
  top_logprobs: noTopLogprobs,
  logit_bias: z.record(z.string(), z.never({ error: 'not every worker has one: leave it out' })).nullish(),
  presence_penalty: penaltySchema,
  frequency_penalty: penaltySchema,
  functions: refused('send "tools" instead'),
  function_call: refused('send "tool_choice" instead'),
  modalities: z.array(z.literal('text', { error: 'workers answer in text alone' })).nullish(),
  audio: refused('workers answer in text alone'),
  web_search_options: refused('bring a tool that searches'),
  prompt_cache_key: sessionSchema,
});
type ChatRequest = z.infer<typeof requestSchema>;

export const chatCompletions: Wire = {
  read(body): Asked {
    const request = parsed(requestSchema, body);
    const head = { id: `chatcmpl-${randomUUID()}`, model: request.model, created: Math.floor(Date.now() / 1_000) };
    return {
      turn: turnOf(request), stops: [request.stop ?? []].flat(), isStreamed: request.stream === true, session: request.prompt_cache_key ?? undefined,
      answer: answerForm(head, { usage: request.stream_options?.include_usage === true }),
    };
  },
  error: openAiError,
};

function turnOf({ model, messages, tools, max_tokens, max_completion_tokens, temperature, top_p, seed, ...request }: ChatRequest): AskedTurn {
  const maxOutputTokens = max_completion_tokens ?? max_tokens ?? undefined;
  const offered = (tools ?? []).map(({ function: { name, description, parameters, strict } }) => ({ name, description: description ?? '', parameters: parameters ?? NO_PARAMETERS, ...(strict && { isStrict: true }) }));
  const format = formatOf(request.response_format);
  return {
    model,
    messages: messages.map((message, index) => spoken(message, { isNewest: index === messages.length - 1 })),
    ...chosenTools(offered, request.tool_choice),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof seed === 'number' && { seed }),
    ...(request.frequency_penalty && { frequencyPenalty: request.frequency_penalty }),
    ...(request.presence_penalty && { presencePenalty: request.presence_penalty }),
    ...(typeof request.parallel_tool_calls === 'boolean' && { parallelCalls: request.parallel_tool_calls }),
    ...(format && { format }),
    ...effortOf(request.reasoning_effort),
  };
}

function chosenTools(tools: OfferedTool[], choice: ChatRequest['tool_choice']): Pick<AskedTurn, 'tools' | 'toolChoice'> {
  if (!choice) return { tools };
  if (typeof choice === 'string') return { tools, toolChoice: choice };
  if (choice.type === 'function') return { tools, toolChoice: choice.function };
  const { mode, tools: allowed } = choice.allowed_tools;
  return allowedTools(tools, { mode, names: allowed.map(({ function: { name } }) => name) });
}

function formatOf(format: ChatRequest['response_format']): AnswerFormat | undefined {
  if (format?.type === 'json_object') return 'json';
  return format?.type === 'json_schema' ? schemaFormat(format.json_schema) : undefined;
}

function spoken(message: ChatRequest['messages'][number], { isNewest }: { readonly isNewest: boolean }): SpokenMessage {
  const named = 'name' in message && message.name ? { name: message.name } : {};
  switch (message.role) {
    case 'assistant':
      return { role: 'assistant', content: textOf(message.content), ...named, ...(message.tool_calls?.length && { toolCalls: message.tool_calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given })) }) };
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, ...contentOf(message.content) };
    case 'user':
      return { role: 'user', ...contentOf(message.content, { isNewest }), ...named };
    default:
      return { role: 'system', content: textOf(message.content), ...named };
  }
}

interface Head {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
}

const FINISH = { 'stop': 'stop', 'length': 'length', 'content-filter': 'content_filter' } as const;
const finishOf = ({ calls, finishReason }: Said): string => (calls.length > 0 ? 'tool_calls' : FINISH[finishReason]);
const callsOf = ({ calls }: Said): object[] => calls.map(({ id, name, arguments: given }) => ({ id, type: 'function', function: { name, arguments: given } }));

/** Names the software that answered, and is shown in logs. Streams tell their usage only where they are asked for it. */
const labelOf = ({ simulated }: Said): { readonly system_fingerprint?: string } => (simulated ? { system_fingerprint: 'conductor-simulated' } : {});

/** The speaker's tokens in OpenAI's fields; what the plan and its other steps took stands beside them. */
function usageOf({ usage, orchestration, cost, simulated }: Said): object {
  const prompt = usage.uncachedInput + usage.cacheRead + usage.cacheWrite;
  const completion = usage.output + usage.reasoning;
  return {
    prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    ...beside({ orchestration, cost, simulated }),
  };
}

function answerForm({ id, model, created }: Head, { usage }: { readonly usage: boolean }): AnswerForm {
  const chunk = (delta: object, finish: string | null = null, label: object = {}): ServerEvent =>
    ({ data: { id, object: 'chat.completion.chunk', created, model, ...label, choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] } });
  return {
    whole: (said) => {
      const calls = callsOf(said);
      return {
        id, object: 'chat.completion', created, model, ...labelOf(said),
        choices: [{ index: 0, message: { role: 'assistant', content: said.text === '' && calls.length > 0 ? null : said.text, ...(calls.length > 0 && { tool_calls: calls }) }, finish_reason: finishOf(said), logprobs: null }],
        usage: usageOf(said),
      };
    },
    opening: () => [chunk({ role: 'assistant', content: '' })],
    text: (piece) => [chunk({ content: piece })],
    closing: (said) => {
      const calls = callsOf(said);
      return [
        ...(calls.length > 0 ? [chunk({ tool_calls: calls.map((call, index) => ({ index, ...call })) })] : []),
        chunk({}, finishOf(said), labelOf(said)),
        ...(usage ? [{ data: { id, object: 'chat.completion.chunk', created, model, choices: [], usage: usageOf(said) } }] : []),
        { data: '[DONE]' },
      ];
    },
    failed: (problem) => [{ data: openAiError(problem).body }],
  };
}
