import { describe, expect, it } from 'vitest';
import { conductorPrompt, endpointMessages } from '../../backend/conductor/conductor-prompt.ts';
import type { PromptInput } from '../../backend/conductor/prompt-input.ts';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';

const input: PromptInput = {
  question: 'Why does merge() lose an interval?',
  context: 'src/merge.js\nexport function merge() {}',
  pool: [{ description: 'Exact\nwith numbers.' }, {}],
  rounds: [],
};
const profiles = Object.values(PROMPT_PROFILES);
const instructed = profiles.filter(({ isInstructed }) => isInstructed);
const { mini } = PROMPT_PROFILES;
const text = (messages: readonly { content: string }[]): string => messages.map(({ content }) => content).join('\n');

describe.each(instructed)('the $name prompt', (profile) => {
  it('names workers by ordinals, with a description where there is one', () => {
    expect(text(conductorPrompt(input, profile).messages)).toContain('Worker 0: Exact with numbers.\nWorker 1');
  });

  it('shows only examples that are valid plans', () => {
    for (const { plan } of profile.examples) {
      expect(parsePlan(renderPlan(plan), { workerCount: 3, round: 0 })).toEqual({ kind: 'plan', plan });
    }
  });

  it('holds the question whole and as much of the context as the profile allows', () => {
    const context = `begin ${'x'.repeat(100_000)} end`;
    const prompt = text(conductorPrompt({ ...input, context }, profile).messages);
    expect(prompt).toContain(input.question);
    expect(prompt).toContain('begin');
    expect(prompt).toContain('end\n\nUSER QUESTION');
    expect(prompt.length).toBeLessThan(profile.contextCharacters + 12_000);
  });

  it('shows a later round what came of the one before', () => {
    const rounds = [{ planText: 'model_id = [1] …', answer: 'return a', feedback: 'merge.test.js > nested: failed' }];
    const { messages } = conductorPrompt({ ...input, rounds }, profile);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[2]?.content).toBe('model_id = [1] …');
    expect(messages[3]?.content).toContain('return a');
    expect(messages[3]?.content).toContain('nested: failed');
  });
});

describe.each(profiles)('the $name prompt', (profile) => {
  it('tells the Conductor which rule its text broke', () => {
    const rejection = { text: 'model_id = [99]', message: 'model_id names worker 99; the workers are 0 to 1.' };
    const { messages } = conductorPrompt({ ...input, rejection }, profile);
    expect(messages.at(-2)).toEqual({ role: 'assistant', content: 'model_id = [99]' });
    expect(messages.at(-1)?.content).toContain('worker 99');
  });
});

describe('the mini prompt', () => {
  const prompt = (changed: Partial<PromptInput>): string => text(conductorPrompt({ ...input, ...changed }, mini).messages);

  it('holds context, question and how many workers there are, and not a word about what to do', () => {
    expect(conductorPrompt(input, mini)).toEqual({
      messages: [{
        role: 'user',
        content: 'PROJECT CONTEXT:\nsrc/merge.js\nexport function merge() {}\n\nUSER QUESTION:\nWhy does merge() lose an interval?\n\n' +
          'Plan for workers 0 to 1.',
      }],
      prefill: '',
    });
    expect(prompt({ context: '' })).toMatch(/^USER QUESTION:/);
    expect(prompt({ pool: [{}] })).toMatch(/\n\nPlan for worker 0\.$/);
  });

  it('tells of the workers who is said to be good at what', () => {
    expect(prompt({ pool: [{}, { description: 'Plans work on intervals well.' }] })).toContain('\n\nWORKERS:\nplan1, near1\n\nPlan for workers 0 to 1.');
  });

  it('stays short, however long the question, the context and the descriptions are', () => {
    const long = `begin ${'x'.repeat(100_000)} end`;
    const clipped = prompt({ question: long, context: long, pool: [{ description: long }, { description: long }] });
    expect(clipped.length).toBeLessThan(1_100);
    expect(clipped).toMatch(/USER QUESTION:\nbegin x+ … x+ end\n/);
  });

  it('shows of later rounds the last, clipped, and what came of it', () => {
    const rounds = [
      { planText: 'model_id = [0]', answer: 'first', feedback: 'red' },
      { planText: 'model_id = [1]', answer: `second ${'y'.repeat(9_000)}`, feedback: 'merge.test.js > nested: failed' },
    ];
    const { messages } = conductorPrompt({ ...input, rounds }, mini);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[1]?.content).toBe('model_id = [1]');
    expect(messages[2]?.content).toMatch(/^ANSWER:\nsecond y+ … y+\n\nTEST FEEDBACK:\nmerge.test.js > nested: failed\n\nPlan for workers 0 to 1\.$/);
  });

  it('asks an endpoint for no opening words, since there are none', () => {
    expect(endpointMessages(input, mini)).toEqual(conductorPrompt(input, mini).messages);
  });
});
