import type { FileChange } from '../protocol/file-change.ts';
import type { ContextPiece } from '../protocol/run-events.ts';
import type { RunSnapshot, TurnView } from '../protocol/run-snapshot.ts';
import type { CallResult } from '../protocol/tool-calls.ts';
import type { ConversationMessage, Message, ModelReply, ToolResult } from '../workers/model.ts';
import type { WorkerRequest } from '../workers/call-worker.ts';
import type { Step } from '../workflow/plan.ts';
import type { RunFiles } from './run-files.ts';

/** The step that is to be done, in its run as it stands. */
export interface WorkPlace {
  readonly run: RunSnapshot;
  readonly round: number;
  readonly step: Step;
  /** What the run reads and judges. */
  readonly files: Pick<RunFiles, 'read' | 'readWorkspace' | 'begins' | 'base'>;
}

/** A reply that was not yet the step's output, and what the worker is given for it. */
export interface Turn extends Omit<TurnView, 'observation' | 'pieces'> {
  readonly observation: string;
}

/** What the copy of a step begins with. */
export interface Beginning {
  /** What the worker is told of it. */
  readonly text: string;
  readonly changes: readonly FileChange[];
}

/** What a worker is given for a reply. */
export interface Observation {
  readonly text: string;
  /** Of each tool call; the text is empty then. */
  readonly results?: readonly CallResult[];
  /** The pieces of the workspace in it. */
  readonly pieces?: readonly ContextPiece[];
  readonly changes?: readonly FileChange[];
  readonly isLast?: true;
  /** The step is over, and this is its output. */
  readonly output?: string;
}

/**
 * How a worker does a step. Every turn is a call of its own: journalled, paid for, and not made again when the run goes on. `request`
 * and `isOutput` must depend on their arguments alone.
 */
export interface StepWork {
  /** Called before the first request, with what is journalled of the step. @returns what it begins with, for the journal */
  begin?(before: { readonly begun?: Beginning | undefined; readonly turns: readonly Turn[] }, signal: AbortSignal): Promise<Beginning | undefined>;
  /** The next turn's request. `messages` state the task; `turns` are those that came before. */
  request(messages: readonly Message[], turns: readonly Turn[]): WorkerRequest;
  /**
   * Whether a reply is the step's output; otherwise another turn follows. Asked in the transaction that pays for the reply.
   * @param turns the replies before it
   */
  isOutput(reply: ModelReply, turns: readonly Pick<Turn, 'reply' | 'isLast'>[]): boolean;
  /** The step's output, if it is more than the text of the reply. */
  output?(reply: ModelReply): { readonly output: string; readonly changes?: FileChange[] };
  /** Does what a reply asks for. @param turns those before it. @returns what the next turn is given. It may be done again after a crash. */
  observe(reply: string, signal: AbortSignal, turns: readonly Turn[], calls?: TurnView['calls']): Promise<Observation>;
  /**
   * What a step hands on that a person stops. `text` is what its worker wrote last.
   * @param before what is journalled of the step
   */
  stopped?(
    text: string, before: { readonly begun?: Beginning | undefined; readonly turns: readonly Turn[] }, signal: AbortSignal,
  ): Promise<{ readonly output: string; readonly changes?: FileChange[] }>;
  /** Whether a request that failed can be made shorter; the next one then is. */
  shorten?(error: unknown): boolean;
  /** Called once at the end of the step, however it ended. */
  end?(): Promise<void>;
}

/** What a call gave, as its worker is told it. */
export function toolResult({ callId, text, isError = false }: CallResult): Omit<ToolResult, 'pictures'> {
  return { role: 'tool', callId, content: text, ...(isError && { isError }) };
}

/** The messages of a step with the turns so far, as a conversation. */
export function conversation(messages: readonly Message[], turns: readonly Turn[]): ConversationMessage[] {
  return [...messages, ...turns.flatMap(({ reply, observation, calls = [], results = [], told = [], verbatim }): ConversationMessage[] => {
    const words = told.map(toldWords);
    if (calls.length === 0) return [{ role: 'assistant', content: reply }, { role: 'user', content: [observation, ...words].filter(Boolean).join('\n\n') }];
    return [
      { role: 'assistant', content: reply, toolCalls: calls, verbatim }, ...results.map(toolResult),
      // No result of a tool: those are material, and this is an instruction.
      ...(words.length > 0 ? [{ role: 'user' as const, content: words.join('\n\n') }] : []),
    ];
  })];
}

const toldWords = (text: string): string => `The person who asked the question says to you now:\n\n${text}`;

/** One call, whose reply is the output; another one if that was given back. */
export const ONE_CALL: StepWork = {
  request: (messages, turns) => ({ messages: conversation(messages, turns) }),
  isOutput: () => true,
  observe: () => Promise.reject(new Error('A step of one call has no second turn.')),
};
