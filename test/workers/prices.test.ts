import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_USAGE, totalTokens } from '../../backend/protocol/token-counts.ts';
import type { Usage } from '../../backend/protocol/usage.ts';
import { CATALOGUE, catalogueContext, cataloguePrice } from '../../backend/workers/limits/catalogue-price.ts';
import { costOf, loadPrices, upperBound } from '../../backend/workers/limits/prices.ts';
import corrections from '../../backend/workers/limits/prices.json' with { type: 'json' };
import { ConfigFileError } from '../../backend/workers/read-json-file.ts';
import { chatUsage, messagesUsage, responsesUsage } from '../../backend/workers/adapters/reported-usage.ts';
import { rejection, workerOf } from './harness.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prices-'));
});
afterEach(() => rm(folder, { recursive: true }));

const price = { inputPerMillion: 10, outputPerMillion: 100, cacheReadPerMillion: 1, cacheWritePerMillion: 12 };
const priced = workerOf({ provider: 'openai', price });
const usage = (fields: Partial<Usage>): Usage => ({ ...NO_USAGE, ...fields });

describe('reported usage', () => {
  const expected = usage({ uncachedInput: 600, cacheRead: 300, cacheWrite: 100, output: 30, reasoning: 20 });

  test('counts cached tokens once where the input contains them', () => {
    expect(
      responsesUsage({
        input_tokens: 1_000, input_tokens_details: { cached_tokens: 300, cache_write_tokens: 100 },
        output_tokens: 50, output_tokens_details: { reasoning_tokens: 20 },
      }),
    ).toEqual(expected);
    expect(
      chatUsage({
        prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 300, cache_write_tokens: 100 },
        completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 20 }, total_tokens: 1_050,
      }),
    ).toEqual(expected);
  });

  test('counts cached tokens once where the input excludes them', () => {
    expect(
      messagesUsage(
        { input_tokens: 600, cache_read_input_tokens: 300, cache_creation_input_tokens: 100, output_tokens: 1 },
        { output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } },
      ),
    ).toEqual(expected);
  });

  test('the two styles of the same call cost the same', async () => {
    const prices = await loadPrices();
    const inclusive = chatUsage({ prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 400 }, completion_tokens: 10 })!;
    const exclusive = messagesUsage({ input_tokens: 600, cache_read_input_tokens: 400 }, { output_tokens: 10 })!;
    expect(costOf(priced, inclusive, prices)).toEqual(costOf(priced, exclusive, prices));
  });

  test('reasoning that only the total shows is counted', () => {
    expect(chatUsage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 })).toEqual(
      usage({ uncachedInput: 10, output: 5, reasoning: 25 }),
    );
    const completion_tokens_details = { reasoning_tokens: 25 };
    expect(chatUsage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 40, completion_tokens_details })).toEqual(
      usage({ uncachedInput: 10, output: 5, reasoning: 25 }),
    );
  });

  test('DeepSeek\'s name for cache hits is understood', () => {
    const reported = chatUsage({ prompt_tokens: 10, prompt_cache_hit_tokens: 4, completion_tokens: 1 });
    expect(reported).toMatchObject({ uncachedInput: 6, cacheRead: 4 });
  });

  test('whatever a server reports, counts are whole, not negative, and add up to its totals', () => {
    const number = fc.oneof(fc.integer({ min: -5, max: 100_000 }), fc.double(), fc.constant(null), fc.string());
    const report = fc.record({ input: number, cached: number, written: number, output: number, reasoning: number, total: number });
    fc.assert(
      fc.property(report, (given) => {
        const all = [
          chatUsage({
            prompt_tokens: given.input, prompt_tokens_details: { cached_tokens: given.cached, cache_write_tokens: given.written },
            completion_tokens: given.output, completion_tokens_details: { reasoning_tokens: given.reasoning },
            total_tokens: given.total,
          }),
          responsesUsage({
            input_tokens: given.input, input_tokens_details: { cached_tokens: given.cached, cache_write_tokens: given.written },
            output_tokens: given.output, output_tokens_details: { reasoning_tokens: given.reasoning },
          }),
          messagesUsage(
            { input_tokens: given.input, cache_read_input_tokens: given.cached, cache_creation_input_tokens: given.written },
            { output_tokens: given.output, output_tokens_details: { thinking_tokens: given.reasoning } },
          ),
        ];
        for (const result of all) {
          if (!result) continue;
          const { estimated: _estimated, ...counts } = result;
          expect(Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
        }
        const responses = all[1];
        if (responses && Number.isSafeInteger(given.input) && Number.isSafeInteger(given.output)) {
          expect(totalTokens(responses)).toBe(Math.max(0, given.input as number) + Math.max(0, given.output as number));
        }
      }),
    );
  });

  test('nothing reported is nothing known', () => {
    for (const nothing of [undefined, null, {}, 'none']) {
      expect(chatUsage(nothing)).toBeUndefined();
      expect(responsesUsage(nothing)).toBeUndefined();
      expect(messagesUsage(nothing, nothing)).toBeUndefined();
    }
  });
});

