import { describe, expect, it } from 'vitest';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { suggestId, WORKER_PRESETS } from '../../extension/workers/worker-presets.ts';

describe('WORKER_PRESETS', () => {
  it.each(WORKER_PRESETS)('$label makes a worker that the contract takes', ({ provider, baseUrl = 'https://api.example.com', key, example }) => {
    const worker = { id: suggestId(example, []), provider, model: example, baseUrl, ...(key && { key }) };
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
    expect(workerConfigSchema.shape.id.safeParse(id).success).toBe(true);
  });

  it('takes the next free number', () => {
    expect(suggestId('gpt-5', ['gpt-5', 'gpt-5-2'])).toBe('gpt-5-3');
  });
});
