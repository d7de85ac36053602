import { describe, expect, it } from 'vitest';
import { conductorPrompt, endpointMessages } from '../../backend/conductor/conductor-prompt.ts';
import type { PastRound, PromptInput } from '../../backend/conductor/prompt-input.ts';
import { planGrammar } from '../../backend/conductor/plan-grammar.ts';
import { planRequest, type PlanSampling } from '../../backend/conductor/plan-request.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import type { WrittenText } from '../../backend/lm/language-model.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { LocalAdapter } from '../../backend/workers/adapters/local-adapter.ts';
import { quietStream } from '../support/quiet-stream.ts';
import { ScriptedModel, written } from '../support/scripted-model.ts';

const profile = PROMPT_PROFILES.compact;
const ROUND: PastRound = { planText: 'model_id = []', answer: 'It is 3.', feedback: 'The tests fail.' };
const input: PromptInput = { question: 'Why?', context: 'a = 1', pool: [{}, { description: 'fast' }], rounds: [] };

const localPlanner = (change: object = {}) => workerConfigSchema.parse({ id: 'planner', provider: 'local', model: 'owner/model', ...change });
const endpoint = (change: object = {}) => workerConfigSchema.parse({ id: 'planner', provider: 'openai', model: 'gpt-5', key: 'OPENAI_API_KEY', ...change });

/** Asks a scripted model of this machine for a plan. */
async function plan(sampling?: PlanSampling, { text = written('text'), planner = {}, asked = input }: {
  text?: WrittenText; planner?: object; asked?: PromptInput;
} = {}) {
  const model = new ScriptedModel(async () => [text]);
  const worker = localPlanner(planner);
  const reply = await new LocalAdapter(worker, model).stream(planRequest(worker, asked, sampling), quietStream());
  return { reply, request: model.asked[0] };
}

describe('the request to a model of this machine', () => {
  it('continues the opening words exactly, with the prompt of its profile and room for a whole plan', async () => {
    const { request } = await plan(undefined, { planner: { maxOutputTokens: 40 } });
    const { messages, prefill } = conductorPrompt(input, profile);
    const told = messages.map(({ role, content }) => ({ role, content }));
    expect(request).toMatchObject({ messages: told, prefill, maxTokens: 1_024 });
  });

  it('brings back the tokens and log-probabilities that training needs', async () => {
    const { reply } = await plan({ seed: 11 }, { text: written('one', { tokenIds: [7], logprobs: [-1], finishReason: 'length' }) });
    expect(reply).toMatchObject({
      text: 'one', finishReason: 'length', sampled: { seed: 11, device: 'cpu' },
      tokens: { promptTokenIds: [1, 2, 3], tokenIds: [7], logprobs: [-1] },
      usage: { uncachedInput: 3, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false },
    });
  });

  it('allows plans only: of this pool, in no more steps than the question is worth, and the three empty lists in a later round', async () => {
    for (const [question, rounds, maximumSteps] of [['thanks', [], 1], ['Why?', [], 1], ['Add a dumps function that writes TOML for every type of value.', [], 5], ['Fix it', [ROUND], 5]] as const) {
      const asked = { ...input, question, rounds };
      const { request } = await plan(undefined, { asked });
      const { prefill } = conductorPrompt(asked, profile);
      expect(request?.grammar).toEqual(planGrammar({ workers: 2, maximumSteps, revision: rounds.length > 0, prefill }));
    }
    expect((await plan({ constrained: false })).request?.grammar).toBeUndefined();
  });

  it('plans with the adapter of its worker', async () => {
    expect((await plan(undefined, { planner: { adapter: '/adapters/a' } })).request?.adapter).toBe('/adapters/a');
    expect((await plan()).request?.adapter).toBeUndefined();
  });

  it('samples as the model\'s makers recommend, and from the whole distribution where a temperature is named', async () => {
    expect((await plan()).request).toMatchObject({ temperature: 0.7, topP: 0.8, topK: 20 });
    expect((await plan({ temperature: 1 })).request).toMatchObject({ temperature: 1, topP: 1, topK: 0 });
  });

  it('takes temperature and top-p from workers.json unless the caller names others', async () => {
    const planner = { temperature: 0.2, topP: 0.5 };
    expect((await plan(undefined, { planner })).request).toMatchObject({ temperature: 0.2, topP: 0.5, topK: 0 });
    expect((await plan({ temperature: 1, topP: 1 }, { planner })).request).toMatchObject({ temperature: 1, topP: 1 });
  });
});

describe('the request to an endpoint', () => {
  it('ends the user\'s turn with the opening words, and asks for nothing that only a local model can do', () => {
    const request = planRequest(endpoint(), input, { seed: 7, temperature: 1, maxTokens: 500 });
    expect(request).toEqual({
      messages: endpointMessages(input, PROMPT_PROFILES.standard), seed: 7, temperature: 1, maxOutputTokens: 500,
    });
    expect(request.messages.at(-1)?.content).toContain('Begin your reply with: Let me think step by step');
  });

  it('leaves room for models that always reason, and no more than workers.json allows', () => {
    expect(planRequest(endpoint({ maxOutputTokens: 20_000 }), input).maxOutputTokens).toBe(8_192);
    expect(planRequest(endpoint({ maxOutputTokens: 300 }), input).maxOutputTokens).toBe(300);
  });
});
