import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { served } from './served.ts';

/* Anthropic's own client against the endpoint. */

const place = served({ keepAliveMs: 50 });
const client = (apiKey = place.key): Anthropic => new Anthropic({ baseURL: place.url, apiKey, maxRetries: 0 });
const problem = async (call: Promise<unknown>): Promise<APIError> => await call.then(() => Promise.reject(new Error('It was answered.')), (error: unknown) => error as APIError);

const READ = { name: 'read', description: 'Reads a file', input_schema: { type: 'object' as const, properties: { path: { type: 'string' } } } };
const ask = (content: Anthropic.MessageParam['content'], more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}): Anthropic.MessageCreateParamsNonStreaming =>
  ({ model: 'conductor', max_tokens: 200, messages: [{ role: 'user', content }], ...more });
/** The sentence in an error's body. */
const saying = (message: RegExp): object => ({ error: { error: { message: expect.stringMatching(message) } } });
/** Parameters that the client has no types for. */
const untyped = (fields: object): object => fields;

describe('the models', () => {
  it('are told to Anthropic\'s clients by names that begin with "claude", which may be asked for', async () => {
    const names: string[] = [];
    for await (const { id } of client().models.list()) names.push(id);
    expect(names).toEqual(['claude-conductor', 'claude-first', 'claude-second']);
    expect(await client().models.retrieve('claude-first')).toMatchObject({ type: 'model', id: 'claude-first', display_name: 'first (Conductor)' });
    expect(await problem(client().models.retrieve('nobody'))).toMatchObject({ status: 404, type: 'not_found_error' });
    const { model, content } = await client().messages.create(ask('Mend it', { model: 'claude-second' }));
    expect([model, content]).toMatchObject(['claude-second', [{ type: 'text', text: 'Mended.' }]]);
    expect(place.workers.of('planner')).toEqual([]);
  });

  it('are read with either header that holds a key', async () => {
    const bearer = new Anthropic({ baseURL: place.url, authToken: place.key, apiKey: null });
    expect((await bearer.models.list()).data).toHaveLength(3);
  });
});

describe('an answer', () => {
  it('is planned: one step advises, the last one speaks, with what the others took apart', async () => {
    const { content, stop_reason, usage, role, type } = await client().messages.create(ask('Mend it', { system: [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: 'x-anthropic-billing-header: cc_version=1;' }] }));
    // Vercel's AI SDK takes "citations": null for no answer at all.
    expect([content, stop_reason, role, type]).toEqual([[{ type: 'text', text: 'Mended.' }], 'end_turn', 'assistant', 'message']);
    expect(usage).toMatchObject({ input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, orchestration_tokens: 240 });
    const asked = place.workers.of('second').at(-1);
    expect(asked?.text).toContain('The bound is off by one.');
    expect(asked?.messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  it('is streamed as it comes, with signs of life before', async () => {
    const begin = Promise.withResolvers<string>();
    const rest = Promise.withResolvers<string>();
    place.script = () => ({ begin: '', rest: begin.promise.then(() => 'One, two.') });
    const stream = client().messages.stream(ask('Count', { model: 'first' }));
    const seen: string[] = [];
    stream.on('streamEvent', ({ type }) => {
      seen.push(type);
      // The message began while its worker had said nothing.
      if (type === 'message_start') begin.resolve('');
    });
    rest.resolve('');
    expect(await stream.finalText()).toBe('One, two.');
    expect(await stream.finalMessage()).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 100, output_tokens: 20 } });
    expect(seen).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop']);
  });

  it('says why it ended: cut off, or at a stop sequence, after which nothing is said', async () => {
    place.script = () => ({ cutOff: 'Half' });
    expect(await client().messages.create(ask('Go', { model: 'first' }))).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'Half' }] });
    place.script = () => ({ text: 'one END two', calls: [{ name: 'read', arguments: {} }] });
    const stopped = ask('Stop', { model: 'first', stop_sequences: ['END'], tools: [READ] });
    expect(await client().messages.create(stopped)).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END', content: [{ type: 'text', text: 'one ' }] });
    const streamed = await client().messages.stream(stopped).finalMessage();
    expect(streamed).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END', content: [{ type: 'text', text: 'one ' }] });
  });
});

