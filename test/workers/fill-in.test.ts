import { afterEach, describe, expect, test } from 'vitest';
import type { WorkerError } from '../../backend/workers/errors.ts';
import { fillInCall } from '../../backend/workers/adapters/fill-in-forms.ts';
import { fillInPrompt } from '../../backend/workers/adapters/fill-in-templates.ts';
import type { WorkerRequest } from '../../backend/workers/call-worker.ts';
import { GapServer, type Program } from './gap-server.ts';
import { rejection, setUp, workerOf } from './harness.ts';

/* Gaps in code, filled in the form that each program understands, on a real socket. */

const GAP: WorkerRequest = {
  messages: [{ role: 'user', content: 'What belongs between "function add(a, b) {" and "}"?' }],
  fillIn: { before: 'function add(a, b) {\n  ', after: '\n}\n', stop: ['\n'] },
  maxOutputTokens: 64,
};

const servers: GapServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(program: Program): Promise<GapServer> {
  const server = await GapServer.start(program);
  servers.push(server);
  return server;
}

const workerAt = (server: GapServer, model = 'some-coder') => workerOf({ provider: 'openai-compatible', baseUrl: `${server.url}/v1`, model });

describe('a gap', () => {
  test.each([
    ['ollama', '/v1/completions', { prompt: 'function add(a, b) {\n  ', suffix: '\n}\n', max_tokens: 64, stop: ['\n'] }],
    ['llama.cpp', '/infill', { input_prefix: 'function add(a, b) {\n  ', input_suffix: '\n}\n', n_predict: 64, stop: ['\n'] }],
  ] as const)('is sent to %s with its two sides, and paid for by its count', async (program, path, body) => {
    const server = await start(program);
    const { caller, books, texts, options } = await setUp();
    const { reply, spent } = await caller.call(workerAt(server), GAP, options);
    expect(server.requests).toEqual([{ path, body: expect.objectContaining(body) as unknown }]);
    expect(reply).toEqual({
      text: 'FILLED', finishReason: 'stop', model: 'served',
      usage: { uncachedInput: 20, cacheRead: 0, cacheWrite: 0, output: 7, reasoning: 0, estimated: false },
    });
    expect(texts).toEqual(['FIL', 'LED']);
    expect(spent.cost).toEqual({ estimated: false });
    expect(books.events).toEqual(['reserved', 'started', 'succeeded']);
  });

  test.each(['vllm', 'lm-studio'] as const)('is shown to a model behind %s with its own markers, where its name says which', async (program) => {
    const server = await start(program);
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerAt(server, 'Qwen/Qwen2.5-Coder-7B'), GAP, options);
    expect(reply.text).toBe('FILLED');
    expect(server.requests).toMatchObject([{
      path: '/v1/completions',
      body: { prompt: '<|fim_prefix|>function add(a, b) {\n  <|fim_suffix|>\n}\n<|fim_middle|>', stop: ['\n', '<|endoftext|>', '<|file_sep|>'] },
    }]);
    expect(server.requests[0]?.body).not.toHaveProperty('suffix');
  });

  test('is asked for in words where the server fills none', async () => {
    const server = await start('vllm');
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerAt(server, 'some-chatter'), GAP, options);
    expect(reply.text).toBe('TOLD');
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });

  test.each(['ollama', 'llama.cpp'] as const)('is asked for in words where the model of %s was not trained for it, and from then on at once', async (program) => {
    const server = await start(program);
    server.fills = false;
    const { caller, books, options } = await setUp();
    await caller.call(workerAt(server), GAP, options);
    await caller.call(workerAt(server), GAP, options);
    expect(server.requests.map(({ path }) => path)).toEqual([
      program === 'ollama' ? '/v1/completions' : '/infill', '/v1/chat/completions', '/v1/chat/completions',
    ]);
    expect(books.events).toEqual(['reserved', 'started', 'succeeded', 'reserved', 'started', 'succeeded']);
  });

  test('is sent again to a model that was missing when it was first asked for', async () => {
    const server = await start('ollama');
    server.lacksModel = true;
    const { caller, options } = await setUp();
    expect(await rejection(caller.call(workerAt(server), GAP, options))).toMatchObject({ kind: 'not-found' });
    server.lacksModel = false;
    const { reply } = await caller.call(workerAt(server), GAP, options);
    expect(reply.text).toBe('FILLED');
  });

  test('is tried with a server that nobody knows where the model\'s name says that it fills gaps', async () => {
    const server = await start('other');
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerAt(server, 'qwen2.5-coder:7b'), GAP, options);
    expect(reply.text).toBe('FILLED');
    expect(server.requests.map(({ body }) => 'suffix' in body)).toEqual([true, false]);
  });

  test('that nobody wants filled any more is let go at the server, too', async () => {
    const server = await start('ollama');
    server.stalls = true;
    const { caller, books, controller, options } = await setUp();
    const call = caller.call(workerAt(server), GAP, { ...options, onText: () => controller.abort() });
    expect(await rejection(call)).toMatchObject({ kind: 'cancelled' } satisfies Partial<WorkerError>);
    await server.gone.promise;
    expect(books.failures).toMatchObject([{ failure: { kind: 'cancelled' }, spent: { usage: { estimated: true } } }]);
  });

  test('is no business of a question', async () => {
    const server = await start('ollama');
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workerAt(server), { messages: GAP.messages }, options);
    expect(reply.text).toBe('TOLD');
  });
});

describe('providers', () => {
  const request = { ...GAP, fillIn: GAP.fillIn!, maxOutputTokens: 64 };

  // The servers that no test can stand in for on a socket: their addresses are their names.
  test('of their own address are asked there', () => {
    const deepSeek = workerOf({ provider: 'openai-compatible', baseUrl: 'https://api.deepseek.com/v1', model: 'deepseek-chat' });
    expect(fillInCall('suffix', deepSeek, request).url).toBe('https://api.deepseek.com/beta/completions');
    const mistral = workerOf({ provider: 'openai-compatible', baseUrl: 'https://api.mistral.ai/v1', model: 'codestral-latest' });
    expect(fillInCall('fim', mistral, request)).toMatchObject({
      url: 'https://api.mistral.ai/v1/fim/completions', body: { model: 'codestral-latest', prompt: 'function add(a, b) {\n  ', suffix: '\n}\n' },
    });
  });

  test.each([
    ['deepseek-coder-v2:16b', '<｜fim▁begin｜>a<｜fim▁hole｜>b<｜fim▁end｜>'],
    ['codellama:7b-code', '<PRE> a <SUF>b <MID>'],
    ['bigcode/starcoder2-3b', '<fim_prefix>a<fim_suffix>b<fim_middle>'],
    ['codestral-22b', '[SUFFIX]b[PREFIX]a'],
    ['Qwen3-Coder-30B-A3B', '<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>'],
    ['llama-3.3-70b', undefined],
  ])('models such as %s have markers of their own', (model, prompt) => {
    expect(fillInPrompt(model, { before: 'a', after: 'b' })?.prompt).toBe(prompt);
  });
});
