import { expect, it } from 'vitest';
import { LocalPolicy } from '../../backend/conductor/local-policy.ts';
import type { Sampling } from '../../backend/conductor/policy.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { MeteredPolicy } from '../../backend/solve/metered-policy.ts';
import type { ModelRequest } from '../../backend/workers/model.ts';
import { ScriptedModel, written } from '../support/scripted-model.ts';

const profile = PROMPT_PROFILES.compact;

/** What a model is asked where workers.json says `configured` and whoever plans wants `sampling`. */
async function askedWith(configured: Partial<ModelRequest>, sampling: Partial<Sampling> = {}) {
  const model = new ScriptedModel(async () => [written('text')]);
  const metered = new MeteredPolicy({
    policy: new LocalPolicy({ model, name: 'acme/small', profile }),
    profile,
    call: (request, signal, adapter) =>
      adapter.stream({ ...configured, ...request }, { signal, onText: () => {}, onThinking: () => {}, onActivity: () => {} }),
  });
  await metered.sample({
    question: 'Why?', context: '', pool: [{}], rounds: [], n: 1, sampling: { maxTokens: 100, ...sampling },
    signal: new AbortController().signal, onText: () => {},
  });
  return model.asked[0];
}

it('plans with the temperature and top-p that workers.json names', async () => {
  expect(await askedWith({ temperature: 0.2, topP: 0.5 })).toMatchObject({ temperature: 0.2, topP: 0.5 });
});

it('plans with those that are asked for, whatever workers.json names', async () => {
  expect(await askedWith({ temperature: 0.2, topP: 0.5 }, { temperature: 1, topP: 1 })).toMatchObject({ temperature: 1, topP: 1 });
});

it('plans as the model\'s makers recommend where nobody names any', async () => {
  expect(await askedWith({})).toMatchObject({ temperature: 0.7, topP: 0.8, topK: 20 });
});
