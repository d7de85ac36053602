import type { Conversation, SpokenMessage } from '../protocol/conversation.ts';
import { isReminder, personWords } from './person-words.ts';

/*
 * What agents ask for themselves and no person asked: a title for the conversation, a summary of it before they shorten it, what is worth to be
 * remembered of it, and that the model goes on. A plan would cost more and make them no better.
 */

const KINDS = String.raw`\b(?:titles?|summar\w+|compact\w*)\b`;
const SUBJECTS = String.raw`\b(?:conversation|session|thread|chat|context)\b`;
/** Instructions about titles or summaries of conversations, in either order within a sentence. */
const INSTRUCTS = new RegExp(String.raw`${KINDS}[^.]{0,120}${SUBJECTS}|${SUBJECTS}[^.]{0,120}${KINDS}`, 'i');
/** Asked in the conversation itself, with the tools still offered so that caches hold. */
const ASKS = /\bsummar\w+[^.\n]{0,40}\b(?:our (?:conversation|session|chat)|(?:conversation|session|chat)(?: history)? (?:so far|above))\b/i;
/** Qwen Code keeps memories beside the conversation, with tools. */
const KEEPS = /^You are (?:now acting as the|performing a) managed memory\b/;
/** The instructions of an agent for its proper work are long, and may speak of anything. */
const MAX_INSTRUCTIONS = 6_000;
/** A shorter line, such as a title, may stand in what a person writes. */
const MIN_LINE = 80;

type Asked = Pick<Conversation, 'messages' | 'tools'>;

/** Whether an agent asks for a title, a summary or memories of a conversation, or reminds its model to go on. */
export function isOwnBusiness({ messages, tools }: Asked): boolean {
  const words = personWords(messages);
  const hasBegun = messages.some(({ role }) => role === 'assistant');
  if (hasBegun && (ASKS.test(words) || isReminded(messages))) return true;
  if (messages.some(({ role, content }) => role === 'system' && KEEPS.test(content))) return true;
  if (tools.length > 0) return false;
  const instructions = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n');
  const mayTell = [words, instructions].filter((text) => text.length <= MAX_INSTRUCTIONS).join('\n\n');
  return (instructions !== '' || messages.some(hasCalls)) && INSTRUCTS.test(mayTell);
}

/** Whether nothing but a reminder came after an answer, with or without an instruction beside it. */
function isReminded(messages: readonly SpokenMessage[]): boolean {
  const [answer, reminder] = messages.filter(({ role }) => role !== 'system').slice(-2);
  return answer?.role === 'assistant' && reminder !== undefined && isReminder(reminder);
}

/** Whether the newest message, but for what the agent adds after it, holds a summary that was asked for so: the agent goes on by itself after it has shortened the conversation. */
export function goesOnFrom(summary: string, messages: readonly SpokenMessage[]): boolean {
  // Agents take off tags and add words of their own.
  const line = summary.split('\n').map((text) => text.trim()).reduce((longest, text) => (text.length > longest.length ? text : longest), '');
  return line.length >= MIN_LINE && messages.findLast((message) => message.role === 'user' && !isReminder(message))?.content.includes(line) === true;
}

const hasCalls = (message: SpokenMessage): boolean => message.role === 'tool' || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0);
