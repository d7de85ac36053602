import { NO_USAGE } from '../../protocol/token-counts.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';
import type { Message, ModelRequest } from '../model.ts';

/** The messages for a model that takes no tools and no format. @throws WorkerError `invalid-request` if the request has some */
export function withoutTools({ id }: Pick<WorkerConfig, 'id'>, { messages, tools, toolChoice, format }: ModelRequest): Message[] {
  if (format !== undefined) {
    const message = `Worker "${id}" cannot be held to a format: ask for JSON in words, or name another worker.`;
    throw new WorkerError({ kind: 'invalid-request', message, usage: NO_USAGE });
  }
  const spoken = messages.filter((message) => message.role !== 'tool');
  const hasCalls = spoken.length < messages.length || spoken.some(({ toolCalls }) => toolCalls !== undefined);
  if (!hasCalls && (tools === undefined || tools.length === 0 || toolChoice === 'none')) return spoken;
  throw new WorkerError({
    kind: 'invalid-request',
    message: `Worker "${id}" takes no tool calls: set its "hands" to "fenced" in workers.json, or use another worker.`,
  });
}
