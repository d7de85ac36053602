import type { ContextPiece } from '../protocol/run-events.ts';
import type { Message, ModelReply } from '../workers/model.ts';
import type { WorkerRequest } from '../workers/call-worker.ts';

/** A reply that was not yet the step's output, and what the worker is given for it. */
export interface Turn {
  readonly reply: string;
  readonly observation: string;
}

/** What a worker is given for a reply. */
export interface Observation {
  readonly text: string;
  /** The pieces of the workspace in it. */
  readonly pieces?: readonly ContextPiece[];
}

/**
 * How a worker does a step. Every turn is a call of its own: journalled, paid for, and not made again when the run goes on. `request`
 * and `isOutput` must depend on their arguments alone.
 */
export interface StepWork {
  /** The next turn's request. `messages` state the task; `turns` are those that came before. */
  request(messages: readonly Message[], turns: readonly Turn[]): WorkerRequest;
  /**
   * Whether a reply is the step's output; otherwise another turn follows. Asked in the transaction that pays for the reply.
   * @param turns the replies before it
   */
  isOutput(reply: ModelReply, turns: readonly Pick<Turn, 'reply'>[]): boolean;
  /** Does what a reply asks for. @returns what the next turn is given. It may be done again after a crash. */
  observe(reply: string, signal: AbortSignal): Promise<Observation>;
}

/** The messages of a step with the turns so far, as a conversation. */
export function conversation(messages: readonly Message[], turns: readonly Turn[]): Message[] {
  return [...messages, ...turns.flatMap(({ reply, observation }): Message[] => [
    { role: 'assistant', content: reply }, { role: 'user', content: observation },
  ])];
}

/** One call, whose reply is the output; another one if that was given back. */
export const ONE_CALL: StepWork = {
  request: (messages, turns) => ({ messages: conversation(messages, turns) }),
  isOutput: () => true,
  observe: () => Promise.reject(new Error('A step of one call has no second turn.')),
};
