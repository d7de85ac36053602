import * as z from 'zod';
import { conversationSchema, type Conversation } from '../protocol/conversation.ts';

const stop = z.string().min(1).max(1_000);
/** Sequences before which the answer ends. */
export const stopListSchema = z.array(stop).max(16);
/** The same, where a single one may stand alone. */
export const stopsSchema = z.union([stop, stopListSchema], { error: 'a text, or up to 16 of them, none empty' });

/** How much the speaker is to think. Clients name efforts of their own models: those that workers do not have are passed over. */
export function effortOf(effort: unknown): Pick<Conversation, 'reasoningEffort'> {
  const named = conversationSchema.shape.reasoningEffort.safeParse(effort);
  return named.data === undefined ? {} : { reasoningEffort: named.data };
}

/** What is alike in all requests of a conversation, so that its beginning is found in a cache: Kimi Code names its session so. */
export const sessionSchema = z.string().nullish().catch(undefined);
