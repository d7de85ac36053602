import type { SpokenMessage } from '../protocol/conversation.ts';

/** What agents put into a person's message beside the person's words, such as the date, the machine and rules of the project. */
const ADDED = /<(system-reminder|environment_context|user_instructions)>[\s\S]*?<\/\1>/g;

/** What the person said last, without what the agent added. All of the message if that leaves nothing; '' if nobody said anything. */
export function personWords(messages: readonly SpokenMessage[]): string {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return said.replace(ADDED, '').trim() || said.trim();
}
