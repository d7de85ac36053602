import OpenAI, { type APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import { served } from './served.ts';

/* What OpenAI's own client may ask of an answer: each option is honoured or refused. */

const place = served();
const client = (): OpenAI => new OpenAI({ baseURL: `${place.url}/v1`, apiKey: place.key, maxRetries: 0 });
const problem = async (call: Promise<unknown>): Promise<APIError> => await call.then(() => Promise.reject(new Error('It was answered.')), (error: unknown) => error as APIError);

const READ = { type: 'function', function: { name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: {} } } } as const;
const ask = (more: object = {}): OpenAI.ChatCompletionCreateParamsNonStreaming => ({ model: 'first', messages: [{ role: 'user', content: 'Say' }], ...more });
const sentWith = async (more: object): Promise<Readonly<Record<string, unknown>> | undefined> => {
  await client().chat.completions.create(ask(more));
  return place.workers.of('first').at(-1)?.body;
};

describe('options of Chat Completions', () => {
  it('go to the worker that speaks', async () => {
    expect(await sentWith({ tools: [READ], tool_choice: { type: 'function', function: { name: 'read' } }, parallel_tool_calls: false, seed: 7, max_tokens: 50, temperature: 0.5, frequency_penalty: 0.3, presence_penalty: -1 })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'read' } }, parallel_tool_calls: false, seed: 7, max_tokens: 50, temperature: 0.5, frequency_penalty: 0.3, presence_penalty: -1,
    });
    expect(await sentWith({ response_format: { type: 'json_object' } })).toMatchObject({ response_format: { type: 'json_object' } });
    const schema = { type: 'json_schema', json_schema: { name: 'facts', schema: { type: 'object' }, strict: true } };
    expect(await sentWith({ response_format: schema })).toMatchObject({ response_format: schema });
  });

  it('tell who said a message where several say something in its role', async () => {
    const told = async (...messages: object[]): Promise<unknown> => ((await sentWith({ messages }))?.['messages'] as { content: string }[]).map(({ content }) => content);
    expect(await told({ role: 'user', name: 'admin', content: 'Write of foxes' })).toEqual(['Write of foxes']);
    expect(await told(
      { role: 'system', content: 'You criticise.' }, { role: 'user', name: 'admin', content: 'Write of foxes' }, { role: 'user', name: 'writer', content: 'A fox ran.' }, { role: 'assistant', name: 'critic', content: 'Too short.' },
      { role: 'user', name: 'writer', content: 'Two foxes ran.' },
    )).toEqual(['You criticise.', 'admin: Write of foxes', 'writer: A fox ran.', 'Too short.', 'writer: Two foxes ran.']);
    expect(await told({ role: 'system', content: 'Translate.' }, { role: 'system', name: 'example_user', content: 'fox' }, { role: 'system', name: 'example_assistant', content: 'Fuchs' }, { role: 'user', content: 'owl' }))
      .toEqual(['Translate.', 'example_user: fox', 'example_assistant: Fuchs', 'owl']);
  });

  it('leave out the tools that are not allowed', async () => {
    const tools = ['read', 'write', 'look'].map((name) => ({ ...READ, function: { ...READ.function, name } }));
    const allowed = (...names: string[]): object[] => names.map((name) => ({ type: 'function', function: { name } }));
    const sent = await sentWith({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed('look', 'read') } } });
    expect(sent).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'read' } }, { function: { name: 'look' } }] });
    expect(sent?.['tools']).toHaveLength(2);
    const missing = await problem(client().chat.completions.create(ask({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: allowed('erase') } } })));
    expect([missing.status, missing.message]).toEqual([400, expect.stringContaining('tool_choice: there is no tool "erase"')]);
  });

  it('hold OpenAI\'s workers to the schemas of tools that are strict', async () => {
    const before = place.file;
    place.file = { ...before, workers: before.workers.map((worker) => ({ ...worker, provider: 'openai' as const })) };
    try {
      const sent = await sentWith({ tools: [{ ...READ, function: { ...READ.function, strict: true } }, { ...READ, function: { ...READ.function, name: 'look' } }] });
      expect(sent?.['tools']).toMatchObject([{ name: 'read', strict: true }, { name: 'look', strict: false }]);
      await client().responses.create({ model: 'first', input: 'Say', tools: [{ type: 'function', name: 'read', parameters: READ.function.parameters, strict: true }] });
      expect(place.workers.of('first').at(-1)?.body['tools']).toMatchObject([{ name: 'read', strict: true }]);
    } finally {
      place.file = before;
    }
  });

  it('reach the speaker of a plan alone', async () => {
    await client().chat.completions.create(ask({ model: 'conductor', response_format: { type: 'json_object' } }));
    expect(place.workers.of('second').at(-1)?.body).toHaveProperty('response_format');
    for (const model of ['planner', 'first']) expect(place.workers.of(model).at(-1)?.body).not.toHaveProperty('response_format.type', 'json_object');
  });

  it('ask no worker for an effort that has none', async () => {
    expect(await sentWith({ reasoning_effort: 'high' })).not.toHaveProperty('reasoning_effort');
    const before = place.file;
    place.file = { ...before, workers: before.workers.map((worker) => ({ ...worker, reasoningEffort: 'low' as const })) };
    try {
      expect(await sentWith({ reasoning_effort: 'high' })).toMatchObject({ reasoning_effort: 'high' });
    } finally {
      place.file = before;
    }
  });

  it('end the answer before a stop sequence, streamed or not', async () => {
    place.script = () => 'one\n\ntwo';
    const { choices: [choice] } = await client().chat.completions.create(ask({ stop: '\n\n' }));
    expect(choice).toMatchObject({ message: { content: 'one' }, finish_reason: 'stop' });
    let text = '';
    for await (const { choices: [piece] } of await client().chat.completions.create({ ...ask({ stop: ['x', '\n\n'] }), stream: true })) text += piece?.delta.content ?? '';
    expect(text).toBe('one');
  });

  it('are refused by name where no worker could be asked for them', async () => {
    const before = place.workers.requests.length;
    const cases: [object, RegExp][] = [
      [{ n: 2 }, /n: one answer/], [{ logprobs: true }, /logprobs: workers do not say/], [{ logit_bias: { 50_256: -100 } }, /logit_bias\.50256/], [{ presence_penalty: 3 }, /presence_penalty/],
      [{ functions: [] }, /functions: send "tools"/], [{ modalities: ['text', 'audio'] }, /modalities\.1/], [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, /only tools of type "function"/],
      [{ tool_choice: { type: 'allowed_tools' } }, /tool_choice: it is/], [{ response_format: { type: 'xml' } }, /response_format/], [{ stop: '' }, /stop: /], [{ max_tokens: 0 }, /max_tokens/],
      [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }] }, /Models do not take this kind of file/],
    ];
    for (const [fields, message] of cases) expect(await problem(client().chat.completions.create(ask(fields)))).toMatchObject({ status: 400, message: expect.stringMatching(message) });
    expect(place.workers.requests).toHaveLength(before);
    // The same where it changes nothing.
    await client().chat.completions.create(ask({ n: 1, logprobs: false, logit_bias: {}, presence_penalty: 0, modalities: ['text'], user: 'me', store: true, service_tier: 'auto' }));
  });

  it('tell when a limit ends by time, and whether trying again helps', async () => {
    const before = place.file;
    place.file = { ...before, budget: { ...before.budget, dayUsd: 0.000_001 } };
    try {
      const spent = await problem(client().chat.completions.create(ask()));
      const seconds = Number(spent.headers?.get('retry-after'));
      expect([spent.status, spent.code, spent.headers?.get('x-should-retry')]).toEqual([402, 'insufficient_quota', 'false']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(25 * 3_600);
    } finally {
      place.file = before;
    }
    place.script = () => ({ status: 401 });
    const refused = await problem(client().chat.completions.create(ask()));
    expect([refused.status, refused.headers?.get('x-should-retry'), refused.headers?.get('retry-after')]).toEqual([400, 'false', null]);
  });
});
