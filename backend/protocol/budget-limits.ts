// Apart from the schemas, which the extension loads with its first connection.

/** People are told of a limit when so many hundredths of it are spent, unless workers.json says otherwise. */
export const DEFAULT_WARN_AT_PERCENT = 80;

/** So many tokens stand for a dollar where no price is known, as in the budgets of workers.json. */
const UNPRICED_TOKENS_PER_USD = 400_000;

/** The most tokens that workers without a known price may use where so many dollars may be spent. */
export const unpricedTokensFor = (usd: number): number => Math.floor(usd * UNPRICED_TOKENS_PER_USD);

/** The fewest dollars that stand for so many tokens of workers without a known price. */
export const usdForUnpriced = (tokens: number): number => tokens / UNPRICED_TOKENS_PER_USD;

/**
 * A limit that is worth going on with, in dollars or in whole tokens: twice the one that stopped a run, and where its next call `needed` more
 * than that, half as much again as that call, so that it is not the last one. In two figures, rounded up.
 */
export function raisedLimit({ limit, needed = 0 }: { readonly limit: number; readonly needed?: number | undefined }): number {
  const wanted = Math.max(2 * limit, needed <= 2 * limit ? 0 : 1.5 * needed);
  const unit = 10 ** (Math.floor(Math.log10(wanted)) - 1);
  // Of what is a sum of cents, no more than cents are left.
  return Number((Math.ceil(wanted / unit - 1e-9) * unit).toPrecision(2));
}
