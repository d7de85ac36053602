import { describe, expect, it } from 'vitest';
import { conductorPrompt } from '../../backend/conductor/conductor-prompt.ts';
import { LocalPolicy, type LocalPolicyOptions } from '../../backend/conductor/local-policy.ts';
import { planGrammar } from '../../backend/conductor/plan-grammar.ts';
import type { PastRound, PolicyRequest } from '../../backend/conductor/policy.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import type { WrittenText } from '../../backend/lm/language-model.ts';
import { ScriptedModel, written } from '../support/scripted-model.ts';

const profile = PROMPT_PROFILES.compact;
const ROUND: PastRound = { planText: 'model_id = []', answer: 'It is 3.', feedback: 'The tests fail.' };

function policyOf(texts: readonly WrittenText[], change: Partial<LocalPolicyOptions> = {}) {
  const model = new ScriptedModel(async () => [...texts]);
  return { model, policy: new LocalPolicy({ model, name: 'owner/model', profile, ...change }) };
}

function request({ sampling, ...change }: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    question: 'Why?', context: 'a = 1', pool: [{}, { description: 'fast' }], rounds: [], n: 1, signal: new AbortController().signal,
    onText: () => {}, ...change, sampling: { maxTokens: 100, ...sampling },
  };
}

describe('a model of this machine as the Conductor', () => {
  it('continues the opening words exactly, with the prompt that its profile makes', async () => {
    const { model, policy } = policyOf([written('text')]);
    await policy.sample(request());
    const { messages, prefill } = conductorPrompt(request(), profile);
    expect(model.asked[0]).toMatchObject({ messages, prefill, maxTokens: 100 });
  });

  it('writes all samples of a prompt in one go, and hands on what training needs', async () => {
    const texts = [written('one', { tokenIds: [7], logprobs: [-1] }), written('two', { finishReason: 'length', device: 'cuda' })];
    const { model, policy } = policyOf(texts);
    const samples = await policy.sample(request({ n: 2, sampling: { maxTokens: 100, seeds: [11, 12] } }));
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]).toMatchObject({ samples: 2, seeds: [11, 12] });
    expect(samples).toMatchObject([
      { text: 'one', finishReason: 'stop', promptTokenIds: [1, 2, 3], tokenIds: [7], logprobs: [-1], sampled: { seed: 11, device: 'cpu' } },
      { text: 'two', finishReason: 'length', sampled: { seed: 12, device: 'cuda' } },
    ]);
    expect(samples[0]?.usage).toEqual({ uncachedInput: 3, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false });
  });

  it('draws a seed for each sample where none is given, and says which', async () => {
    const { model, policy } = policyOf([written('one'), written('two')]);
    const samples = await policy.sample(request({ n: 2 }));
    const seeds = model.asked[0]?.seeds ?? [];
    expect(samples.map(({ sampled }) => sampled?.seed)).toEqual(seeds);
    expect(new Set(seeds).size).toBe(2);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
  });

  it('writes plans only: for this pool, and with the three empty lists in a later round', async () => {
    const { model, policy } = policyOf([written('text')]);
    await policy.sample(request());
    await policy.sample(request({ rounds: [ROUND] }));
    const grammars = [[], [ROUND]].map((rounds) => planGrammar({
      workers: 2, revision: rounds.length > 0, prefill: conductorPrompt(request({ rounds }), profile).prefill,
    }));
    expect(model.asked.map(({ grammar }) => grammar)).toEqual(grammars);
  });

  it('writes whatever it likes where training asks for its own distribution', async () => {
    const { model, policy } = policyOf([written('text')]);
    await policy.sample(request({ sampling: { maxTokens: 100, temperature: 1, constrained: false } }));
    expect(model.asked[0]).toMatchObject({ temperature: 1 });
    for (const absent of ['grammar', 'topP', 'topK'] as const) expect(model.asked[0]?.[absent]).toBeUndefined();
  });

  it('plans with its adapter, and says in which version', async () => {
    const { model, policy } = policyOf([written('text')], { adapter: { folder: '/adapters/a', version: 'v1' } });
    const [sample] = await policy.sample(request());
    expect(model.asked[0]?.adapter).toBe('/adapters/a');
    expect(sample?.policy).toEqual({ model: 'owner/model', adapterVersion: 'v1', promptVersion: profile.version });
  });

  it('tells each sample\'s text as it comes, and can be cancelled', async () => {
    const told: unknown[][] = [];
    const controller = new AbortController();
    const model = new ScriptedModel(async ({ signal, onText }) => {
      onText?.(1, 'so far');
      controller.abort(new Error('enough'));
      signal?.throwIfAborted();
      return [];
    });
    const policy = new LocalPolicy({ model, name: 'm', profile });
    const sampled = policy.sample(request({ n: 2, signal: controller.signal, onText: (...piece) => told.push(piece) }));
    await expect(sampled).rejects.toThrow('enough');
    expect(told).toEqual([[1, 'so far']]);
  });
});
