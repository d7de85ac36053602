import type { Conversation, SpokenMessage } from '../protocol/conversation.ts';
import { isHandedOver, isReminder, isRepair, lastSaid, personWords } from './person-words.ts';

/*
 * What agents ask for themselves and no person asked: a title for the conversation, a summary of it before they shorten it, what is worth to be
 * remembered of it, a message for a commit, and that the model, or another agent of the program, goes on. A plan would cost more and make them no better.
 */

const KINDS = String.raw`\b(?:titles?|summar\w+|compact\w*)\b`;
const SUBJECTS = String.raw`\b(?:conversation|session|thread|chat|context)\b`;
/** Instructions about titles or summaries of conversations, in either order within a sentence. */
const INSTRUCTS = new RegExp(String.raw`${KINDS}[^.]{0,120}${SUBJECTS}|${SUBJECTS}[^.]{0,120}${KINDS}`, 'i');
/** What is asked about the conversation in which it is asked. A person may want a title in some chat. */
const THIS = String.raw`\b(?:(?:this|our) (?:conversation|session|chat|thread)|(?:conversation|session|chat)(?: history)? (?:so far|above))\b`;
const ASKS_OF_THIS = new RegExp(String.raw`${KINDS}[^.]{0,120}${THIS}|${THIS}[^.]{0,120}${KINDS}`, 'i');
/** Asked in the conversation itself, with the tools still offered so that caches hold. */
const ASKS = new RegExp(String.raw`\bsummar\w+[^.\n]{0,40}${THIS}`, 'i');
/** Aider asks for one after each change, and shows the change and what was said of it. */
const COMMITS = /\b(?:generat|writ|creat)\w*\b[^.]{0,80}\bcommit messages?\b/i;
/** Open WebUI asks so for a title, tags, questions that may follow and what to search for, after each answer, and to complete what is being typed. */
const asksOfHistory = (words: string): boolean => words.startsWith('### Task:\n') && words.includes('<chat_history>') && words.includes('</chat_history>');
/** Qwen Code keeps memories beside the conversation, with tools. */
const KEEPS = /^You are (?:now acting as the|performing a) managed memory\b/;
/** The instructions of an agent for its proper work are long, and may speak of anything. */
const MAX_INSTRUCTIONS = 6_000;
/** A shorter line, such as a title, may stand in what a person writes. */
const MIN_LINE = 80;

/** Every schema of Pydantic's has titles, and its fields may be named after a session. Instructor puts schemas into instructions, others into questions. */
const withoutJson = (text: string): string => text.replace(/^[ \t]*["{}[\]].*$/gm, '');

type Asked = Pick<Conversation, 'messages' | 'tools' | 'toolChoice'>;

/** Whether an agent asks for a title, a summary or memories of a conversation or for a commit's message, or reminds its model to go on. */
export function isOwnBusiness({ messages, tools, toolChoice }: Asked): boolean {
  const words = withoutJson(personWords(messages));
  const hasBegun = messages.some(({ role }) => role === 'assistant');
  if (isReminded(messages) || (hasBegun && ASKS.test(words))) return true;
  if (messages.some(({ role, content }) => role === 'system' && KEEPS.test(content))) return true;
  // Copilot leaves them in for caches, too, and forbids them.
  if (tools.length > 0 && toolChoice !== 'none') return false;
  if (!hasBegun && asksOfHistory(words)) return true;
  const instructions = withoutJson(messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n'));
  if (instructions.length <= MAX_INSTRUCTIONS && (INSTRUCTS.test(instructions) || COMMITS.test(instructions))) return true;
  if (words.length > MAX_INSTRUCTIONS) return false;
  // Without tools, an agent that does its work in texts asks in the same form what a person asked.
  return messages.some(hasCalls) ? INSTRUCTS.test(words) : (instructions !== '' || hasBegun) && ASKS_OF_THIS.test(words);
}

/** Whether nothing but a reminder came after an answer, with or without an instruction beside it. An answer that is to be repaired, or was another agent's, may be left out. */
function isReminded(messages: readonly SpokenMessage[]): boolean {
  const [before, reminder] = messages.filter(({ role }) => role !== 'system').slice(-2);
  if (before === undefined || reminder === undefined) return false;
  return isRepair(reminder) || isHandedOver(reminder) || (before.role === 'assistant' && isReminder(reminder, before));
}

/** The answer that is the last word, and stays as it is: who wrote it is asked for it in another form, as LangGraph's agents do. Or the program begins an answer itself. */
export function answerAsked(messages: readonly SpokenMessage[]): string | undefined {
  const last = messages.findLast(({ role }) => role !== 'system');
  return last?.role === 'assistant' && !hasCalls(last) ? last.content : undefined;
}

/** Whether the newest message, but for what the agent adds after it, holds a summary that was asked for so: the agent goes on by itself after it has shortened the conversation. */
export function goesOnFrom(summary: string, messages: readonly SpokenMessage[]): boolean {
  // Agents take off tags and add words of their own.
  const line = summary.split('\n').map((text) => text.trim()).reduce((longest, text) => (text.length > longest.length ? text : longest), '');
  return line.length >= MIN_LINE && lastSaid(messages)?.content.includes(line) === true;
}

const hasCalls = (message: SpokenMessage): boolean => message.role === 'tool' || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0);
