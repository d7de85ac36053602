import type { SpokenMessage } from '../protocol/conversation.ts';

/** What agents put into a person's message beside the person's words, such as the date, the machine and rules of the project. */
const ADDED = /<(system[-_]reminder|environment_context|environment_details|user_instructions|current_datetime|system_notification)>/g;
/** Tags in which agents put the person's words: Cline's `<user_input mode="act">`, `<userRequest>` of Copilot. */
const WORDS = /<(user_input|user_query|userRequest)\b[^<>]*>/g;
/**
 * What agents say in the person's place to keep a model at work, by words that a person does not begin with, nor end with. A label alone, such as
 * "[ERROR]", also begins what a person pastes.
 */
const REMINDS = [
  // That it has to call a tool to end: Cline.
  /^\s*\[(?:SYSTEM\] This run is not complete|ERROR\] You did not use a tool)\b/,
  // What a hook said, which Codex puts into a tag. OpenCode hands on what Conductor's own gate says.
  /^\s*(?:<hook_prompt\b|The project's own tests judged the uncommitted change\b)/,
  // What its linters say, and the files that an answer asked for: Aider.
  /^\s*(?:# Fix any errors below, if possible\.|I added these files to the chat:[^]*\nLet me know if there are others we should add\.)/,
  // What a command returned: mini-swe-agent.
  /^\s*(?:<exception>[^<]*<\/exception>\s*)?<returncode>/,
  // What code printed, and that it may go on: Open Interpreter.
  /^\s*(?:Code output: [^]*\n[ \t]*What does this output mean\b|The code above was executed on my machine\. |Proceed\. You CAN run code on my machine\.)/,
  // That it goes on from its summary: Crush.
  /^\s*The previous session was interrupted because it got too long\b/,
  // That no tool was called: gptme. Nothing else may stand there.
  /^\s*<system>[^<]*<\/system>\s*$/,
];
/** What programs say of an answer that has not the form that they read. */
const REPAIRS = [
  // Instructor.
  /^\s*(?:Correct your JSON (?:ONLY RESPONSE|response:)|Recall the function correctly, fix the errors)/,
  /^\s*Validation errors? (?:found|due to no tool invocation):[ \t\r]*\n[^]*\bRecall the function correctly, fix the errors\b/i,
  // Pydantic AI.
  /^\s*Your previous response (?:failed the application's validation|reached the output token limit)\b/,
  /^\s*(?:\d+ validation errors?|Validation feedback):[ \t\r]*\n[^]*\n[ \t]*Fix the errors and try again\.\s*$/,
  // Ax.
  /^\s*Invalid Field: (?:Field '|Required field |Expected \(Required\) field |Invalid (?:JSON|date|URL))/,
  // mini-swe-agent.
  /^\s*(?:Format|Tool call) error:\s*<error>/,
  // Aider.
  /^\s*# \d+ SEARCH\/REPLACE blocks? failed to match/,
  // smolagents.
  /^\s*Error:\n[^]*\nNow let's retry\b/,
];
/** What a program says in messages of its own after the person's: what it found for the question, and how the answer is to look. Genkit makes one of each part. */
const APPENDS = [
  /^\s*Use the following information to complete your task:\s*\n/,
  /^\s*Output should be (?:in JSON format and conform to|a JSON array conforming to|JSONL format\b[^`]*`\\n`[^`]* conforming to) the following schema:\s*```[^]*```\s*$/,
  /^\s*Output should be ONLY one of the following enum values\. Do not output any additional information or add quotes\./,
];
/** What another agent of the program did, told to the one that goes on: Google's ADK. */
const HANDED_OVER = /^\s*For context: below is a transcript of what another agent did\b[^]*<<<END_QUOTED_AGENT_CONTENT>>>\s*$/;
/** What a tool returned, where the model's server is told of no tools: smolagents, LlamaIndex and others that ask as ReAct does. */
const OBSERVES = /^\s*Observation:/;
/** How the model calls such a tool. */
const ACTS = /^[ \t]*(?:Thought|Action|Calling tools):/m;

/**
 * Whether an agent says in the person's place what its model is to do next, though the person said nothing.
 * @param before what was said before it, instructions left out
 */
export function isReminder(message: SpokenMessage, before: SpokenMessage | undefined): boolean {
  if (message.role !== 'user') return false;
  const { content } = message;
  if (before?.role === 'user' && APPENDS.some((words) => words.test(content))) return true;
  if (isAdded(content) || [...REMINDS, ...REPAIRS, HANDED_OVER].some((words) => words.test(content))) return true;
  return OBSERVES.test(content) && before?.role === 'assistant' && ACTS.test(before.content);
}

/** Whether it says that the last answer has not the form that the program reads. Of an empty one, it may say so without it. */
export const isRepair = ({ role, content }: SpokenMessage): boolean => role === 'user' && REPAIRS.some((words) => words.test(content));

/** Whether it tells what another agent of the program did, which the person has not asked for. */
export const isHandedOver = ({ role, content }: SpokenMessage): boolean => role === 'user' && HANDED_OVER.test(content);

/** The newest message that a person wrote; undefined if nobody did. */
export function lastSaid(messages: readonly SpokenMessage[]): SpokenMessage | undefined {
  const told = messages.filter(({ role }) => role !== 'system');
  return told.findLast((message, index) => message.role === 'user' && !isReminder(message, told[index - 1]));
}

/** Claude Code says so, too, what a hook said. */
export const isAdded = (content: string): boolean => content.trim() !== '' && withoutAdded(content).trim() === '';

/** What the person said last, without what the agent added. All of the message if that leaves nothing; '' if nobody said anything. */
export function personWords(messages: readonly SpokenMessage[]): string {
  const said = (lastSaid(messages) ?? messages.findLast(({ role }) => role === 'user'))?.content ?? '';
  const own = withoutAdded(said);
  const [words] = tagged(own, WORDS);
  return (words ? own.slice(words.from, words.to) : own).trim() || said.trim();
}

function withoutAdded(content: string): string {
  let left = '';
  let at = 0;
  for (const { start, end } of tagged(content, ADDED)) {
    left += content.slice(at, start);
    at = end;
  }
  return left + content.slice(at);
}

/** The parts of a text in these tags, from `from` to `to` without the tags. In time that grows with its length alone: what is pasted may be made to be slow. */
function* tagged(text: string, openings: RegExp): Generator<{ start: number; from: number; to: number; end: number }> {
  const unclosed = new Set<string>();
  let at = 0;
  for (const { 0: opening, 1: name = '', index: start } of text.matchAll(openings)) {
    if (start < at || unclosed.has(name)) continue;
    const from = start + opening.length;
    const to = text.indexOf(`</${name}>`, from);
    if (to < 0) unclosed.add(name);
    else yield { start, from, to, end: (at = to + name.length + 3) };
  }
}
