import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { WorkerError } from '../../backend/workers/errors.ts';
import { HELLO, rejection, setUp, workersAt } from './harness.ts';

/* Each adapter against aimock, which speaks the three wire formats as their providers do, on a real socket. */

let mock: LLMock;
let workers: WorkerConfig[];

beforeAll(async () => {
  mock = await LLMock.create({ port: 0, chunkSize: 8 });
  workers = workersAt(mock.url, { model: 'some-model' });
});
afterAll(() => mock.stop());
beforeEach(() => mock.clearRequests());
afterEach(() => mock.clearFixtures());

function workerFor(provider: string): WorkerConfig {
  return workers.find((worker) => worker.provider === provider)!;
}

const USAGE = {
  openai: { input_tokens: 100, output_tokens: 40, total_tokens: 140 },
  'openai-compatible': { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
  anthropic: { input_tokens: 100, output_tokens: 40 },
} as const;

describe.each(['openai', 'openai-compatible', 'anthropic'] as const)('%s', (provider) => {
  test('streams the text in pieces and reports what the provider reports', async () => {
    const content = 'Hello, quiet fox, how are you?';
    mock.on({ userMessage: /hello/ }, { content, model: 'served-model', usage: USAGE[provider] });
    const { caller, books, texts, options } = await setUp();
    const { reply, spent } = await caller.call(workerFor(provider), HELLO, options);
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join('')).toBe(content);
    expect(reply).toEqual({
      text: content,
      finishReason: 'stop',
      usage: { uncachedInput: 100, cacheRead: 0, cacheWrite: 0, output: 40, reasoning: 0, estimated: false },
      model: 'served-model',
    });
    expect(spent.cost).toEqual({ estimated: false });
    expect(books.events).toEqual(['reserved', 'started', 'succeeded']);
  });

  test('an answer cut at the token limit is a reply, marked as such', async () => {
    const finishReason = provider === 'anthropic' ? 'max_tokens' : 'length';
    mock.on({ userMessage: /hello/ }, { content: 'Hello, qui', finishReason });
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerFor(provider), HELLO, options);
    expect(reply).toMatchObject({ text: 'Hello, qui', finishReason: 'length' });
  });

  test('reasoning is thought and not said', async () => {
    mock.on({ userMessage: /hello/ }, { content: 'Hello', reasoning: 'The fox is quiet, so greet it softly.' });
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerFor(provider), HELLO, options);
    expect(reply.text).toBe('Hello');
  });

  test('waits as long as Retry-After says and then succeeds', async () => {
    let calls = 0;
    mock.on({ userMessage: /hello/ }, () => {
      calls += 1;
      return calls === 1 ? { error: { message: 'slow down' }, status: 429, retryAfter: 3 } : { content: 'Hello' };
    });
    const { caller, books, options, waits } = await setUp();
    const { reply, attempt } = await caller.call(workerFor(provider), HELLO, options);
    expect(reply.text).toBe('Hello');
    expect(attempt.number).toBe(2);
    expect(waits).toEqual([3_000]);
    expect(books.failures[0]).toMatchObject({ failure: { kind: 'rate-limit', retryable: true }, retryInMs: 3_000 });
  });

  test('a refusal that a retry cannot mend is final', async () => {
    mock.nextRequestError(400, { message: 'bad parameter', type: 'invalid_request_error' });
    const { caller, options } = await setUp();
    const error = await rejection(caller.call(workerFor(provider), HELLO, options));
    expect(error).toBeInstanceOf(WorkerError);
    expect((error as WorkerError).kind).toBe('invalid-request');
    expect(mock.getRequests()).toHaveLength(1);
  });
});
