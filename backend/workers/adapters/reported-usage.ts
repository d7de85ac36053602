import type { Usage } from '../../protocol/usage.ts';

/*
 * Usage as the wire formats report it, turned into counts that never overlap. OpenAI's input contains the cached tokens,
 * Anthropic's excludes them; both contain the reasoning in the output. Servers are not trusted: what is no count becomes 0.
 */

type Raw = Readonly<Record<string, unknown>>;

function raw(value: unknown): Raw {
  return typeof value === 'object' && value !== null ? (value as Raw) : {};
}

/** Largest count that is believed: a hundred times the longest context window there is. */
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

/** From counts in which the input contains the cached tokens and the output the reasoning. */
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
 * `usage` of Chat Completions. Some compatible servers leave the reasoning out of `completion_tokens` and show it in
 * `total_tokens` alone; DeepSeek names its cache hits differently.
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
 * `usage` of the Messages API. It comes twice, in `message_start` and, cumulative, in `message_delta`; compatible servers fill
 * in one or the other, so the later of two counts wins where it says more.
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
