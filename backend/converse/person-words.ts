import type { SpokenMessage } from '../protocol/conversation.ts';

/** What agents put into a person's message beside the person's words, such as the date, the machine and rules of the project. */
const ADDED = /<(system-reminder|environment_context|user_instructions)>[\s\S]*?<\/\1>/g;
/** Tags in which agents put the person's words: Cline's `<user_input mode="act">`, `<userRequest>` of Copilot. */
const WORDS = /<(user_input|user_query|userRequest)\b[^>]*>([\s\S]*?)<\/\1>/;
/** How agents begin what they say in the person's place to keep a model at work, such as that it has to call a tool to end. */
const REMINDS = /^\s*\[(?:SYSTEM|ERROR)\]/;

/** Whether an agent says in the person's place what its model is to do next, though the person said nothing. */
export const isReminder = ({ role, content }: SpokenMessage): boolean => role === 'user' && REMINDS.test(content);

/** What the person said last, without what the agent added. All of the message if that leaves nothing; '' if nobody said anything. */
export function personWords(messages: readonly SpokenMessage[]): string {
  const isSaid = (message: SpokenMessage): boolean => message.role === 'user' && !isReminder(message);
  const said = (messages.findLast(isSaid) ?? messages.findLast(({ role }) => role === 'user'))?.content ?? '';
  return wordsIn(said.replace(ADDED, '')).trim() || said.trim();
}

const wordsIn = (said: string): string => WORDS.exec(said)?.[2] ?? said;
