import { clip } from '../common/clip.ts';

/** Longest quotation of a server's message. */
const MAX_QUOTE_CHARACTERS = 240;
/** A message that contains this many consecutive characters of the prompt is not quoted. */
const PROMPT_RUN = 24;

const KEY_LIKE = /\b(?:sk|pk|key|api|AIza|xai|gsk|hf)[-_A-Za-z0-9]{12,}|\bBearer\s+\S+|[A-Za-z0-9_-]{40,}/g;

export interface Secrets {
  readonly key?: string | undefined;
  readonly prompts: readonly string[];
}

/**
 * A server's message in a form that is safe to show and store: one clipped line without the key or anything that looks like one.
 * Servers echo requests in their errors; a message that repeats the prompt is not quoted.
 * @returns `undefined` when nothing quotable is left.
 */
export function quotable(text: string, { key, prompts }: Secrets): string | undefined {
  const withoutKey = key ? text.split(key).join('[key]') : text;
  const line = withoutKey.replace(KEY_LIKE, '[key]').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const quote = clip(line, MAX_QUOTE_CHARACTERS);
  return quote === '' || repeatsAny(quote, prompts) ? undefined : quote;
}

function repeatsAny(quote: string, prompts: readonly string[]): boolean {
  const flattened = prompts.map((prompt) => prompt.replace(/\s+/g, ' '));
  for (let start = 0; start + PROMPT_RUN <= quote.length; start += PROMPT_RUN / 3) {
    const run = quote.slice(start, start + PROMPT_RUN);
    if (flattened.some((prompt) => prompt.includes(run))) return true;
  }
  return false;
}
