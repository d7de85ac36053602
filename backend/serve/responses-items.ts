import * as z from 'zod';
import type { SpokenMessage } from '../protocol/conversation.ts';
import type { ToolCall } from '../protocol/tool-calls.ts';
import { invalid } from './endpoint-error.ts';
import type { OwnItems } from './given-items.ts';
import { contentOf, contentSchema, textOf } from './message-parts.ts';
import { inputArguments, workerName } from './responses-tools.ts';

/* The input of OpenAI's Responses: items, of which several make up what workers know as one message. */

const id = z.string().min(1);
const namespace = z.string().nullish();

const messageSchema = z.object({ type: z.literal('message'), role: z.enum(['system', 'developer', 'user', 'assistant']), content: contentSchema });
const callSchema = z.object({ type: z.literal('function_call'), call_id: id, name: z.string(), namespace, arguments: z.string() });
const customCallSchema = z.object({ type: z.literal('custom_tool_call'), call_id: id, name: z.string(), namespace, input: z.string() });
const outputSchema = z.object({ type: z.enum(['function_call_output', 'custom_tool_call_output']), call_id: id, output: contentSchema });
/** Of other models: what they thought, which is theirs alone, and what their provider's servers looked up, which their answers tell. */
const leftOutSchema = z.object({ type: z.enum(['reasoning', 'web_search_call']) });
/** Stands for an item that was given here. */
const referenceSchema = z.object({ type: z.literal('item_reference'), id });

const typed = (item: unknown): unknown => (typeof item === 'object' && item !== null && !('type' in item) ? { ...item, type: 'message' } : item);

const itemSchema = z.preprocess(typed, z.discriminatedUnion('type', [messageSchema, callSchema, customCallSchema, outputSchema, leftOutSchema, referenceSchema], {
  error: ({ input }) => `items of type "${String((input as { type?: unknown } | null)?.type)}" are not known here, where no provider's tools run`,
}));
export type Item = z.infer<typeof itemSchema>;

/** A text alone is what the person says. */
export const itemsSchema = z.preprocess((input) => (typeof input === 'string' && input !== '' ? [{ role: 'user', content: input }] : input), z.array(itemSchema).min(1).max(10_000));

/** The items with those that references stand for. @throws EndpointError for one that is not known */
export function wholeItems(items: readonly Item[], given: OwnItems): Item[] {
  return items.map((item) => (item.type === 'item_reference' ? itemOf(item.id, given) : item));
}

/** Items that were kept. */
export function keptItems(items: readonly unknown[]): Item[] {
  return items.map((item) => itemSchema.parse(item));
}

/** Calls belong to what the assistant said before them. */
export function messagesOf(items: readonly Item[]): SpokenMessage[] {
  const messages: SpokenMessage[] = [];
  for (const [index, item] of items.entries()) {
    const call = callOf(item);
    const last = messages.at(-1);
    if (call && last?.role === 'assistant') messages.splice(-1, 1, { ...last, toolCalls: [...(last.toolCalls ?? []), call] });
    else if (call) messages.push({ role: 'assistant', content: '', toolCalls: [call] });
    else messages.push(...spoken(item, { isNewest: index === items.length - 1 }));
  }
  return messages;
}

function itemOf(named: string, given: OwnItems): Item {
  const item = given.find(named);
  if (item === undefined) throw invalid(`input: the item "${named}" is not known here, or no more: send it whole. Vercel's AI SDK does with "store": false.`);
  return itemSchema.parse(item);
}

function callOf(item: Item): ToolCall | undefined {
  if (item.type === 'function_call') return { id: item.call_id, name: workerName(item), arguments: item.arguments };
  return item.type === 'custom_tool_call' ? { id: item.call_id, name: workerName(item), arguments: inputArguments(item.input) } : undefined;
}

function spoken(item: Item, { isNewest }: { readonly isNewest: boolean }): SpokenMessage[] {
  if (item.type === 'message' && item.role === 'user') return [{ role: 'user', ...contentOf(item.content, { isNewest }) }];
  if (item.type === 'message') return [{ role: item.role === 'assistant' ? 'assistant' : 'system', content: textOf(item.content) }];
  return 'output' in item ? [{ role: 'tool', callId: item.call_id, ...contentOf(item.output) }] : [];
}
