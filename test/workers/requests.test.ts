import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ModelRequest } from '../../backend/workers/model.ts';
import { FaultServer, faults } from './fault-server.ts';
import { HELLO, KEY, rejection, setUp, workerOf, workersAt } from './harness.ts';

/* What leaves the machine: headers, parameters, and nothing the environment slipped in. */

let server: FaultServer;

beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test('no key, address or header is taken from the environment', async () => {
  for (const name of ['API_KEY', 'ADMIN_KEY', 'ORG_ID', 'PROJECT_ID']) vi.stubEnv(`OPENAI_${name}`, 'from-environment');
  for (const name of ['API_KEY', 'AUTH_TOKEN']) vi.stubEnv(`ANTHROPIC_${name}`, 'from-environment');
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1');
  vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9');
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-extra: from-environment');
  vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'x-extra: from-environment');
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  for (const { key: _key, ...worker } of workersAt(server.url)) await caller.call(worker, HELLO, options);
  expect(server.requests).toHaveLength(3);
  for (const { headers } of server.requests) {
    expect(JSON.stringify(headers)).not.toContain('from-environment');
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('x-api-key');
  }
});

test('an OpenAI-style server gets the key as a bearer token, an Anthropic-compatible one in its own header', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  for (const worker of workersAt(server.url)) await caller.call(worker, HELLO, options);
  const [responses, chat, messages] = server.requests.map(({ headers }) => headers);
  expect(responses?.authorization).toBe(`Bearer ${KEY}`);
  expect(chat?.authorization).toBe(`Bearer ${KEY}`);
  expect(messages).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
  expect(messages).not.toHaveProperty('authorization');
});

test('Anthropic\'s own API gets the new version, and the old one for a worker that samples, which the new refuses', async () => {
  // The one server that no test can stand in for on a socket: its address is the absence of one.
  const sent: { url: string; headers: Headers }[] = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push({ url, headers: new Headers(init.headers) });
    return Promise.resolve(new Response('{}', { status: 400 }));
  });
  const { caller, options } = await setUp();
  for (const fields of [{}, { temperature: 0.5 }]) {
    await rejection(caller.call(workerOf({ provider: 'anthropic', ...fields }), HELLO, options));
  }
  expect(sent.map(({ url }) => url)).toEqual(Array(2).fill('https://api.anthropic.com/v1/messages'));
  expect(sent.map(({ headers }) => headers.get('anthropic-version'))).toEqual(['2026-10-21', '2023-06-01']);
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(Array(2).fill(`Bearer ${KEY}`));
});

test('sampling parameters and effort are sent only when somebody gave them', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  for (const worker of workersAt(server.url)) await caller.call(worker, HELLO, options);
  for (const { body } of server.requests) {
    for (const name of ['temperature', 'top_p', 'seed', 'frequency_penalty', 'presence_penalty', 'reasoning', 'reasoning_effort', 'thinking', 'output_config']) {
      expect(body).not.toHaveProperty(name);
    }
  }
  const given = { temperature: 0.2, topP: 0.9, reasoningEffort: 'minimal' } as const;
  for (const worker of workersAt(server.url, given)) await caller.call(worker, { ...HELLO, seed: 7, frequencyPenalty: 0.3, presencePenalty: -1 }, options);
  const [responses, chat, messages] = server.requests.slice(3).map(({ body }) => body);
  expect(responses).toMatchObject({ temperature: 0.2, top_p: 0.9, reasoning: { effort: 'minimal' } });
  expect(chat).toMatchObject({ temperature: 0.2, top_p: 0.9, reasoning_effort: 'minimal', seed: 7, frequency_penalty: 0.3, presence_penalty: -1 });
  // The other two formats have no penalties, and refuse what they do not know.
  for (const body of [responses, messages]) expect(JSON.stringify(body)).not.toContain('penalty');
  expect(messages).toMatchObject({ temperature: 0.2, top_p: 0.9, output_config: { effort: 'low' } });
});

test('further fields that a person set are sent on each wire, and cannot be those that Conductor sets', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const extraBody = { top_k: 20, thinking: { type: 'enabled', budget_tokens: 128 } };
  for (const worker of workersAt(server.url, { extraBody, temperature: 0.2 })) await caller.call(worker, HELLO, options);
  expect(server.requests.map(({ body }) => body)).toEqual(Array(3).fill(expect.objectContaining({ ...extraBody, temperature: 0.2 })));
  expect(() => workersAt(server.url, { extraBody: { top_k: 20, max_tokens: 100_000 } })).toThrow(/extraBody may not set max_tokens/);
  expect(() => workersAt(server.url, { extraBody: { long: 'x'.repeat(20_000) } })).toThrow(/16384 characters at most/);
});

