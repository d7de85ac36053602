import * as z from 'zod';
import { totalTokens } from '../../protocol/token-counts.ts';
import { type Cost, type Usage } from '../../protocol/usage.ts';
import { factsOf } from '../../protocol/providers.ts';
import type { PriceOrigin } from '../../protocol/price-origin.ts';
import { priceSchema, type Price, type WorkerConfig } from '../../protocol/worker-config.ts';
import { CATALOGUE, cataloguePrice } from './catalogue-price.ts';
import { estimateInputTokens } from './estimate-tokens.ts';
import type { Reserved } from './ledger.ts';
import type { ModelRequest } from '../model.ts';
import corrections from './prices.json' with { type: 'json' };
import { readJsonFile } from '../read-json-file.ts';
import { baseUrlOf } from '../servers/server-of.ts';

/** `prices.json`, and the user's file of the same form that overrides it. Servers are named by host and, if present, port. */
const pricesFileSchema = z.object({
  version: z.literal(1),
  /** The day the prices were looked up. */
  asOf: z.iso.date(),
  note: z.string().optional(),
  servers: z.record(
    z.string(),
    z.object({ sources: z.array(z.string()).default([]), models: z.record(z.string(), priceSchema) }),
  ),
});
export type PricesFile = z.infer<typeof pricesFileSchema>;

/** The price of a provider that bills nothing. */
const FREE: Price = { inputPerMillion: 0, outputPerMillion: 0 };

export interface KnownPrice {
  readonly price: Price;
  readonly origin: PriceOrigin;
}

/** Prices of models by server and model name. The same name on another server is another product. */
export class Prices {
  readonly #corrections: PricesFile;
  readonly #override: PricesFile | undefined;
  readonly #now: () => number;

  constructor(corrections: PricesFile, override?: PricesFile, now = Date.now) {
    this.#corrections = corrections;
    this.#override = override;
    this.#now = now;
  }

  of(worker: WorkerConfig): Price | undefined {
    return this.known(worker)?.price;
  }

  /**
   * The price in the worker's settings, else in the user's file, else in `prices.json`, which has what is newer than the catalogue, else in
   * the catalogue. `undefined` means unpriced, not free.
   */
  known(worker: WorkerConfig): KnownPrice | undefined {
    if (worker.price !== undefined) return { price: worker.price, origin: { list: 'worker' } };
    const { reach, isFree } = factsOf(worker.provider);
    if (isFree) return { price: FREE, origin: { list: 'free' } };
    if (reach !== 'server') return undefined;
    const baseUrl = baseUrlOf(worker);
    const { host } = new URL(baseUrl);
    const listed = (file: PricesFile | undefined, list: PriceOrigin['list']): KnownPrice | undefined => {
      const price = file && lookUp(file.servers[host], worker.model);
      return price && { price, origin: { list, asOf: file.asOf } };
    };
    const catalogued = (): KnownPrice | undefined => {
      const price = cataloguePrice(baseUrl, worker.model, this.#now());
      return price && { price, origin: { list: 'catalogue', asOf: CATALOGUE.asOf, name: CATALOGUE.name } };
    };
    return listed(this.#override, 'file') ?? listed(this.#corrections, 'conductor') ?? catalogued();
  }
}

/** The corrections of this build, overridden by the file if it exists. @throws ConfigFileError if the file is not valid. */
export async function loadPrices(overridePath?: string): Promise<Prices> {
  const override = overridePath === undefined ? undefined : await readJsonFile(overridePath, pricesFileSchema);
  return new Prices(pricesFileSchema.parse(corrections), override);
}

/** OpenAI dates its snapshots `-2026-04-23`, Anthropic `-20251001`; a snapshot costs what its undated name costs. */
const DATE_SUFFIX = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

function lookUp(server: PricesFile['servers'][string] | undefined, model: string): Price | undefined {
  const models = server?.models ?? {};
  for (const name of [model, model.replace(DATE_SUFFIX, '')]) if (Object.hasOwn(models, name)) return models[name];
  return undefined;
}

/** The price of a request with so many input tokens. */
export function priceFor(price: Price, inputTokens: number): Omit<Price, 'longPrompt'> {
  return price.longPrompt !== undefined && inputTokens > price.longPrompt.aboveInputTokens ? price.longPrompt : price;
}

/**
 * The cost of a call. Reasoning is billed as output. Without a cache price, cached tokens cost as much as other input.
 * @param told dollars, where the provider itself says them
 */
export function costOf(worker: WorkerConfig, usage: Usage, prices: Prices, told?: number): Cost {
  if (worker.agent) {
    // An agent names what its tokens would cost, whoever pays for them.
    if (worker.agent.stepUsd === 0 || isNothing(usage)) return { usd: 0, estimated: false };
    if (told !== undefined) return { usd: told, estimated: false };
  }
  const modelPrice = prices.of(worker);
  if (modelPrice === undefined) return { estimated: usage.estimated };
  const price = priceFor(modelPrice, usage.uncachedInput + usage.cacheRead + usage.cacheWrite);
  const usdMillions =
    usage.uncachedInput * price.inputPerMillion +
    usage.cacheRead * (price.cacheReadPerMillion ?? price.inputPerMillion) +
    usage.cacheWrite * (price.cacheWritePerMillion ?? price.inputPerMillion) +
    (usage.output + usage.reasoning) * price.outputPerMillion;
  return { usd: usdMillions / 1_000_000, estimated: usage.estimated };
}

const isNothing = (usage: Usage): boolean => totalTokens(usage) === 0 && !usage.estimated;

/** The maximum expected cost of a call. For an agent it is what the person sets aside for a step. For others: all input is written to a cache and the whole output limit is used. */
export function upperBound(worker: WorkerConfig, request: ModelRequest, prices: Prices): Reserved {
  const { agent } = worker;
  if (agent) return { ...(agent.stepUsd !== undefined && { usd: agent.stepUsd }), tokens: agent.stepTokens };
  const inputTokens = estimateInputTokens(request);
  const outputTokens = request.maxOutputTokens * (request.samples ?? 1);
  const tokens = inputTokens + outputTokens;
  const modelPrice = prices.of(worker);
  if (modelPrice === undefined) return { tokens };
  const price = priceFor(modelPrice, inputTokens);
  const inputPrice = Math.max(price.inputPerMillion, price.cacheWritePerMillion ?? 0);
  return { usd: (inputTokens * inputPrice + outputTokens * price.outputPerMillion) / 1_000_000, tokens };
}