describe('tools', () => {
  it('are asked for with their ids, several in one turn, and what they return goes to the same speaker', async () => {
    place.script = ({ model, messages }) => {
      if (model !== 'second') return model === 'planner' ? 'model_id = [0, 1]\nsubtasks = ["Find.", "Mend."]\naccess_list = [[], [0]]' : 'Look at b.';
      return messages.some(({ role }) => role === 'tool') ? 'Mended both.' : { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'read', arguments: { path: 'b' } }] };
    };
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [{ type: 'text', text: '<system-reminder>It is Monday.</system-reminder>' }, { type: 'text', text: 'Mend both files' }] }];
    const asks = await client().messages.stream({ model: 'conductor', max_tokens: 200, messages, tools: [READ] }).finalMessage();
    expect(asks.stop_reason).toBe('tool_use');
    const calls = asks.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ name, input }) => [name, input])).toEqual([['read', { path: 'a' }], ['read', { path: 'b' }]]);
    // The run is named after what the person said, not after what the agent added.
    expect(place.conversations.runs.list({ limit: 50 }).map(({ question }) => question)).toContain('Mend both files');
    messages.push(
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'of another model' }, ...asks.content] },
      { role: 'user', content: [...calls.map(({ id }, index) => ({ type: 'tool_result' as const, tool_use_id: id, content: index === 0 ? 'text a' : [{ type: 'text' as const, text: 'text b' }] })), { type: 'text', text: '<system-reminder>Go on.</system-reminder>' }] },
    );
    const planned = place.workers.of('planner').length;
    const answer = await client().messages.create({ model: 'conductor', max_tokens: 200, messages, tools: [READ, { ...READ, name: 'write' }] });
    expect(answer).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Mended both.' }] });
    expect(place.workers.of('planner')).toHaveLength(planned);
    const asked = place.workers.of('second').at(-1);
    expect(asked?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', expect.stringContaining('Look at b.')], ['assistant', 'I look.'], ['tool', 'text a'], ['tool', 'text b'], ['user', '<system-reminder>Go on.</system-reminder>'],
    ]);
    // Tools that came meanwhile are there, too.
    expect(asked?.tools).toEqual(['read', 'write']);
  });

  it('that failed are told to the worker as failed', async () => {
    place.script = ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'There is none.' : { text: '', calls: [{ name: 'read', arguments: { path: 'a' } }] });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Read a file that is not there' }];
    const asks = await client().messages.create({ model: 'first', max_tokens: 200, messages, tools: [READ] });
    const id = asks.content.find((block) => block.type === 'tool_use')!.id;
    messages.push({ role: 'assistant', content: asks.content }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'No such file', is_error: true }] });
    expect(await client().messages.create({ model: 'first', max_tokens: 200, messages, tools: [READ] })).toMatchObject({ content: [{ text: 'There is none.' }] });
    expect(place.workers.of('first').at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: '[The tool failed.]\nNo such file' });
  });

  it('that are loaded later are the worker\'s once the client\'s search has found them', async () => {
    const later = { ...READ, name: 'mcp__conductor__verify', defer_loading: true };
    const tools = [{ ...READ, name: 'ToolSearch' }, later, { ...later, name: 'Placeholder' }];
    place.script = ({ tools: known }) => (known.includes(later.name) ? 'Found.' : { text: '', calls: [{ name: 'ToolSearch', arguments: { path: 'verify' } }] });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Verify it by a tool' }];
    const asks = await client().messages.create({ model: 'first', max_tokens: 200, messages, tools });
    expect(place.workers.of('first').at(-1)?.tools).toEqual(['ToolSearch']);
    const id = asks.content.find((block) => block.type === 'tool_use')!.id;
    messages.push({ role: 'assistant', content: asks.content }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'tool_reference', tool_name: later.name }] }] });
    expect(await client().messages.create({ model: 'first', max_tokens: 200, messages, tools })).toMatchObject({ content: [{ text: 'Found.' }] });
    expect(place.workers.of('first').at(-1)).toMatchObject({ tools: ['ToolSearch', later.name], messages: [{}, {}, { role: 'tool', content: `The tool ${later.name} can be called now.` }] });
  });

  it('are chosen as the client says', async () => {
    await client().messages.create(ask('Look', { model: 'first', tools: [READ], tool_choice: { type: 'any', disable_parallel_tool_use: true } }));
    expect(place.workers.of('first').at(-1)?.body).toMatchObject({ tool_choice: 'required', parallel_tool_calls: false });
  });

  it('of the provider\'s own servers are refused in one sentence', async () => {
    const search = { type: 'web_search_20250305' as const, name: 'web_search' as const };
    expect(await problem(client().messages.create(ask('Search', { tools: [search] })))).toMatchObject({ status: 400, ...saying(/"web_search" \(web_search_20250305\) has no input_schema/) });
  });
});

