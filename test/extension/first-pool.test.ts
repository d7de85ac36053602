import { describe, expect, it } from 'vitest';
import { modelsOf, notInPool, workerOf, type FoundWorker } from '../../extension/workers/found-models.ts';
import { suggestPool } from '../../extension/workers/first-pool.ts';

const BASE_URL = 'http://127.0.0.1:11434/v1';

const local = (model: string, parameters?: number): FoundWorker =>
  ({ server: 'ollama', baseUrl: BASE_URL, model, name: model, parameters, remote: false });
const hosted = (model: string): FoundWorker => ({ server: 'vscode', model: `copilot/${model}`, name: model, remote: true });

const suggested = (...models: FoundWorker[]): [string, string][] => suggestPool(models).map(({ found, why }) => [found.name, why]);

describe('the first pool', () => {
  it('is the strongest, one for code, a quick one and one of another family', () => {
    expect(suggested(
      local('llama3.2:3b', 3e9), local('qwen3:30b', 30e9), local('qwen2.5-coder:7b', 7e9), local('gemma3:12b', 12e9), local('qwen3:8b', 8e9),
    )).toEqual([['qwen3:30b', 'strongest'], ['qwen2.5-coder:7b', 'code'], ['llama3.2:3b', 'quick'], ['gemma3:12b', 'other-family']]);
  });

  it('mixes models of this machine with hosted ones', () => {
    expect(suggested(local('qwen2.5-coder:7b', 7e9), hosted('gpt-5'), hosted('gpt-5-mini'), hosted('claude-sonnet-4.5')))
      .toEqual([['gpt-5', 'strongest'], ['qwen2.5-coder:7b', 'code'], ['gpt-5-mini', 'quick'], ['claude-sonnet-4.5', 'other-family']]);
  });

  it.each<[string, FoundWorker[], [string, string][]]>([
    ['none of none', [], []],
    ['the only one', [local('qwen3:8b', 8e9)], [['qwen3:8b', 'strongest']]],
    ['no large one for what is easy', [local('llama3.3:70b', 70e9), local('qwen3:30b', 30e9)], [['llama3.3:70b', 'strongest'], ['qwen3:30b', 'other-family']]],
    ['both of two that are alike', [local('qwen3:8b', 8e9), local('qwen3:14b', 14e9)], [['qwen3:14b', 'strongest'], ['qwen3:8b', 'next']]],
    ['one of the same model on two servers', [local('qwen3:8b', 8e9), { ...local('qwen3:8b', 8e9), server: 'vllm' }], [['qwen3:8b', 'strongest']]],
    ['none that is too small, where there are others', [local('smollm:135m', 135e6), local('qwen3:8b', 8e9)], [['qwen3:8b', 'strongest']]],
    ['a small one where there is nothing else', [local('smollm:135m', 135e6)], [['smollm:135m', 'strongest']]],
  ])('is %s', (_name, models, expected) => {
    expect(suggested(...models)).toEqual(expected);
  });

  it('never has more than four', () => {
    const many = Array.from({ length: 40 }, (_, index) => local(`${'abcdefghij'[index % 10]}${'klmn'[index % 4]}x-${index}b`, index * 1e9 + 1e9));
    expect(suggestPool(many).length).toBeLessThanOrEqual(4);
    expect(suggestPool(many).length).toBeGreaterThanOrEqual(2);
  });
});

describe('a model that was found', () => {
  it('becomes a worker that the contract takes, free of charge where its server is known', () => {
    const [found] = modelsOf([{
      kind: 'ollama', baseUrl: BASE_URL, needsKey: false, models: [{ name: 'qwen2.5-coder:7b', parameters: 7.6e9, remote: false }],
    }]);
    expect(workerOf(found as FoundWorker, ['qwen2.5-coder-7b'])).toMatchObject({
      id: 'qwen2.5-coder-7b-2', provider: 'openai-compatible', baseUrl: BASE_URL, model: 'qwen2.5-coder:7b',
      description: 'A language model made for code of 7.6 B weights on this machine.',
      price: { inputPerMillion: 0, outputPerMillion: 0 }, maxOutputTokens: 8_192,
    });
  });

  it('has no price and is not said to be on this machine where somebody else may answer and send a bill', () => {
    expect(workerOf(hosted('gpt-5-mini'), [])).toMatchObject({ id: 'gpt-5-mini', provider: 'vscode', model: 'copilot/gpt-5-mini', description: 'A small general language model.' });
    expect(workerOf(hosted('gpt-5-mini'), [])).not.toHaveProperty('price');
    for (const found of [{ ...local('m'), server: 'other' as const }, { ...local('gpt-oss:120b-cloud', 120e9), remote: true }]) {
      expect(workerOf(found, [])).not.toHaveProperty('price');
      expect(workerOf(found, []).description).not.toContain('on this machine');
    }
  });

  it('is asked for no longer an answer than leaves room for the question', () => {
    expect(workerOf({ ...local('m'), contextTokens: 8_192 }, []).maxOutputTokens).toBe(4_096);
    expect(workerOf({ ...local('m'), contextTokens: 131_072 }, []).maxOutputTokens).toBe(8_192);
  });

  it('is offered until the pool has it, from that server', () => {
    const found = [local('m'), hosted('gpt-5'), { ...local('m'), baseUrl: 'http://127.0.0.1:8000/v1' }];
    const workers = found.slice(0, 2).map((one) => ({ worker: workerOf(one, []), ready: true, priced: false }));
    expect(notInPool(found, { workers })).toEqual([found[2]]);
  });
});
