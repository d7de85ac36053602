import type { ToolChoice } from '../protocol/conversation.ts';
import type { ToolCall } from '../protocol/tool-calls.ts';

/*
 * Some agents end a task by a tool and not by an answer: attempt_completion, submit_and_exit, task_done, finish. They tell nobody what it returned.
 * So does an agent that hands the conversation over, as with Google's ADK: the next one is told of it in the person's place.
 * A program that names the one tool which has to be called may want its arguments alone: that is how Instructor and LangChain ask for a structured answer.
 */

type Call = Pick<ToolCall, 'name' | 'arguments'>;

/** Whether results of these calls may never come. */
export const mayEnd = (calls: readonly Call[], toolChoice: ToolChoice | undefined): boolean =>
  calls.length === 0 || calls.some((call) => isClosingCall(call) || isAnswer(call, toolChoice));

const isAnswer = ({ name }: Call, toolChoice: ToolChoice | undefined): boolean => typeof toolChoice === 'object' && toolChoice.name === name;

const ENDS: ReadonlySet<string> = new Set(['completion', 'complete', 'completed', 'exit', 'finish', 'finished', 'done', 'submit', 'final']);
/** What may stand beside them. Others than these name something that goes on, as in exit_plan_mode and submit_form. */
const BESIDE: ReadonlySet<string> = new Set(['attempt', 'task', 'work', 'and', 'end', 'answer', 'result', 'conversation', 'session']);

const HANDS_OVER = 'transfer_to_agent';

/** Whether the name of a tool says that the task is over, so that results may never come. */
export function isClosingCall({ name }: Pick<ToolCall, 'name'>): boolean {
  if (name === HANDS_OVER) return true;
  const words = name.replace(/([a-z])(?=[A-Z])/g, '$1_').toLowerCase().split(/[^a-z]+/).filter((word) => word !== '');
  return words.some((word) => ENDS.has(word)) && words.every((word) => ENDS.has(word) || BESIDE.has(word));
}

/** What the person is told at the end of such a task: the speaker's text, or else what it gave the tool, of a closing call its texts. */
export function closingWords(reply: string, calls: readonly Call[], toolChoice: ToolChoice | undefined): string {
  if (reply.trim() !== '') return reply;
  return calls.flatMap((call) => (isAnswer(call, toolChoice) ? [call.arguments] : isClosingCall(call) ? textsIn(call.arguments) : [])).join('\n\n');
}

function textsIn(json: string): string[] {
  try {
    return Object.values(JSON.parse(json) as object).filter((value) => typeof value === 'string');
  } catch {
    // It was cut off, or is no JSON.
    return [];
  }
}
