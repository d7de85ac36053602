import type { SpokenMessage } from '../protocol/conversation.ts';
import type { ToolCall } from '../protocol/tool-calls.ts';

type Call = Pick<ToolCall, 'id' | 'name' | 'arguments'>;

/**
 * Open Interpreter gives calls ids of its own when it sends what they returned. @returns the messages with the ids of these calls in the newest turn;
 * undefined where that turn called something else, or results are missing
 */
export function withOwnIds(messages: readonly SpokenMessage[], calls: readonly Call[]): SpokenMessage[] | undefined {
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  const turn = messages[newest];
  const renamed = turn?.role === 'assistant' ? turn.toolCalls ?? [] : [];
  if (renamed.length !== calls.length || !calls.every((call, index) => isSame(call, renamed[index]))) return undefined;
  const ids = new Map(renamed.map(({ id }, index) => [id, calls[index]?.id ?? id]));
  const results = new Set(messages.slice(newest).flatMap((message) => (message.role === 'tool' ? [message.callId] : [])));
  // Two calls with one id cannot be told apart.
  if (ids.size !== calls.length || ![...ids.keys()].every((id) => results.has(id))) return undefined;
  const named = (id: string): string => ids.get(id) ?? id;
  return messages.map((message, index): SpokenMessage => {
    if (index < newest) return message;
    if (message.role === 'tool') return { ...message, callId: named(message.callId) };
    return message.role === 'assistant' ? { ...message, toolCalls: renamed.map((call) => ({ ...call, id: named(call.id) })) } : message;
  });
}

/** Whether the messages have these calls by these ids, as they came last. Some models count their calls anew in each answer, so that ids alone say little. */
export function hasCalled(messages: readonly SpokenMessage[], calls: readonly Call[]): boolean {
  const told = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls ?? [] : []));
  return calls.every((call) => isSame(call, told.findLast(({ id }) => id === call.id)));
}

/** Whether both call the same, however their arguments are spaced. */
function isSame(call: Call, other: Call | undefined): boolean {
  return call.name === other?.name && argumentsOf(call) === argumentsOf(other);
}

function argumentsOf({ arguments: written }: Call): string {
  try {
    return JSON.stringify(JSON.parse(written));
  } catch {
    return written;
  }
}
