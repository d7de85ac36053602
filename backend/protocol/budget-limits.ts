// Kept apart from the schemas, which the extension loads only with its first connection.

/** The percentage of a limit at which people are warned, unless workers.json sets another. */
export const DEFAULT_WARN_AT_PERCENT = 80;

/** The number of tokens that counts as one dollar when no price is known, as in the budgets of workers.json. */
const UNPRICED_TOKENS_PER_USD = 400_000;

/** The token limit of unpriced workers that corresponds to this limit in dollars. */
export const unpricedTokensFor = (usd: number): number => Math.floor(usd * UNPRICED_TOKENS_PER_USD);

/** The smallest limit in dollars that allows unpriced workers this many tokens. */
export const usdForUnpriced = (tokens: number): number => tokens / UNPRICED_TOKENS_PER_USD;

/**
 * Suggests a higher limit for a stopped run, in dollars or whole tokens: twice the old limit. If the next call `needed` more than that, the
 * suggestion is 1.5 times the need, so that more than one call fits. Rounded up to two significant figures.
 */
export function raisedLimit({ limit, needed = 0 }: { readonly limit: number; readonly needed?: number | undefined }): number {
  const wanted = Math.max(2 * limit, needed <= 2 * limit ? 0 : 1.5 * needed);
  const unit = 10 ** (Math.floor(Math.log10(wanted)) - 1);
  // Removes floating-point noise below a cent.
  return Number((Math.ceil(wanted / unit - 1e-9) * unit).toPrecision(2));
}