test('the choice of tools and the format of the answer are sent as each wire has them', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }];
  const format = { name: 'facts', schema: { type: 'object' }, isStrict: true };
  const ask = async (request: Partial<ModelRequest>): Promise<Record<string, unknown>[]> => {
    const before = server.requests.length;
    for (const worker of workersAt(server.url)) await caller.call(worker, { ...HELLO, ...request }, options);
    return server.requests.slice(before).map(({ body }) => body);
  };
  const [responses, chat, messages] = await ask({ tools, toolChoice: 'required', parallelCalls: false, format });
  expect(responses).toMatchObject({ tool_choice: 'required', parallel_tool_calls: false, text: { format: { type: 'json_schema', name: 'facts', schema: { type: 'object' }, strict: true } } });
  expect(chat).toMatchObject({ tool_choice: 'required', parallel_tool_calls: false, response_format: { type: 'json_schema', json_schema: { name: 'facts', schema: { type: 'object' }, strict: true } } });
  expect(messages).toMatchObject({ tool_choice: { type: 'any', disable_parallel_tool_use: true }, output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } });
  expect((await ask({ tools, toolChoice: { name: 'look' } })).map((body) => body['tool_choice'])).toEqual([{ type: 'function', name: 'look' }, { type: 'function', function: { name: 'look' } }, { type: 'tool', name: 'look' }]);
  const strict = await ask({ tools: tools.map((tool) => ({ ...tool, isStrict: true })) });
  expect(strict[0]?.['tools']).toMatchObject([{ name: 'look', strict: true }]);
  for (const body of strict.slice(1)) expect(JSON.stringify(body)).not.toContain('trict');
  expect((await ask({ tools, toolChoice: 'none' })).map((body) => body['tool_choice'])).toEqual(['none', 'none', { type: 'none' }]);
  // Without tools there is nothing to choose, and servers refuse it.
  expect((await ask({ toolChoice: 'auto', parallelCalls: false })).flatMap((body) => Object.keys(body).filter((name) => /tool/.test(name)))).toEqual([]);
});

test('JSON without a schema is asked of those that have it, and refused by the others before anything is sent', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const [responses, chat, messages] = workersAt(server.url);
  for (const worker of [responses!, chat!]) await caller.call(worker, { ...HELLO, format: 'json' }, options);
  expect(server.requests.map(({ body }) => body['text'] ?? body['response_format'])).toEqual([{ format: { type: 'json_object' } }, { type: 'json_object' }]);
  const refused = await rejection(caller.call(messages!, { ...HELLO, format: 'json' }, options));
  expect(refused).toMatchObject({ kind: 'invalid-request', message: expect.stringContaining('send the schema') });
  expect(server.requests).toHaveLength(2);
});

test('a request overrides what the worker is set to', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const [, worker] = workersAt(server.url, { temperature: 1, maxOutputTokens: 500 });
  await caller.call(worker!, { ...HELLO, temperature: 0, maxOutputTokens: 50 }, options);
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0, max_tokens: 50 });
});

test('OpenAI is asked to keep nothing', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  await caller.call(workersAt(server.url)[0]!, HELLO, options);
  expect(server.requests[0]?.body).toMatchObject({ store: false, stream: true });
});

test('a server that refuses stream_options is asked without, and remembered', async () => {
  server.script(
    faults.refuse(400, { error: { message: 'Unrecognized request argument supplied: stream_options' } }),
    faults.answer('fine'),
  );
  const { caller, books, options } = await setUp();
  const worker = workerOf({ provider: 'openai-compatible', baseUrl: `${server.url}/v1` });
  await caller.call(worker, HELLO, options);
  await caller.call(worker, HELLO, options);
  expect(server.requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  expect(books.events).toEqual(['reserved', 'started', 'succeeded', 'reserved', 'started', 'succeeded']);
});

test('a server that wants max_completion_tokens gets it', async () => {
  server.script(
    faults.refuse(400, { error: { message: "Use 'max_completion_tokens' instead.", param: 'max_tokens' } }),
    faults.answer('fine'),
  );
  const { caller, options } = await setUp();
  await caller.call(workerOf({ provider: 'openai-compatible', baseUrl: `${server.url}/v1` }), HELLO, options);
  expect(server.requests.map(({ body }) => Object.keys(body).filter((name) => name.startsWith('max_')))).toEqual([
    ['max_tokens'], ['max_completion_tokens'],
  ]);
});

test('what calls share is marked for Anthropic to cache, and the words stay the same', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const content = 'the question and its context | the subtask';
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content, sharedPrefix: 30 },
  ] as const;
  await caller.call(workersAt(server.url)[2]!, { messages }, options);
  const cache_control = { type: 'ephemeral' };
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.', cache_control }],
    messages: [
      {
        role: 'user',
        content: [{ type: 'text', text: content.slice(0, 30), cache_control }, { type: 'text', text: content.slice(30) }],
      },
    ],
  });
});

test('what ends with the assistant\'s words goes on with a user\'s to Anthropic, which refuses it otherwise', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const messages = [{ role: 'user', content: 'Why?' }, { role: 'assistant', content: 'Because.' }] as const;
  for (const worker of workersAt(server.url)) await caller.call(worker, { messages }, options);
  const [, chat, anthropic] = server.requests.map(({ body }) => body);
  expect(chat?.['messages']).toEqual(messages);
  expect(anthropic?.['messages']).toEqual([...messages, { role: 'user', content: 'Go on.' }]);
});

test('a system message is a message to OpenAI and the system prompt to Anthropic', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Why?' }] as const;
  for (const worker of workersAt(server.url)) await caller.call(worker, { messages }, options);
  const [responses, chat, anthropic] = server.requests.map(({ body }) => body);
  expect(responses?.['input']).toEqual(messages);
  expect(chat?.['messages']).toEqual(messages);
  expect(anthropic?.['messages']).toEqual([{ role: 'user', content: 'Why?' }]);
});
