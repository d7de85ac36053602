import { WORKER_ERROR, type EndpointError } from './endpoint-error.ts';
import type { GivenResponse } from './given-responses.ts';
import type { CallItem, ResponsesTools } from './responses-tools.ts';
import { beside } from './usage-beside.ts';
import type { AnswerForm, Said, ServerEvent } from './wire.ts';

/* What a worker said, as a response of OpenAI's: one message, then an item for each call. */

interface Head {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly parallelCalls: boolean;
  /** The response that it goes on from. */
  readonly previous: string | null;
}

/** Why an answer is not whole, by how it finished. */
const INCOMPLETE = { 'stop': undefined, 'length': 'max_output_tokens', 'content-filter': 'content_filter' } as const;

/** @param keep keeps the response, so that the client can go on from it. Absent if it wants nothing stored. */
export function responsesAnswer(head: Head, tools: ResponsesTools, keep?: (response: GivenResponse['response']) => void): AnswerForm {
  const messageId = head.id.replace(/^resp/, 'msg');
  const place = { item_id: messageId, output_index: 0, content_index: 0 };
  let sequence = 0;
  let said = '';
  const named = (type: string, data: object): ServerEvent => ({ event: type, data: { type, ...data, sequence_number: sequence++ } });
  const message = (text: string, status: string): { readonly id: string } & Record<string, unknown> => ({ id: messageId, type: 'message', status, role: 'assistant', content: [textPart(text)] });
  const statusOf = ({ finishReason, calls }: Said): string => (calls.length > 0 || INCOMPLETE[finishReason] === undefined ? 'completed' : 'incomplete');

  const callItems = ({ calls }: Said): CallItem[] => calls.map((call, index) => tools.item(call, `${head.id.replace(/^resp_/, '')}_${index}`));

  const whole = (one: Said): object => {
    const status = statusOf(one);
    const calls = callItems(one);
    const output = [...(one.text === '' && calls.length > 0 ? [] : [message(one.text, status)]), ...calls];
    const response = {
      ...begun(head), status, store: keep !== undefined,
      incomplete_details: status === 'incomplete' ? { reason: INCOMPLETE[one.finishReason] } : null,
      output,
      usage: usageOf(one),
    };
    keep?.(response);
    return response;
  };

  const messageBegun = (): ServerEvent[] => [
    named('response.output_item.added', { output_index: 0, item: { id: messageId, type: 'message', status: 'in_progress', role: 'assistant', content: [] } }),
    named('response.content_part.added', { ...place, part: textPart('') }),
  ];
  const messageEnded = (one: Said): ServerEvent[] => [
    named('response.output_text.done', { ...place, text: one.text, logprobs: [] }),
    named('response.content_part.done', { ...place, part: textPart(one.text) }),
    named('response.output_item.done', { output_index: 0, item: message(one.text, statusOf(one)) }),
  ];
  const called = (item: CallItem, output_index: number): ServerEvent[] => {
    const at = { item_id: item.id, output_index };
    const written = item.type === 'function_call' ? { arguments: item.arguments } : { input: item.input };
    const [part, text] = item.type === 'function_call' ? ['response.function_call_arguments', item.arguments] : ['response.custom_tool_call_input', item.input];
    const nothing = Object.fromEntries(Object.keys(written).map((key) => [key, '']));
    return [
      named('response.output_item.added', { output_index, item: { ...item, ...nothing, status: 'in_progress' } }),
      named(`${part}.delta`, { ...at, delta: text }),
      named(`${part}.done`, { ...at, ...written }),
      named('response.output_item.done', { output_index, item }),
    ];
  };

  return {
    whole,
    opening: () => [named('response.created', { response: begun(head) }), named('response.in_progress', { response: begun(head) })],
    text: (piece) => {
      const opening = said === '' ? messageBegun() : [];
      said += piece;
      return [...opening, named('response.output_text.delta', { ...place, delta: piece, logprobs: [] })];
    },
    closing: (one) => {
      const hasMessage = said !== '' || one.calls.length === 0;
      const first = hasMessage ? 1 : 0;
      return [
        ...(said === '' && hasMessage ? messageBegun() : []),
        ...(hasMessage ? messageEnded(one) : []),
        ...callItems(one).flatMap((item, index) => called(item, first + index)),
        named(`response.${statusOf(one)}`, { response: whole(one) }),
      ];
    },
    failed: (problem) => [named('response.failed', {
      response: { ...begun(head), status: 'failed', error: { code: failureCode(problem), message: problem.message }, output: said === '' ? [] : [message(said, 'incomplete')] },
    })],
    // Codex takes every status but these two for a reason to try again, each time at the cost of a run, and waits without a word as long as `Retry-After`
    // says. Of a status it shows the body as it is, of a response that failed its sentence.
    isToldInStream: ({ status, type, isWorthRetry }) => !isWorthRetry && (type === WORKER_ERROR || (status !== 400 && status !== 404)),
    // Codex gives up a stream that brings no event for five minutes; a comment is none.
    keepAlive: () => [named('keepalive', {})],
  };
}

function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** A response as its stream begins it. */
function begun({ id, model, createdAt, parallelCalls, previous }: Head): object {
  return {
    id, object: 'response', created_at: createdAt, status: 'in_progress', background: false, error: null, incomplete_details: null, instructions: null, max_output_tokens: null, metadata: {}, model,
    output: [], parallel_tool_calls: parallelCalls, previous_response_id: previous, reasoning: { effort: null, summary: null }, store: false, temperature: null, text: { format: { type: 'text' } },
    tool_choice: 'auto', tools: [], top_p: null, truncation: 'disabled', usage: null, user: null,
  };
}

/** The speaker's tokens in OpenAI's fields. */
function usageOf({ usage, orchestration, cost, simulated }: Said): object {
  const input = usage.uncachedInput + usage.cacheRead + usage.cacheWrite;
  const output = usage.output + usage.reasoning;
  return {
    input_tokens: input, input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: output, output_tokens_details: { reasoning_tokens: usage.reasoning }, total_tokens: input + output,
    ...beside({ orchestration, cost, simulated }),
  };
}

/**
 * Codex tries again after a code that it does not know, and each try may cost something. Of `insufficient_quota` it tells a sentence of its own, about
 * a bill at OpenAI, so that nobody would read which limit it is.
 */
function failureCode({ code, isWorthRetry }: EndpointError): string {
  return isWorthRetry || code === 'context_length_exceeded' ? code : 'invalid_prompt';
}
