import * as z from 'zod';
import { invalid } from './endpoint-error.ts';

/*
 * Contents of messages, which workers are sent as text alone. A picture in the person's newest message is refused, because the answer would miss what
 * was asked. Of older ones, and of those that tools returned, the worker is told that there was one.
 */

const partSchema = z.looseObject({ type: z.string() });
type Part = z.infer<typeof partSchema>;

export const contentSchema = z.union([z.string(), z.array(partSchema), z.null()]).optional();
export type Content = z.infer<typeof contentSchema>;

/** Texts in the formats of all wires, and of documents that are text. */
function textIn({ text, type, source, refusal }: Part): string | undefined {
  if (typeof text === 'string') return text;
  if (typeof refusal === 'string') return refusal;
  const { type: kind, data } = (typeof source === 'object' && source !== null ? source : {}) as { type?: unknown; data?: unknown };
  return type === 'document' && kind === 'text' && typeof data === 'string' ? data : undefined;
}

/** The content as text. */
export function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => textIn(part) ?? `[${part.type}: not shown, since workers are sent text alone]`).join('\n');
}

/** @throws EndpointError if the person's newest message holds more than text */
export function checkNewest(content: Content): void {
  if (typeof content === 'string') return;
  const other = content?.find((part) => textIn(part) === undefined);
  if (other) throw invalid(`The newest message holds "${other.type}": workers are sent text alone. Describe in words what it shows.`, 400, 'unsupported_content');
}