describe('cost', () => {
  test('prices every kind of token once; reasoning is output', async () => {
    const prices = await loadPrices();
    const all = usage({ uncachedInput: 1e6, cacheRead: 1e6, cacheWrite: 1e6, output: 1e6, reasoning: 1e6 });
    expect(costOf(priced, all, prices)).toEqual({ usd: 10 + 1 + 12 + 100 + 100, estimated: false });
  });

  test('an unknown price is unpriced and not free', async () => {
    const prices = await loadPrices();
    const unknown = workerOf({ provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'gpt-5.5' });
    expect(costOf(unknown, usage({ output: 5, estimated: true }), prices)).toEqual({ estimated: true });
    expect(upperBound(unknown, { messages: [], maxOutputTokens: 100 }, prices)).toEqual({ tokens: 100 });
    expect(prices.of(workerOf({ provider: 'vscode', model: 'gpt-5.5' }))).toBeUndefined();
  });

  test('names match exactly or with the provider\'s date, never by likeness', async () => {
    const prices = await loadPrices();
    const known = (provider: 'openai' | 'anthropic', model: string) => prices.of(workerOf({ provider, model })) !== undefined;
    expect(known('openai', 'gpt-5.5')).toBe(true);
    expect(known('openai', 'gpt-5.5-2026-04-23')).toBe(true);
    expect(known('anthropic', 'claude-haiku-4-5-20251001')).toBe(true);
    expect(known('anthropic', 'claude-sonnet-5-20260901')).toBe(true);
    for (const model of ['gpt-5.5-ultra', 'GPT-5.5', 'gpt-5.5-latest', 'gpt-5.5-2026', 'gpt-5.', 'constructor']) {
      expect(known('openai', model), model).toBe(false);
    }
    // The catalogue takes any name that begins like an older model's for that model.
    expect(known('anthropic', 'claude-sonnet-5-9')).toBe(false);
    expect(known('openai', 'claude-haiku-4-5')).toBe(false);
  });

  test('each has its list and its day', async () => {
    const prices = await loadPrices();
    const known = (baseUrl: string, model: string) => prices.known(workerOf({ provider: 'openai-compatible', baseUrl, model }));
    const catalogue = { list: 'catalogue', asOf: CATALOGUE.asOf, name: CATALOGUE.name };
    expect(prices.known(priced)?.origin).toEqual({ list: 'worker' });
    expect(prices.known(workerOf({ provider: 'openai', model: 'gpt-6.1-sol' }))?.origin).toEqual({ list: 'conductor', asOf: expect.stringMatching(/^2026-/) });
    expect(known('https://api.mistral.ai/v1', 'mistral-large-latest')).toEqual({ price: { inputPerMillion: 2, outputPerMillion: 6 }, origin: catalogue });
    expect(known('https://api.x.ai/v1', 'grok-4')).toEqual({ price: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.75 }, origin: catalogue });
    expect(known('https://openrouter.ai/api/v1', 'anthropic/claude-sonnet-4.5')?.price).toMatchObject({ inputPerMillion: 3, longPrompt: { inputPerMillion: 6, outputPerMillion: 22.5 } });
    // What costs nothing there is held by no budget, so nobody's word is taken for it.
    expect(known('https://openrouter.ai/api/v1', 'deepseek/deepseek-r1:free')).toBeUndefined();
    expect(known('http://127.0.0.1:4000/v1?server=https://api.x.ai', 'grok-4')).toBeUndefined();
  });

  test('the catalogue knows what a model can hold, by the same names as its price', () => {
    expect(catalogueContext('https://api.x.ai/v1', 'grok-4')).toBe(256_000);
    expect(catalogueContext('https://api.x.ai/v1', 'grok-4-of-mine')).toBeUndefined();
    expect(catalogueContext('http://127.0.0.1:11434/v1', 'grok-4')).toBeUndefined();
  });

  test('the day of the catalogue is that of the installed release', () => {
    const installed = JSON.parse(readFileSync(new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url), 'utf8')) as { version: string };
    expect(installed.version, 'look up the day of the new release, and which of prices.json it has by now').toBe(CATALOGUE.version);
  });

  test('what corrects the catalogue is not in it', async () => {
    for (const [host, { models }] of Object.entries(corrections.servers)) {
      for (const [model, own] of Object.entries(models)) expect(cataloguePrice(`https://${host}/v1`, model, Date.now()), model).not.toEqual(own);
    }
  });

  test('a long prompt has its own price for the whole request', async () => {
    const prices = await loadPrices();
    const haiku = workerOf({ provider: 'anthropic', model: 'claude-haiku-5-5' });
    const usdFor = (uncachedInput: number) => costOf(haiku, usage({ uncachedInput, cacheRead: 40_000 }), prices).usd;
    expect(usdFor(60_000)).toBeCloseTo((60_000 * 0.1 + 40_000 * 0.01) / 1e6, 12);
    expect(usdFor(60_001)).toBeCloseTo((60_001 * 0.5 + 40_000 * 0.05) / 1e6, 12);
  });

  test('the upper bound is never below what a call within its limits costs', async () => {
    const prices = await loadPrices();
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), fc.integer({ min: 1, max: 10_000 }), share, (content, maxOutputTokens, shareRead) => {
        const bound = upperBound(priced, { messages: [{ role: 'user', content }], maxOutputTokens }, prices);
        const input = bound.tokens - maxOutputTokens;
        const read = Math.floor(input * shareRead);
        const most = usage({ cacheRead: read, cacheWrite: input - read, output: maxOutputTokens });
        expect(bound.usd).toBeGreaterThanOrEqual(costOf(priced, most, prices).usd! - 1e-12);
      }),
    );
  });
});

