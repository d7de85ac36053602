import { APIError } from 'openai/core/error';
import { modelKey } from '../servers/server-of.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';

/** The parameters on which compatible servers differ. */
export interface ChatDialect {
  /** Requests usage at the end of the stream; a few servers refuse the parameter. */
  readonly asksForUsage: boolean;
  /** All servers accept `max_tokens`, except proxies for OpenAI's reasoning models, which require the newer name. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** Takes back its reasoning with the tool calls that followed from it; a few servers refuse the fields that they send. */
  readonly takesThoughts: boolean;
}

const COMMON: ChatDialect = { asksForUsage: true, limit: 'max_tokens', takesThoughts: true };

/** Remembers, for the life of the process, which dialect each server's models accept. */
export class ChatDialects {
  readonly #learned = new Map<string, ChatDialect>();

  of(worker: WorkerConfig): ChatDialect {
    return this.#learned.get(modelKey(worker)) ?? COMMON;
  }

  learn(worker: WorkerConfig, dialect: ChatDialect): void {
    this.#learned.set(modelKey(worker), dialect);
  }
}

/**
 * The dialect to try next if a server refused a parameter that depends on the dialect, otherwise `undefined`. Servers name the parameter
 * in `param` or only in the message.
 * @param hasThoughts whether the request gave reasoning back
 */
export function dialectAfter(error: unknown, dialect: ChatDialect, { hasThoughts }: { hasThoughts: boolean }): ChatDialect | undefined {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return undefined;
  const complaint = `${error.param ?? ''} ${error.message}`;
  if (dialect.asksForUsage && /stream_options|include_usage/.test(complaint)) return { ...dialect, asksForUsage: false };
  if (dialect.limit === 'max_tokens' && /max_completion_tokens/.test(complaint)) return { ...dialect, limit: 'max_completion_tokens' };
  const refusesThoughts = dialect.takesThoughts && hasThoughts && /reasoning(?:_content|_details)?\b|extra_content/.test(complaint);
  return refusesThoughts ? { ...dialect, takesThoughts: false } : undefined;
}
