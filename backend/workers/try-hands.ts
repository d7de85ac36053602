import type { Message, ModelReply, Tool } from './model.ts';
import type { WorkerRequest } from './call-worker.ts';

/*
 * The two small questions that show how a model can use tools. Nothing is run: what the model asks for is only read.
 */

/** A tool without an effect. */
const READY: Tool = {
  name: 'report_ready',
  description: 'Says that you are ready. It has no effect.',
  parameters: { type: 'object', properties: { word: { type: 'string', description: 'The word "ready"' } }, required: ['word'] },
};

const say = (content: string): readonly Message[] => [{ role: 'user', content }];

/** Asks for a call of the server's format. A model that has no tools can answer, too. */
export const ASK_FOR_CALL: Pick<WorkerRequest, 'messages' | 'tools'> = {
  messages: say(`Call the tool "${READY.name}" once. If you have no such tool, reply with the single word: ready`),
  tools: [READY],
};

const FILE = 'notes.txt';

/** Asks for a command as text. */
export const ASK_FOR_COMMAND: Pick<WorkerRequest, 'messages'> = {
  messages: say(
    'Programs read your reply, and run the commands in it. A command is a fenced block with its name behind the fence. This one shows a file:\n\n' +
    `\`\`\`read\nsrc/main.c\n\`\`\`\n\nReply with the command that shows the file ${FILE}, and nothing else. ` +
    'If you cannot, reply with the single word: ready',
  ),
};

/** Whether the model called the tool, with arguments that can be read. */
export function calls({ toolCalls = [] }: ModelReply): boolean {
  return toolCalls.some(({ name, arguments: written }) => name === READY.name && isObject(written));
}

/** Whether the model wrote the command, perhaps among other words. */
export function commands({ text }: ModelReply): boolean {
  const blocks = text.matchAll(/^ {0,3}(`{3,}|~{3,}) *read\b([^\n]*)\n([\s\S]*?)(?:^ {0,3}\1|$(?![\s\S]))/gm);
  return [...blocks].some(([, , behind = '', body = '']) => `${behind} ${body}`.trim().split(/\s+/).includes(FILE));
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
