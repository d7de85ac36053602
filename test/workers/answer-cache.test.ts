import { expect, test } from 'vitest';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { AnswerCache, answerKey, type AnswerQuestion } from '../../backend/workers/answer-cache.ts';
import { workerOf } from './harness.ts';

const question: AnswerQuestion = {
  worker: workerOf({ provider: 'openai' }),
  request: { messages: [{ role: 'user', content: 'Why?' }], maxOutputTokens: 10, temperature: 1 },
  sampleIndex: 0,
  scope: 'training',
};
const reply = { text: 'Because.', finishReason: 'stop', usage: NO_USAGE, model: 'served' } as const;

test('an answer is found again by an equal question, whatever the order of its fields', () => {
  const cache = new AnswerCache(new Map<string, string>());
  expect(cache.get(question)).toBeUndefined();
  cache.set(question, reply);
  const { messages, maxOutputTokens } = question.request;
  expect(cache.get({ ...question, request: { temperature: 1, maxOutputTokens, messages } })).toEqual(reply);
});

test.each<[string, Partial<AnswerQuestion>]>([
  ['worker', { worker: { ...question.worker, id: 'other' } }],
  ['model', { worker: { ...question.worker, model: 'other' } }],
  ['weights', { worker: { ...question.worker, weights: '/adapters/trained' } }],
  ['server', { worker: { ...question.worker, baseUrl: 'https://example.com' } }],
  ['parameters', { request: { ...question.request, temperature: 0 } }],
  ['messages', { request: { ...question.request, messages: [{ role: 'user', content: 'Why not?' }] } }],
  ['role', { request: { ...question.request, messages: [{ role: 'system', content: 'Why?' }] } }],
  ['tool', { request: { ...question.request, tools: [{ name: 'read', description: 'Reads', parameters: {} }] } }],
  ['call', { request: { ...question.request, messages: [{ role: 'user', content: 'Why?', toolCalls: [{ id: 'a', name: 'read', arguments: '{}' }] }] } }],
  ['sample', { sampleIndex: 1 }],
  ['scope', { scope: 'evaluation' }],
])('another %s is another question', (_name, change) => {
  expect(answerKey({ ...question, ...change })).not.toBe(answerKey(question));
});

test('a reply keeps its tool calls, and what the provider wants back', () => {
  const cache = new AnswerCache(new Map<string, string>());
  const called = { ...reply, toolCalls: [{ id: 'a', name: 'read', arguments: '{' }], verbatim: { by: 'served', items: [{ type: 'thinking' }] } };
  cache.set(question, called);
  expect(cache.get(question)).toEqual(called);
});

test('where the shared part of a message ends is no part of the question', () => {
  const messages = [{ role: 'user', content: 'Why?', sharedPrefix: 2 }] as const;
  expect(answerKey({ ...question, request: { ...question.request, messages } })).toBe(answerKey(question));
});

test.each(['{', '{"text":1}'])('a stored value that cannot be read (%s) is no answer', (value) => {
  expect(new AnswerCache({ get: () => value, set: () => undefined }).get(question)).toBeUndefined();
});
