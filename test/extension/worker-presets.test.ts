import { describe, expect, it } from 'vitest';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { fieldProblem, suggestId, WORKER_PRESETS } from '../../extension/worker-presets.ts';

describe('WORKER_PRESETS', () => {
  it.each(WORKER_PRESETS)('$label makes a worker that the contract takes', ({ provider, baseUrl, key, example }) => {
    const worker = { id: suggestId(example, []), provider, model: example, ...(baseUrl && { baseUrl }), ...(key && { key }) };
    expect(workerConfigSchema.safeParse(worker).error).toBeUndefined();
  });
});

describe('suggestId', () => {
  it.each([
    ['gpt-5', 'gpt-5'],
    ['Qwen/Qwen3:8b', 'qwen3-8b'],
    ['???', 'worker'],
    ['', 'worker'],
    ['x'.repeat(200), 'x'.repeat(60)],
  ])('calls a worker with the model %j %j', (model, id) => {
    expect(suggestId(model, [])).toBe(id);
    expect(fieldProblem('id', id)).toBeUndefined();
  });

  it('takes the next free number', () => {
    expect(suggestId('gpt-5', ['gpt-5', 'gpt-5-2'])).toBe('gpt-5-3');
  });
});

describe('fieldProblem', () => {
  it('says in a sentence why a value is refused', () => {
    expect(fieldProblem('baseUrl', 'http://example.com/v1')).toContain('https');
    expect(fieldProblem('key', 'sk-123')).toContain('OPENAI_API_KEY');
    expect(fieldProblem('id', 'a b')).toContain('letters');
  });

  it('has nothing against a good value', () => {
    expect(fieldProblem('baseUrl', 'http://127.0.0.1:11434/v1')).toBeUndefined();
    expect(fieldProblem('model', 'gpt-5')).toBeUndefined();
  });
});
