import * as z from 'zod';
import type { SimulatedMessage, SimulatedTool } from '../simulated-model.ts';

/** A request that has the right form and is refused for what it says. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

export const toolNameSchema = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes or underscores');

export const jsonSchemaSchema = z.record(z.string(), z.unknown());

/** The tools that the model may ask for. @throws InvalidRequestError if two have the same name */
export function offeredTools(tools: readonly SimulatedTool[], isOff: boolean): { tools?: readonly SimulatedTool[] } {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidRequestError(`tools: Tool names must be unique, but "${twice}" is there twice.`);
  return isOff || tools.length === 0 ? {} : { tools };
}

/**
 * Checks what all providers check: after a turn with calls comes one result for each of them and nothing else before, and there are no
 * other results. @throws InvalidRequestError
 */
export function checkResults(messages: readonly SimulatedMessage[]): void {
  let open = new Set<string>();
  for (const { role, callId = '', toolCalls = [] } of messages) {
    if (role === 'tool') {
      if (!open.delete(callId)) throw new InvalidRequestError(`messages: The result of "${callId}" has no call of this id before it.`);
      continue;
    }
    if (open.size > 0) break;
    open = new Set(toolCalls.map(({ id }) => id));
    if (open.size < toolCalls.length) throw new InvalidRequestError('messages: The ids of calls must be unique.');
  }
  if (open.size > 0) throw new InvalidRequestError(`messages: These calls have no result after them: ${[...open].join(', ')}.`);
}
