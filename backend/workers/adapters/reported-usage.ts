import type { Usage } from '../../protocol/usage.ts';

/*
 * Converts the usage of the wire formats into disjoint counts. OpenAI's input includes cached tokens, Anthropic's excludes them; the output
 * of both includes reasoning. Servers are not trusted: invalid counts become 0.
 */

type Raw = Readonly<Record<string, unknown>>;

function raw(value: unknown): Raw {
  return typeof value === 'object' && value !== null ? (value as Raw) : {};
}

/** The largest accepted count: a hundred times the longest existing context window. */
const LARGEST_COUNT = 100_000_000;

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 0;
  return Math.min(LARGEST_COUNT, Math.max(0, Math.round(value)));
}

interface InclusiveCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Converts counts whose input includes cached tokens and whose output includes reasoning. */
function disjoint(counts: InclusiveCounts): Usage {
  const cacheRead = Math.min(counts.cacheRead, counts.input);
  const cacheWrite = Math.min(counts.cacheWrite, counts.input - cacheRead);
  const reasoning = Math.min(counts.reasoning, counts.output);
  return {
    uncachedInput: counts.input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: counts.output - reasoning,
    reasoning,
    estimated: false,
  };
}

/**
 * `usage` of Chat Completions. Some compatible servers exclude reasoning from `completion_tokens` and include it only in `total_tokens`.
 * DeepSeek has another name for cache hits.
 */
export function chatUsage(value: unknown): Usage | undefined {
  const usage = raw(value);
  if (typeof usage['prompt_tokens'] !== 'number') return undefined;
  const promptDetails = raw(usage['prompt_tokens_details']);
  const completionDetails = raw(usage['completion_tokens_details']);
  const input = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  const output = Math.max(completion, count(usage['total_tokens']) - input);
  return disjoint({
    input,
    cacheRead: count(promptDetails['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    cacheWrite: count(promptDetails['cache_write_tokens']),
    output,
    reasoning: count(completionDetails['reasoning_tokens']) || output - completion,
  });
}

/** `response.usage` of the Responses API. */
export function responsesUsage(value: unknown): Usage | undefined {
  const usage = raw(value);
  if (typeof usage['input_tokens'] !== 'number') return undefined;
  const inputDetails = raw(usage['input_tokens_details']);
  return disjoint({
    input: count(usage['input_tokens']),
    cacheRead: count(inputDetails['cached_tokens']),
    cacheWrite: count(inputDetails['cache_write_tokens']),
    output: count(usage['output_tokens']),
    reasoning: count(raw(usage['output_tokens_details'])['reasoning_tokens']),
  });
}

/**
 * `usage` of the Messages API. It is sent in `message_start` and, cumulative, in `message_delta`. Compatible servers fill in one of them, so
 * the larger count is used.
 */
export function messagesUsage(start: unknown, delta: unknown): Usage | undefined {
  const [first, last] = [raw(start), raw(delta)];
  if (typeof first['input_tokens'] !== 'number' && typeof last['output_tokens'] !== 'number') return undefined;
  const larger = (name: string) => Math.max(count(first[name]), count(last[name]));
  const output = larger('output_tokens');
  const reasoning = Math.min(output, count(raw(last['output_tokens_details'])['thinking_tokens']));
  return {
    uncachedInput: larger('input_tokens'),
    cacheRead: larger('cache_read_input_tokens'),
    cacheWrite: larger('cache_creation_input_tokens'),
    output: output - reasoning,
    reasoning,
    estimated: false,
  };
}
