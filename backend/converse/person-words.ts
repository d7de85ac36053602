import type { SpokenMessage } from '../protocol/conversation.ts';

/** What agents put into a person's message beside the person's words, such as the date, the machine and rules of the project. */
const ADDED = /<(system[-_]reminder|environment_context|environment_details|user_instructions|current_datetime|system_notification)>[\s\S]*?<\/\1>/g;
/** Tags in which agents put the person's words: Cline's `<user_input mode="act">`, `<userRequest>` of Copilot. */
const WORDS = /<(user_input|user_query|userRequest)\b[^>]*>([\s\S]*?)<\/\1>/;
/** How agents begin what they say in the person's place to keep a model at work. */
const REMINDS = [
  // That it has to call a tool to end: Cline.
  /^\s*\[(?:SYSTEM|ERROR)\]/,
  // What a hook said, which Codex puts into a tag. OpenCode hands on what Conductor's own gate says.
  /^\s*(?:<hook_prompt\b|The project's own tests judged the uncommitted change\b)/,
  // What its linters say, and the files that an answer asked for: Aider.
  /^\s*(?:# Fix any errors below|I added these files to the chat:)/,
  // What a tool returned, where the model's server is told of no tools: smolagents and others that ask as ReAct does, and mini-swe-agent.
  /^\s*(?:Observation:|(?:<exception>[^<]*<\/exception>\s*)?<returncode>)/,
  // What code printed, and that it may go on: Open Interpreter.
  /^\s*(?:Code output: |The code above was executed on my machine\.|Proceed\. You CAN run code on my machine\.)/,
  // That it goes on from its summary: Crush.
  /^\s*The previous session was interrupted because it got too long\b/,
  // That no tool was called: gptme. Nothing else may stand there.
  /^\s*<system>[^<]*<\/system>\s*$/,
];
/** How programs begin what they say of an answer that has not the form that they read. */
const REPAIRS = [
  // Instructor and Pydantic AI.
  /^\s*(?:Correct your JSON (?:ONLY RESPONSE|response:)|Recall the function correctly, fix the errors|Your previous response (?:failed the application's validation|reached the output token limit)\b)/,
  // The same two, and mini-swe-agent: a label that has a line of its own.
  /^\s*(?:\d+ validation errors?|Validation (?:feedback|errors? found)|(?:Format|Tool call) error):\s*\n/i,
  // Aider.
  /^\s*# \d+ SEARCH\/REPLACE blocks? failed to match/,
  // smolagents.
  /^\s*Error:\n[^]*\nNow let's retry\b/,
];

/** Whether an agent says in the person's place what its model is to do next, though the person said nothing. */
export const isReminder = ({ role, content }: SpokenMessage): boolean => role === 'user' && ([...REMINDS, ...REPAIRS].some((begins) => begins.test(content)) || isAdded(content));

/** Whether it says that the last answer has not the form that the program reads. Of an empty one, it may say so without it. */
export const isRepair = ({ role, content }: SpokenMessage): boolean => role === 'user' && REPAIRS.some((begins) => begins.test(content));

/** Claude Code says so, too, what a hook said. */
export const isAdded = (content: string): boolean => content.trim() !== '' && content.replace(ADDED, '').trim() === '';

/** What the person said last, without what the agent added. All of the message if that leaves nothing; '' if nobody said anything. */
export function personWords(messages: readonly SpokenMessage[]): string {
  const isSaid = (message: SpokenMessage): boolean => message.role === 'user' && !isReminder(message);
  const said = (messages.findLast(isSaid) ?? messages.findLast(({ role }) => role === 'user'))?.content ?? '';
  return wordsIn(said.replace(ADDED, '')).trim() || said.trim();
}

const wordsIn = (said: string): string => WORDS.exec(said)?.[2] ?? said;
