/** Longest quotation of a server's own words. */
const MAX_QUOTE_CHARACTERS = 240;
/** A run of the prompt this long, found in a server's words, makes them unfit to repeat. */
const PROMPT_RUN = 24;

const KEY_LIKE = /\b(?:sk|pk|key|api|AIza|xai|gsk|hf)[-_A-Za-z0-9]{12,}|\bBearer\s+\S+|[A-Za-z0-9_-]{40,}/g;

export interface Secrets {
  readonly key?: string | undefined;
  readonly prompts: readonly string[];
}

/**
 * A server's own words, fit to be shown and stored: one line, without the key or anything that looks like one, and cut short.
 * Servers echo requests in their errors; words that repeat the prompt are not quoted at all.
 * @returns `undefined` when nothing quotable is left.
 */
export function quotable(text: string, { key, prompts }: Secrets): string | undefined {
  const withoutKey = key ? text.split(key).join('[key]') : text;
  const line = withoutKey.replace(KEY_LIKE, '[key]').replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const quote = line.length > MAX_QUOTE_CHARACTERS ? `${line.slice(0, MAX_QUOTE_CHARACTERS)}…` : line;
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