describe('the override file', () => {
  const path = () => join(folder, 'prices.json');
  const file = (models: object, host = 'api.openai.com') =>
    JSON.stringify({ version: 1, asOf: '2026-12-01', servers: { [host]: { models } } });

  test('goes before the built-in prices and behind the worker\'s own', async () => {
    const cheap = { inputPerMillion: 1, outputPerMillion: 2 };
    await writeFile(path(), file({ 'gpt-5.5': cheap, mine: { ...cheap, inputPerMillion: 3 } }));
    const prices = await loadPrices(path());
    expect(prices.of(workerOf({ provider: 'openai', model: 'gpt-5.5' }))?.inputPerMillion).toBe(1);
    expect(prices.of(workerOf({ provider: 'openai', model: 'mine' }))?.inputPerMillion).toBe(3);
    expect(prices.of(workerOf({ provider: 'openai', model: 'gpt-5.4-mini' }))?.inputPerMillion).toBe(0.75);
    expect(prices.of({ ...priced, model: 'mine' })).toEqual(price);
  });

  test('names a server by host and port', async () => {
    await writeFile(path(), file({ tiny: { inputPerMillion: 0, outputPerMillion: 0 } }, '127.0.0.1:11434'));
    const prices = await loadPrices(path());
    const local = workerOf({ provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'tiny' });
    expect(costOf(local, usage({ output: 5 }), prices)).toEqual({ usd: 0, estimated: false });
  });

  test('may be absent', async () => {
    expect((await loadPrices(path())).of(workerOf({ provider: 'openai', model: 'gpt-6.1-sol' }))?.outputPerMillion).toBe(10);
  });

  test('that is wrong is refused with the place', async () => {
    await writeFile(path(), file({ 'gpt-5.5': { inputPerMillion: -1, outputPerMillion: 2 } }));
    const error = await rejection(loadPrices(path()));
    expect(error).toBeInstanceOf(ConfigFileError);
    expect((error as ConfigFileError).message).toContain(`${path()}: servers.api.openai.com.models.gpt-5.5.inputPerMillion`);
  });
});
