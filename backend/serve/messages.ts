import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Conversation, OfferedTool, SpokenMessage, ToolChoice } from '../protocol/conversation.ts';
import { invalid, parsed, refused, type EndpointError } from './endpoint-error.ts';
import { contentOf, contentSchema, textOf } from './message-parts.ts';
import { effortOf, stopListSchema } from './options.ts';
import { beside } from './usage-beside.ts';
import type { AnswerForm, Asked, Said, ServerEvent, Wire } from './wire.ts';

/* Anthropic's Messages on the wire (https://platform.claude.com/docs/en/api/messages). */

const toolUseSchema = z.object({ type: z.literal('tool_use'), id: z.string().min(1), name: z.string(), input: z.unknown().optional() });
const toolResultSchema = z.object({ type: z.literal('tool_result'), tool_use_id: z.string().min(1), content: contentSchema, is_error: z.boolean().nullish() });
const messageSchema = z.object({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(z.union([toolUseSchema, toolResultSchema, z.looseObject({ type: z.string() })]))]),
});
type Message = z.infer<typeof messageSchema>;

const toolSchema = z.looseObject({ name: z.string().min(1).max(128), description: z.string().nullish(), type: z.string().nullish(), input_schema: z.record(z.string(), z.unknown()).nullish(), defer_loading: z.boolean().nullish() });
type Tool = z.infer<typeof toolSchema>;

const choiceSchema = z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']), name: z.string().min(1).optional(), disable_parallel_tool_use: z.boolean().optional() })
  .refine(({ type, name }) => type !== 'tool' || name !== undefined, 'it lacks the name of the tool');

const promptSchema = z.object({
  messages: z.array(messageSchema).min(1).max(10_000),
  system: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string() }))]).nullish(),
  tools: z.array(toolSchema).max(1_000).nullish(),
});

/** What would change the answer is honoured or refused. What else a client sends, such as "metadata", "thinking" or "context_management", is passed over. */
const requestSchema = promptSchema.extend({
  model: z.string().min(1).max(64),
  max_tokens: z.number().int().min(1),
  stream: z.boolean().nullish(),
  tool_choice: choiceSchema.nullish(),
  stop_sequences: stopListSchema.nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  // How a provider wants thinking to be asked for changes often: what is not known is no error.
  thinking: z.unknown().optional(),
  output_config: z.looseObject({ effort: z.unknown().optional(), format: z.object({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).nullish() }).nullish(),
  top_k: refused('not every worker has one: leave it out'),
  mcp_servers: z.array(z.never({ error: 'name them in your own program, and bring their tools' })).nullish(),
  container: refused('there are no containers here: bring a tool that runs code'),
});

/** Claude Code's note to its provider's billing, which is no part of the prompt. */
const BILLING = /^x-anthropic-billing-header:/;

export const messages: Wire = {
  read(body): Asked {
    const request = parsed(requestSchema, body);
    const { model, max_tokens: maxOutputTokens, temperature, top_p: topP, tool_choice: choice, output_config: output } = request;
    const newest = request.messages.findLast(({ role }) => role !== 'system');
    // LangGraph asks so for an answer once more, by a tool or by a schema: what it is to be then does not begin with the last message.
    const isFormed = choice?.type === 'tool' || choice?.type === 'any' || output?.format != null;
    if (newest?.role === 'assistant' && !isFormed) throw invalid('messages: the last one is the assistant\'s, but workers begin their answers themselves.');
    const isThoughtless = (request.thinking as { type?: unknown } | null | undefined)?.type === 'disabled';
    return {
      turn: {
        model, maxOutputTokens, ...promptOf(request),
        ...(typeof temperature === 'number' && { temperature }),
        ...(typeof topP === 'number' && { topP }),
        ...(choice && { toolChoice: choiceOf(choice) }),
        ...(choice?.disable_parallel_tool_use && { parallelCalls: false }),
        ...(output?.format && { format: { name: 'answer', schema: output.format.schema } }),
        ...(isThoughtless ? { reasoningEffort: 'none' as const } : effortOf(output?.effort)),
      },
      stops: request.stop_sequences ?? [],
      isStreamed: request.stream === true,
      answer: answerForm({ id: `msg_${randomUUID().replaceAll('-', '')}`, model }),
    };
  },
  error: messagesError,
};

/** The part of a request whose tokens are counted. @throws EndpointError */
export function countedPrompt(body: unknown): Pick<Conversation, 'messages' | 'tools'> {
  return promptOf(parsed(promptSchema, body));
}

function promptOf({ messages: sent, system, tools }: z.infer<typeof promptSchema>): Pick<Conversation, 'messages' | 'tools'> {
  const newest = sent.findLastIndex(({ role }) => role !== 'system');
  const said = typeof system === 'string' ? system : (system ?? []).map(({ text }) => text).filter((text) => !BILLING.test(text)).join('\n\n');
  return { messages: [...(said.trim() === '' ? [] : [{ role: 'system' as const, content: said }]), ...sent.flatMap((message, index) => spoken(message, { isNewest: index === newest }))], tools: offered(tools ?? [], sent).map(toolOf) };
}

/** A tool whose loading is deferred is the model's once a result of the client's search names it. */
function offered(tools: readonly Tool[], messages: readonly Message[]): Tool[] {
  const results = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter(isResult)));
  const found = new Set(results.flatMap(({ content }) => (Array.isArray(content) ? content.map(({ tool_name: name }) => name) : [])));
  return tools.filter(({ name, defer_loading: isDeferred }) => !isDeferred || found.has(name));
}

