import { createHash } from 'node:crypto';
import type { Conversation, ConverseRequest, SpokenMessage } from '../protocol/conversation.ts';
import { isAdded, personWords } from './person-words.ts';

type Told = Pick<Conversation, 'messages' | 'account' | 'session'>;

/**
 * What tells conversations apart: whose key it is, the client's own session if it names one, and the first message of the person. Agents run
 * subagents in one session of theirs, each with a beginning of its own. What an agent says before the person, as Crush does, is alike in all of them.
 */
export function sessionKey({ account, session = '', messages }: Told): string {
  const said = messages.filter(({ role }) => role === 'user');
  const beginning = (said.find(({ content }) => !isAdded(content)) ?? said[0])?.content ?? '';
  return digest([account?.id ?? '', session, beginning]);
}

/** The same without the client's own name of its session. */
export function beginningKey({ account, messages }: Told): string {
  return sessionKey({ account, messages });
}

/** The same for a request that is sent again. */
export function requestKey({ requestId: _chosenAnew, account, ...asked }: ConverseRequest): string {
  return digest([account?.id ?? '', asked]);
}

/** Of the person's newest message: its words, and which one it is. */
export function personKey(messages: readonly SpokenMessage[]): string {
  return digest([messages.filter(({ role }) => role === 'user').length, personWords(messages)]);
}

/** Of a text, however it begins and ends: programs trim what they were given. */
export function textKey(text: string): string {
  return digest(text.trim());
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
