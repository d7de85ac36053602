import type { ServerProvider } from '../../backend/protocol/providers.ts';

/*
 * Tool calls as each API streams them (types: openai/resources, @anthropic-ai/sdk/resources), and the parts of a request that show what was
 * given back.
 */

export interface WiredCall {
  readonly id: string;
  readonly name: string;
  /** Its arguments, in the pieces in which they are sent. */
  readonly pieces: readonly string[];
}

export interface ToolWire {
  /** The beginning of a turn with one call that has not ended, and more of its arguments. */
  begun(name: string, written: string): string;
  more(written: string): string;
  /** A turn with text, then calls, that ended for `finish`. */
  turn(text: string, calls: readonly WiredCall[], finish?: 'calls' | 'length'): string;
}

const named = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const unnamed = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

export const chatDelta = (delta: object, finish_reason: string | null = null) =>
  unnamed({ id: '1', object: 'chat.completion.chunk', model: 'served', choices: [{ index: 0, delta, finish_reason }] });

export const chatEnd = (finish = 'tool_calls') =>
  chatDelta({}, finish) +
  unnamed({ model: 'served', choices: [], usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 } }) +
  'data: [DONE]\n\n';

const chatMore = (written: string) => chatDelta({ tool_calls: [{ index: 0, function: { arguments: written } }] });

const chat: ToolWire = {
  begun: (name, written) => chatDelta({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name, arguments: '' } }] }) + chatMore(written),
  more: chatMore,
  turn: (text, calls, finish = 'calls') =>
    chatDelta({ role: 'assistant', content: text || null }) +
    calls.map(({ id, name, pieces }, index) => [
      chatDelta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...pieces.map((piece) => chatDelta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ].join('')).join('') +
    chatEnd(finish === 'calls' ? 'tool_calls' : 'length'),
};

export const responsesEnd = (fields: object = { status: 'completed' }, end = 'response.completed') =>
  named(end, { response: { id: '1', model: 'served', usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 }, ...fields } });

/** An output item: begun, its arguments in pieces, and done. */
export const responsesItem = (output_index: number, item: object, pieces: readonly string[] = []) =>
  named('response.output_item.added', { output_index, item: { ...item, ...(pieces.length > 0 && { arguments: '' }) } }) +
  pieces.map((delta) => named('response.function_call_arguments.delta', { output_index, item_id: 'x', delta })).join('') +
  named('response.output_item.done', { output_index, item: { ...item, ...(pieces.length > 0 && { arguments: pieces.join('') }) } });

const responsesMore = (delta: string) => named('response.function_call_arguments.delta', { output_index: 0, item_id: 'x', delta });

const responses: ToolWire = {
  begun: (name, written) =>
    named('response.output_item.added', { output_index: 0, item: { type: 'function_call', call_id: 'call_a', name, arguments: '' } }) + responsesMore(written),
  more: responsesMore,
  turn: (text, calls, finish = 'calls') =>
    named('response.created', { response: { id: '1', status: 'in_progress' } }) +
    (text && named('response.output_text.delta', { output_index: 0, delta: text })) +
    calls.map(({ id, name, pieces }, index) =>
      responsesItem(index + 1, { type: 'function_call', id: `fc_${index}`, call_id: id, name }, pieces)).join('') +
    (finish === 'calls'
      ? responsesEnd()
      : responsesEnd({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete')),
};

export const messagesStart = named('message_start', { message: { id: '1', model: 'served', usage: { input_tokens: 20, output_tokens: 1 } } });
export const messagesBlock = (index: number, content_block: object, deltas: readonly object[]) =>
  named('content_block_start', { index, content_block }) +
  deltas.map((delta) => named('content_block_delta', { index, delta })).join('') +
  named('content_block_stop', { index });
export const messagesEnd = (stop_reason = 'tool_use') =>
  named('message_delta', { delta: { stop_reason }, usage: { output_tokens: 7 } }) + named('message_stop', {});

const messagesMore = (partial_json: string) => named('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json } });

const messages: ToolWire = {
  begun: (name, written) =>
    messagesStart + named('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'call_a', name, input: {} } }) + messagesMore(written),
  more: messagesMore,
  turn: (text, calls, finish = 'calls') =>
    messagesStart +
    (text && messagesBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text }])) +
    calls.map(({ id, name, pieces }, index) =>
      messagesBlock(index + 1, { type: 'tool_use', id, name, input: {} }, [
        { type: 'input_json_delta', partial_json: '' },
        ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ])).join('') +
    messagesEnd(finish === 'calls' ? 'tool_use' : 'max_tokens'),
};

export const toolWires: Readonly<Record<ServerProvider, ToolWire>> = { openai: responses, 'openai-compatible': chat, anthropic: messages };