/** @throws EndpointError for a tool that Anthropic's servers define or run */
function toolOf({ name, description, type, input_schema: parameters }: Tool): OfferedTool {
  if (!parameters) throw invalid(`tools: "${name}" (${type ?? 'no type'}) has no input_schema. Tools that Anthropic's servers define or run are not here.`);
  return { name, description: description ?? '', parameters };
}

function choiceOf({ type, name = '' }: z.infer<typeof choiceSchema>): ToolChoice {
  return type === 'tool' ? { name } : type === 'any' ? 'required' : type;
}

/** Results are messages of their own, before what is said with them. Thinking is left out: that of workers is kept here, and goes back to its provider. */
function spoken({ role, content }: Message, { isNewest }: { readonly isNewest: boolean }): SpokenMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  const results = content.flatMap((block): SpokenMessage[] => (isResult(block) ? [{ role: 'tool', callId: block.tool_use_id, ...contentOf(block.content), ...(block.is_error && { isError: true }) }] : []));
  const toolCalls = content.flatMap((block) => (isCall(block) ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input ?? {}) }] : []));
  const parts = content.filter((block) => !isResult(block) && !isCall(block) && block.type !== 'thinking' && block.type !== 'redacted_thinking');
  if (role === 'assistant') return [{ role, content: textOf(parts), ...(toolCalls.length > 0 && { toolCalls }) }];
  return [...results, ...(parts.length > 0 || results.length === 0 ? [said(role, parts, isNewest)] : [])];
}

function said(role: 'user' | 'system', parts: Exclude<Message['content'], string>, isNewest: boolean): SpokenMessage {
  return role === 'user' ? { role, ...contentOf(parts, { isNewest }) } : { role, content: textOf(parts) };
}

type Block = Exclude<Message['content'], string>[number];
const isCall = (block: Block): block is z.infer<typeof toolUseSchema> => block.type === 'tool_use';
const isResult = (block: Block): block is z.infer<typeof toolResultSchema> => block.type === 'tool_result';

/** An answer as a stream begins it. Its input is counted at the end. */
function begun({ id, model }: Head): object {
  return { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 } };
}

interface Head {
  readonly id: string;
  readonly model: string;
}

function answerForm(head: Head): AnswerForm {
  let hasText = false;
  const named = (data: { readonly type: string } & Record<string, unknown>): ServerEvent => ({ event: data.type, data });
  const block = (index: number, start: object, delta: object): ServerEvent[] => [
    named({ type: 'content_block_start', index, content_block: start }),
    named({ type: 'content_block_delta', index, delta }),
    named({ type: 'content_block_stop', index }),
  ];
  return {
    whole: (said) => ({
      ...begun(head),
      content: [
        ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
        ...said.calls.map(({ id, name, arguments: given }) => ({ type: 'tool_use', id, name, input: inputOf(given) ?? {} })),
      ],
      stop_reason: stopReasonOf(said), stop_sequence: said.stoppedAt ?? null, usage: usageOf(said),
    }),
    opening: () => [named({ type: 'message_start', message: begun(head) }), named({ type: 'ping' })],
    text: (text) => {
      const opening = hasText ? [] : [named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })];
      hasText = true;
      return [...opening, named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })];
    },
    closing: (said) => {
      const first = hasText ? 1 : 0;
      return [
        ...(hasText ? [named({ type: 'content_block_stop', index: 0 })] : []),
        ...said.calls.flatMap(({ id, name, arguments: given }, index) =>
          block(first + index, { type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: inputOf(given) ? given : '{}' })),
        named({ type: 'message_delta', delta: { stop_reason: stopReasonOf(said), stop_sequence: said.stoppedAt ?? null }, usage: usageOf(said) }),
        named({ type: 'message_stop' }),
      ];
    },
    failed: (problem) => [{ event: 'error', data: messagesError(problem).body }],
    keepAlive: () => [named({ type: 'ping' })],
  };
}

/** Undefined if a call's arguments are no object. Such a call is sent without any: the client's own check of the tool says what is missing. */
function inputOf(written: string): object | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function stopReasonOf({ calls, finishReason, stoppedAt }: Said): string {
  if (stoppedAt !== undefined) return 'stop_sequence';
  if (calls.length > 0) return 'tool_use';
  return { 'stop': 'end_turn', 'length': 'max_tokens', 'content-filter': 'refusal' }[finishReason];
}

/** The speaker's tokens in Anthropic's fields. */
function usageOf({ usage, orchestration, cost, simulated }: Said): object {
  return {
    input_tokens: usage.uncachedInput, cache_creation_input_tokens: usage.cacheWrite, cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output + usage.reasoning, output_tokens_details: { thinking_tokens: usage.reasoning },
    ...beside({ orchestration, cost, simulated }),
  };
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error', 401: 'authentication_error', 402: 'billing_error', 403: 'permission_error', 404: 'not_found_error', 413: 'request_too_large', 429: 'rate_limit_error', 529: 'overloaded_error',
};

/** As Anthropic's clients read it. */
function messagesError({ status: general, code, message }: EndpointError): { status: number; body: object } {
  const status = code === 'overloaded' ? 529 : general;
  return { status, body: { type: 'error', error: { type: TYPES[status] ?? 'api_error', message }, request_id: null } };
}
