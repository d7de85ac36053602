import { calcPrice, type MatchLogic, type ModelPrice, type TieredPrices } from '@pydantic/genai-prices';
import { RecentlyUsed } from '../../common/recently-used.ts';
import type { Price } from '../../protocol/worker-config.ts';

/*
 * Prices and contexts of hundreds of models at the servers that sell them, from a catalogue that others keep. Prices that depend on the time of day are
 * those of the hour in which they are asked for.
 */

/** The catalogue's release; `asOf` is the day on which it was published. */
export const CATALOGUE = { name: '@pydantic/genai-prices', version: '0.1.8', asOf: '2026-09-23' } as const;

const HOUR_MS = 3_600_000;
const found = new RecentlyUsed<Known>(200);

interface Known {
  readonly price: Price | undefined;
  readonly contextTokens: number | undefined;
}

/** @param baseUrl of the server @param at milliseconds since 1970 @returns undefined for an unknown server or model */
export function cataloguePrice(baseUrl: string, model: string, at: number): Price | undefined {
  return knownOf(baseUrl, model, at).price;
}

/** The tokens that a call can hold, input and output together. @returns undefined for an unknown server or model */
export function catalogueContext(baseUrl: string, model: string): number | undefined {
  return knownOf(baseUrl, model, Date.now()).contextTokens;
}

function knownOf(baseUrl: string, model: string, at: number): Known {
  const { origin, pathname } = new URL(baseUrl);
  const key = `${Math.floor(at / HOUR_MS)} ${origin}${pathname} ${model}`;
  const known = found.get(key) ?? lookUp(`${origin}${pathname}`, model, at);
  found.set(key, known);
  return known;
}

function lookUp(providerApiUrl: string, model: string, at: number): Known {
  const result = calcPrice({}, model, { providerApiUrl, timestamp: new Date(at) });
  const isMeant = result && (result.model.id === model || isNamedBy(result.model.match, model));
  return isMeant ? { price: priceOf(result.model_price), contextTokens: result.model.context_window } : { price: undefined, contextTokens: undefined };
}

/** A model that is the newest one's, or of a day, such as `-2026-04-23`, `-20251001` or `-latest`. */
const RELEASE = /^(?:-\d{4}-\d{2}-\d{2}|-\d{8}|-latest)?$/;

/** Whether the model is meant by its name. The catalogue also knows likenesses: a name that only begins like a known one is another model's. */
function isNamedBy(match: MatchLogic, model: string): boolean {
  if ('or' in match) return match.or.some((one) => isNamedBy(one, model));
  if ('and' in match) return match.and.every((one) => isNamedBy(one, model));
  if ('equals' in match) return match.equals === model;
  return 'starts_with' in match && model.startsWith(match.starts_with) && RELEASE.test(model.slice(match.starts_with.length));
}

/** Undefined without a price for text. A price of zero is taken for no price, because nothing holds a model that costs nothing. */
function priceOf({ input_mtok: input, output_mtok: output, cache_read_mtok: cacheRead, cache_write_mtok: cacheWrite }: ModelPrice): Price | undefined {
  if (!input || !output) return undefined;
  const all = [input, output, cacheRead, cacheWrite];
  const above = Math.min(...all.flatMap((price) => (typeof price === 'object' ? price.tiers.map(({ start }) => start) : [])));
  const rates = (tokens: number): Omit<Price, 'longPrompt'> => ({
    inputPerMillion: rateFor(input, tokens), outputPerMillion: rateFor(output, tokens),
    ...(cacheRead !== undefined && { cacheReadPerMillion: rateFor(cacheRead, tokens) }),
    ...(cacheWrite !== undefined && { cacheWritePerMillion: rateFor(cacheWrite, tokens) }),
  });
  const price = rates(0);
  if (price.inputPerMillion === 0 || price.outputPerMillion === 0) return undefined;
  // No model of the catalogue has more than one step.
  return Number.isFinite(above) ? { ...price, longPrompt: { ...rates(Infinity), aboveInputTokens: above } } : price;
}

/** Dollars for a million tokens in a request with so many input tokens. */
function rateFor(price: number | TieredPrices, inputTokens: number): number {
  if (typeof price === 'number') return price;
  return price.tiers.reduce((rate, tier) => (inputTokens > tier.start ? tier.price : rate), price.base);
}
