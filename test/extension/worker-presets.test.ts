import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, KNOWN_AGENTS } from '../../backend/protocol/known-agents.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { agentWorker, suggestId, WORKER_PRESETS } from '../../extension/workers/worker-presets.ts';

describe('WORKER_PRESETS', () => {
  it.each(WORKER_PRESETS)('$label makes a worker that the contract takes', ({ provider, baseUrl = 'https://api.example.com', key, example }) => {
    const worker = { id: suggestId(example, []), provider, model: example, baseUrl, ...(key && { key }) };
    expect(workerConfigSchema.safeParse(worker).error).toBeUndefined();
  });
});

describe('agentWorker', () => {
  it.each(AGENT_NAMES)('makes a worker of %s with the defaults of the contract', (name) => {
    const worker = agentWorker(name, 0.5, [name]);
    expect(worker).toEqual(workerConfigSchema.parse({ id: `${name}-2`, provider: 'acp', model: 'default', agent: { ...KNOWN_AGENTS[name].agent, stepUsd: 0.5 } }));
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
