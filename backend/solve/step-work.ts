import type { Message, ModelReply } from '../workers/model.ts';
import type { WorkerRequest } from '../workers/call-worker.ts';

/** A reply that was not yet the step's output, and what the worker is given for it. */
export interface Turn {
  readonly reply: string;
  readonly observation: string;
}

/**
 * How a worker does a step. Every turn is a call of its own: journalled, paid for, and not made again when the run goes on. `request`
 * and `isOutput` must depend on their arguments alone.
 */
export interface StepWork {
  /** The next turn's request. `messages` state the task; `turns` are those that came before. */
  request(messages: readonly Message[], turns: readonly Turn[]): WorkerRequest;
  /** Whether a reply is the step's output; otherwise another turn follows. Asked in the transaction that pays for the reply. */
  isOutput(reply: ModelReply): boolean;
  /** Does what a reply asks for. @returns what the next turn is given. It may be done again after a crash. */
  observe(reply: string, signal: AbortSignal): Promise<string>;
}

/** One call, whose reply is the output. */
export const ONE_CALL: StepWork = {
  request: (messages) => ({ messages }),
  isOutput: () => true,
  observe: () => Promise.reject(new Error('A step of one call has no second turn.')),
};