describe('what a client may send', () => {
  it('includes settings of thinking that are not known, and those of its provider', async () => {
    const unknown = untyped({ thinking: { type: 'adaptive', depth: 'oceanic' }, context_management: { edits: [] }, metadata: { user_id: 'x' }, output_config: { effort: 'utmost' } });
    expect(await client().messages.create({ ...ask('Hello', { model: 'first' }), ...unknown })).toMatchObject({ stop_reason: 'end_turn' });
    expect(place.workers.of('first').at(-1)?.body).not.toHaveProperty('reasoning_effort');
  });

  it('is counted', async () => {
    const short = await client().messages.countTokens({ model: 'conductor', messages: [{ role: 'user', content: 'Hello' }] });
    const long = await client().messages.countTokens({ model: 'conductor', messages: [{ role: 'user', content: 'Hello '.repeat(1_000) }], tools: [READ] });
    expect(short.input_tokens).toBeGreaterThan(0);
    expect(long.input_tokens).toBeGreaterThan(short.input_tokens + 1_000);
  });

  it('may end with an answer that is asked for once more, by a tool or by a schema, as LangGraph does', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Mend it once more' }];
    const { content } = await client().messages.create(ask('', { messages }));
    const planned = place.workers.of('planner').length;
    const asked = ask('', { messages: [...messages, { role: 'assistant', content }] });
    place.script = () => ({ calls: [{ name: 'read', arguments: { path: 'a' } }] });
    expect(await client().messages.create({ ...asked, tools: [READ], tool_choice: { type: 'tool', name: 'read' } })).toMatchObject({ content: [{ type: 'tool_use', input: { path: 'a' } }] });
    place.script = () => '{"path":"a"}';
    const format = { type: 'json_schema' as const, schema: READ.input_schema };
    expect(await client().messages.create({ ...asked, ...untyped({ output_config: { format } }) })).toMatchObject({ content: [{ text: '{"path":"a"}' }] });
    expect(place.workers.of('planner')).toHaveLength(planned);
  });

  it('is refused where it cannot be honoured, with the name of the field', async () => {
    const picture = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' } };
    const cases: [object, RegExp][] = [
      [{ messages: [{ role: 'user', content: [picture] }] }, /Models do not take this kind of file/],
      [{ messages: [{ role: 'user', content: 'Say' }, { role: 'assistant', content: 'Well' }] }, /last one is the assistant's/],
      [{ top_k: 5 }, /top_k: not every worker/],
      [{ mcp_servers: [{ type: 'url', url: 'https://example.org', name: 'x' }] }, /mcp_servers/],
      [{ tool_choice: { type: 'tool' } }, /tool_choice: it lacks the name/],
      [{ max_tokens: 0 }, /max_tokens/],
      [{ messages: [] }, /messages/],
    ];
    for (const [fields, message] of cases) {
      expect(await problem(client().messages.create({ ...ask('Hello', { model: 'first' }), ...untyped(fields) }))).toMatchObject({ status: 400, type: 'invalid_request_error', ...saying(message) });
    }
    // Of a picture before the newest message the worker is told.
    await client().messages.create(ask('', { model: 'first', messages: [{ role: 'user', content: [picture] }, { role: 'assistant', content: 'A fox.' }, { role: 'user', content: 'Is it red?' }] }));
    expect(place.workers.of('first').at(-1)?.messages[0]?.content).toMatch(/^\[image: not shown/);
  });
});

describe('errors', () => {
  it('have the types and statuses that clients decide by', async () => {
    expect(await problem(client('wrong').messages.create(ask('Hello')))).toMatchObject({ status: 401, type: 'authentication_error' });
    expect(await problem(client().messages.create(ask('Hello', { model: 'claude-nobody' })))).toMatchObject({ status: 404, type: 'not_found_error', requestID: expect.stringMatching(/^req_/) });
    const small = client(await place.keys.add('small', 0.000_01));
    const spent = await problem(small.messages.create(ask('Hello', { model: 'first' })));
    expect([spent.status, spent.type, spent.headers?.get('x-should-retry')]).toEqual([402, 'billing_error', 'false']);
  });

  it('of a worker\'s provider keep their meaning', async () => {
    place.script = () => ({ status: 400, code: 'context_length_exceeded' });
    // Claude Code makes its conversation shorter at these words.
    expect(await problem(client().messages.create(ask('Long', { model: 'first' })))).toMatchObject({ status: 400, message: expect.stringContaining('prompt is too long') });
    place.script = () => ({ status: 429, retryAfter: 7_200 });
    const limited = await problem(client().messages.create(ask('Again', { model: 'first' })));
    expect([limited.status, limited.type, limited.headers?.get('retry-after'), limited.headers?.get('x-should-retry')]).toEqual([429, 'rate_limit_error', '7200', 'true']);
  });

  it('after the beginning are an event of the stream', async () => {
    place.script = () => ({ begin: 'Well, ', rest: new Promise(() => {}) });
    const stream = client().messages.stream(ask('Break', { model: 'first' }));
    const { runs } = place.conversations;
    // A person cancels it in the panel.
    stream.once('text', () => runs.cancel(runs.list({ limit: 1 })[0]!.runId));
    const failed = await problem(stream.finalMessage());
    expect([failed.status, failed.type, failed.error]).toMatchObject([undefined, 'invalid_request_error', { error: { message: expect.any(String) } }]);
  });
});
