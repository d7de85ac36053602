import { describe, expect, it } from 'vitest';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { bestPlanner, choiceOf, CHEAP_PLAN_USD, type PlanningRecord } from '../../backend/solve/choose-planner.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';

const HERE = 'http://127.0.0.1:11434/v1';
const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

const worker = (id: string, more: object = {}): WorkerConfig => workerConfigSchema.parse({ id, provider: 'openai', model: id, ...more });
const prices = await loadPrices();
/** A worker at the known price of its model. */
const listed = (model: string): WorkerConfig => {
  const own = worker(model, { provider: model.startsWith('claude') ? 'anthropic' : 'openai' });
  const price = prices.of(own);
  if (!price) throw new Error(`No price is known of ${model}.`);
  return { ...own, price };
};
const here = (model: string, more: object = {}): WorkerConfig =>
  workerConfigSchema.parse({ id: model.replace(/[^\w.-]/g, '-'), provider: 'openai-compatible', baseUrl: HERE, model, price: FREE, ...more });

const best = (pool: readonly WorkerConfig[], records: Record<string, PlanningRecord> = {}) => {
  const chosen = bestPlanner(pool, ({ id }) => records[id]);
  return chosen && [chosen.worker.model, chosen.why];
};

describe('the best planner for its price', () => {
  it.each([
    ['the strongest whose plan is cheap', [listed('gpt-6-luna'), listed('claude-opus-5'), listed('claude-sonnet-5-5')], ['claude-sonnet-5-5', 'strongest']],
    ['the cheapest where every plan is dear', [listed('claude-fable-5'), listed('claude-opus-5')], ['claude-opus-5', 'cheapest']],
    ['the first of equals', [listed('gpt-6.1-sol'), listed('claude-sonnet-5-5')], ['gpt-6.1-sol', 'strongest']],
    ['a large model that costs nothing, before any that is paid', [listed('claude-sonnet-5-5'), here('qwen3:32b')], ['qwen3:32b', 'free']],
    ['a paid model before a small one that costs nothing', [here('qwen2.5-coder:7b'), listed('gpt-6-luna')], ['gpt-6-luna', 'strongest']],
    ['the largest of those that cost nothing', [here('llama3.2:3b'), here('mixtral-8x7b'), here('qwen3:14b')], ['mixtral-8x7b', 'free']],
    ['a model with a price before one without', [worker('copilot', { provider: 'vscode' }), listed('claude-opus-5')], ['claude-opus-5', 'cheapest']],
    ['a model without a price before a small one that costs nothing', [here('llama3.1:8b'), worker('copilot', { provider: 'vscode' })], ['copilot', 'unpriced']],
    ['the only one', [listed('claude-opus-5')], ['claude-opus-5', 'only']],
  ] as const)('is %s', (_what, pool, expected) => {
    expect(best(pool)).toEqual(expected);
  });

  it.each([
    ['is simulated', worker('gpt', { simulated: true })],
    ['is too small', here('qwen2.5-coder:1.5b')],
    ['is too small by its description', here('tiny', { description: 'A general language model of 494 M weights on this machine.' })],
    ['is a base model', here('starcoder2-15b-base')],
    ['cannot answer with a plan', worker('gpt', { maxOutputTokens: 256 })],
    ['has too small a context here', here('phi-4', { maxOutputTokens: 2_048 })],
  ])('is nobody who %s', (_what, one) => {
    expect(best([one])).toBeUndefined();
    expect(best([one, here('llama3.1:8b')])).toEqual(['llama3.1:8b', 'only']);
  });

  it.each(['gpt-4.1-1m', 'gpt-5.4-128k', 'llama-3.3-70b-instruct', 'Qwen/Qwen3-30B-A3B', 'gemma-3n-e4b', 'phi-4'])('may be %s', (model) => {
    expect(best([worker('any', { model })])).toEqual([model, 'only']);
  });

  it('is judged by its record once there is one: whose plans mostly do not hold is passed over', () => {
    const pool = [listed('gpt-6.1-sol'), listed('claude-sonnet-5-5'), listed('gpt-6-luna')];
    expect(best(pool, { 'gpt-6.1-sol': { runs: 4, valid: 0 } })?.[0]).toBe('gpt-6.1-sol');
    expect(best(pool, { 'gpt-6.1-sol': { runs: 6, valid: 2 } })?.[0]).toBe('claude-sonnet-5-5');
    // Of equals, the better record decides.
    expect(best(pool, { 'gpt-6.1-sol': { runs: 10, valid: 8 }, 'claude-sonnet-5-5': { runs: 10, valid: 10 } })?.[0]).toBe('claude-sonnet-5-5');
    expect(best([pool[0] as WorkerConfig], { 'gpt-6.1-sol': { runs: 6, valid: 2 } })).toBeUndefined();
  });
});

describe('the expected cost of a plan', () => {
  it('is estimated from the prices and the longest prompt until there are plans, and then their mean', () => {
    const sonnet = listed('claude-sonnet-5-5');
    const { estimate } = choiceOf(sonnet, 'chosen', 4);
    expect(estimate).toEqual({ usd: expect.any(Number), plans: 0 });
    // The prompt alone, at three characters a token, and a plan of the paper's length.
    expect(estimate.usd).toBeGreaterThan((PROMPT_PROFILES.standard.contextCharacters / 3 * 2 + 1_024 * 10) / 1e6);
    expect(estimate.usd).toBeLessThanOrEqual(CHEAP_PLAN_USD);
    const record = { runs: 4, valid: 3, usd: 0.01, durationMs: 2_000 };
    expect(choiceOf(sonnet, 'chosen', 4, () => record).estimate).toEqual({ usd: 0.01, durationMs: 2_000, plans: 3 });
  });

  it('is nothing for a model of this machine, and unknown without a price', () => {
    expect(choiceOf(here('qwen3:32b'), 'free', 2).estimate.usd).toBe(0);
    expect(choiceOf(workerConfigSchema.parse({ id: 'l', provider: 'local', model: 'a/b' }), 'chosen', 2).estimate.usd).toBe(0);
    expect(choiceOf(worker('gpt'), 'chosen', 2).estimate).toEqual({ plans: 0 });
  });
});
