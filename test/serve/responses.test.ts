import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import OpenAI, { type APIError } from 'openai';
import type { NamespaceTool, Response, ResponseCreateParamsNonStreaming, ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { GivenItems } from '../../backend/serve/given-items.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PLAN, served } from './served.ts';

/* OpenAI's own client against the endpoint, in the format of Responses. */

const place = served({ keepAliveMs: 50 });
const client = (apiKey = place.key): OpenAI => new OpenAI({ baseURL: `${place.url}/v1`, apiKey, maxRetries: 0 });
const problem = async (call: Promise<unknown>): Promise<APIError> => await call.then(() => Promise.reject(new Error('It was answered.')), (error: unknown) => error as APIError);

const READ = { type: 'function', name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: { path: { type: 'string' } } }, strict: false } as const;
const PATCH = { type: 'custom', name: 'apply_patch', description: 'Changes files.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' } } as const;
const CLOSE = { type: 'function', name: 'close', description: 'Closes one', parameters: { type: 'object', properties: {} } } as const;
const AGENTS: NamespaceTool = { type: 'namespace', name: 'agents', description: 'Others', tools: [CLOSE] };

const ask = (input: string | ResponseInput, more: Partial<ResponseCreateParamsNonStreaming> = {}): ResponseCreateParamsNonStreaming => ({ model: 'conductor', input, ...more });
/** Parameters that the client has no types for. */
const untyped = (fields: object): object => fields;
const callsIn = ({ output }: Response): [type: string, name: string, given: string][] => output.flatMap((item) =>
  (item.type === 'function_call' ? [[item.type, item.name, item.arguments]] : item.type === 'custom_tool_call' ? [[item.type, item.name, item.input]] : []) as [string, string, string][]);

/** As Vercel's AI SDK sends on what it was given with an id. */
const references = ({ output }: Response): ResponseInput => output.flatMap(({ id }) => (id === undefined || id === null ? [] : [{ type: 'item_reference' as const, id }]));

describe('what was given here', () => {
  it('may be named by its id, streamed or not, by the program that was given it', async () => {
    place.script = ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Read.' : { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }] });
    for (const model of ['first', 'second']) {
      const input: ResponseInput = [{ role: 'user', content: `Read a by ${model}` }];
      const asks = model === 'first' ? await client().responses.create(ask(input, { model, tools: [READ] })) : await client().responses.stream({ ...ask(input, { model, tools: [READ] }), stream: true }).finalResponse();
      const [id] = asks.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
      const next: ResponseInput = [...input, ...references(asks), { type: 'function_call_output', call_id: id!, output: '1' }];
      expect((await client().responses.create(ask(next, { model, tools: [READ] }))).output_text).toBe('Read.');
      expect(place.workers.of(model).at(-1)?.messages[1]).toMatchObject({ role: 'assistant', content: 'I look.', toolCalls: [{ name: 'read', arguments: '{"path":"a"}' }] });
      const other = client(await place.keys.add(`other of ${model}`, undefined));
      expect(await problem(other.responses.create(ask(next, { model, tools: [READ] })))).toMatchObject({ status: 400, message: expect.stringMatching(/the item "msg_\w+" is not known here/) });
    }
  });

  it('may be named when the server has been started again', async () => {
    place.script = () => 'One.';
    const input: ResponseInput = [{ role: 'user', content: 'Count' }];
    const one = await client().responses.create(ask(input, { model: 'first' }));
    await place.restart();
    expect((await client().responses.create(ask([...input, ...references(one), { role: 'user', content: 'On' }], { model: 'first' }))).output_text).toBe('One.');
    expect(place.workers.of('first').at(-1)?.messages[1]).toMatchObject({ role: 'assistant', content: 'One.' });
  });

  it('is not kept of a program that stores nothing', async () => {
    place.script = () => 'One.';
    const input: ResponseInput = [{ role: 'user', content: 'Count' }];
    const one = await client().responses.create(ask(input, { model: 'first', store: false }));
    expect(await problem(client().responses.create(ask([...input, ...references(one), { role: 'user', content: 'On' }], { model: 'first' })))).toMatchObject({ status: 400 });
  });
});

describe('a response from which a program goes on', () => {
  const told = (): unknown => place.workers.of('second').at(-1)?.messages.map(({ role, content }) => [role, content]);
  const plain = 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]';

  it('brings what was sent and said before it, but not its instructions, also to a server that was started anew', async () => {
    place.script = ({ model, messages }) => (model === 'planner' ? plain : `Answer ${messages.filter(({ role }) => role === 'user').length}.`);
    const one = await client().responses.create(ask('One', { instructions: 'Be brief.' }));
    const two = await client().responses.stream({ ...ask('Two'), previous_response_id: one.id } as never).finalResponse();
    expect(two).toMatchObject({ previous_response_id: one.id, store: true });
    await place.restart();
    const three = await client().responses.create(ask('Three', { previous_response_id: two.id, store: false }));
    expect(told()).toEqual([['user', 'One'], ['assistant', 'Answer 1.'], ['user', 'Two'], ['assistant', 'Answer 2.'], ['user', 'Three']]);
    expect(three).toMatchObject({ store: false });
    // Another branch from the same one, and one from what was not to be stored.
    await client().responses.create(ask('Other', { previous_response_id: one.id }));
    expect(told()).toEqual([['user', 'One'], ['assistant', 'Answer 1.'], ['user', 'Other']]);
    expect(await problem(client().responses.create(ask('Four', { previous_response_id: three.id })))).toMatchObject({ status: 400, code: 'previous_response_not_found', message: expect.stringContaining(`the response "${three.id}" is not known here`) });
  });

  it('is the same run where tools were called, and is not planned anew', async () => {
    place.script = ({ model, messages }) => (model === 'planner' ? plain : messages.some(({ role }) => role === 'tool') ? 'Mended.' : { text: 'I look.', calls: [{ name: 'read', arguments: {} }] });
    const planned = place.workers.of('planner').length;
    const asks = await client().responses.create(ask('Mend what is broken', { tools: [READ] }));
    const [call] = asks.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
    const answer = await client().responses.create(ask([{ type: 'function_call_output', call_id: call!, output: 'a - b' }], { tools: [READ], previous_response_id: asks.id }));
    expect([answer.output_text, place.workers.of('planner').length - planned]).toEqual(['Mended.', 1]);
    expect(told()).toEqual([['user', 'Mend what is broken'], ['assistant', 'I look.'], ['tool', 'a - b']]);
  });

  it('is given again by its id as it was given, streamed or not, until the program deletes it', async () => {
    place.script = () => ({ text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }] });
    const whole = await client().responses.create(ask('Read it', { model: 'first', tools: [READ] }));
    const streamed = await client().responses.stream({ ...ask('Read it, streamed', { model: 'first', tools: [READ] }), stream: true }).finalResponse();
    await place.restart();
    for (const given of [whole, streamed]) {
      const { id, output, usage, status } = given;
      expect(await client().responses.retrieve(id)).toMatchObject({ id, output: output.map(({ id: item, type }) => ({ id: item, type })), usage, status, store: true });
      const other = client(await place.keys.add(`curious about ${id}`, undefined));
      for (const call of [other.responses.retrieve(id), other.responses.delete(id)]) expect(await problem(call)).toMatchObject({ status: 404, code: 'response_not_found' });
      await client().responses.delete(id);
      for (const call of [client().responses.retrieve(id), client().responses.delete(id)]) expect(await problem(call)).toMatchObject({ status: 404, message: expect.stringContaining(`The response "${id}" is not known here, or no more`) });
      expect(await problem(client().responses.create(ask('Go on', { model: 'first', previous_response_id: id })))).toMatchObject({ status: 400, code: 'previous_response_not_found' });
      expect(await problem(client().responses.create(ask(references(given), { model: 'first' })))).toMatchObject({ status: 400, message: expect.stringContaining('is not known here') });
    }
  });

  it('that was just given can be deleted before it is written', async () => {
    place.script = () => 'Soon gone.';
    const { id } = await client().responses.create(ask('Quick', { model: 'first' }));
    await client().responses.delete(id);
    await place.settled();
    expect(await problem(client().responses.retrieve(id))).toMatchObject({ status: 404 });
  });

  it('has calls of its own, also where the model counts them anew in each answer, and takes no others with it', async () => {
    const give = async (path: string): Promise<Response> => {
      place.script = () => ({ text: 'I look.', calls: [{ id: 'call_0', name: 'read', arguments: { path } }] });
      return await client().responses.create(ask(`Read ${path}`, { model: 'first', tools: [READ] }));
    };
    const [one, two] = [await give('a'), await give('b')];
    place.script = () => 'Read.';
    const goOn = (from: Response): Promise<Response> => client().responses.create(ask([{ role: 'user', content: 'Read' }, ...references(from), { type: 'function_call_output', call_id: 'call_0', output: '1' }], { model: 'first', tools: [READ] }));
    for (const [from, path] of [[one, 'a'], [two, 'b']] as const) {
      await goOn(from);
      expect(place.workers.of('first').at(-1)?.messages[1]).toMatchObject({ toolCalls: [{ id: 'call_0', arguments: JSON.stringify({ path }) }] });
    }
    await client().responses.delete(one.id);
    expect((await goOn(two)).output_text).toBe('Read.');
  });

  it('is not streamed once more, and not known where nothing was to be stored', async () => {
    place.script = () => 'Once.';
    const { id } = await client().responses.create(ask('Once', { model: 'first' }));
    expect(await problem(client().responses.retrieve(id, { stream: true }) as Promise<unknown>)).toMatchObject({ status: 400, message: expect.stringContaining('given whole') });
    const unstored = await client().responses.create(ask('Not stored', { model: 'first', store: false }));
    expect(await problem(client().responses.retrieve(unstored.id))).toMatchObject({ status: 404 });
  });

  it('is nobody else\'s', async () => {
    place.script = () => 'Mine.';
    const mine = await client().responses.create(ask('Mine', { model: 'first' }));
    const other = client(await place.keys.add('another program', undefined));
    expect(await problem(other.responses.create(ask('Mine, too?', { model: 'first', previous_response_id: mine.id })))).toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });
});

it('forgets the items first that were neither given nor named for longest, and those of a key that was taken back', async () => {
  const home = await temporaryFolder();
  const accounts = [{ id: 'a', name: 'a' }, { id: 'b', name: 'b' }];
  const keys = { list: async () => accounts };
  const all = new GivenItems({ home, keys });
  const given = new GivenItems({ home, keys, maxBytes: 2 * 4_096 });
  const [own, other] = [all.of('a'), all.of('b')];
  for (const id of ['one', 'two', 'three']) own.keep({ id });
  await all.settled();
  const anHourAgo = new Date(Date.now() - 3_600_000);
  for (const file of await readdir(home, { recursive: true })) if (file.endsWith('.json')) await utimes(path.join(home, file), anHourAgo, anHourAgo);
  own.keep({ id: 'three' });
  expect(own.find('one')).toEqual({ id: 'one' });
  await all.settled();
  await given.sweep();
  expect([own.find('one'), own.find('two'), own.find('three')]).toEqual([{ id: 'one' }, undefined, { id: 'three' }]);
  other.keep({ id: 'four' });
  await all.settled();
  accounts.pop();
  await given.sweep();
  expect([other.find('four'), own.find('three')]).toEqual([undefined, { id: 'three' }]);
});

it('knows an item before it is written, for which no answer waits, and also where it cannot be', async () => {
  const home = await temporaryFolder();
  const keys = { list: async () => [{ id: 'a', name: 'a' }] };
  const [given, another] = [new GivenItems({ home, keys }), new GivenItems({ home, keys })];
  given.of('a').keep({ id: 'one' });
  expect([given.of('a').find('one'), another.of('a').find('one')]).toEqual([{ id: 'one' }, undefined]);
  await given.settled();
  expect(another.of('a').find('one')).toEqual({ id: 'one' });
  await writeFile(path.join(home, 'file'), '');
  const nowhere = new GivenItems({ home: path.join(home, 'file'), keys });
  nowhere.of('a').keep({ id: 'two' });
  expect(nowhere.of('a').find('two')).toEqual({ id: 'two' });
  await nowhere.settled();
  expect(nowhere.of('a').find('two')).toBeUndefined();
});

it('holds no more in memory than the limit until it is written', async () => {
  const all = new GivenItems({ home: await temporaryFolder(), keys: { list: async () => [{ id: 'a', name: 'a' }] }, maxBytes: 4 * 4_096 });
  const given = all.of('a');
  const text = 'x'.repeat(4_096);
  for (let item = 0; item < 6; item += 1) given.keep({ id: `item ${item}`, text } as { id: string });
  expect(Array.from({ length: 6 }, (_, item) => given.find(`item ${item}`) !== undefined)).toEqual([true, true, true, false, false, false]);
  await all.settled();
  given.keep({ id: 'later', text } as { id: string });
  expect(given.find('later')).toBeDefined();
});

it('keeps no more items than the limit, however many are given', async () => {
  const home = await temporaryFolder();
  const all = new GivenItems({ home, keys: { list: async () => [{ id: 'a', name: 'a' }] }, maxBytes: 8 * 4_096 });
  const given = all.of('a');
  for (let item = 0; item < 60; item += 1) {
    given.keep({ id: `item ${item}` });
    await setImmediate();
  }
  await all.settled();
  await expect.poll(async () => (await readdir(home, { recursive: true })).filter((file) => file.endsWith('.json')).length).toBeLessThan(11);
});

describe('an answer', () => {
  it('comes by a plan, with the usage of the speaker and, apart, of everything else', async () => {
    const answer = await client().responses.create(ask('Mend it', { instructions: 'Be brief.' }));
    expect(answer).toMatchObject({ object: 'response', status: 'completed', model: 'conductor', output_text: 'Mended.', store: true, incomplete_details: null });
    expect(answer.usage).toMatchObject({ input_tokens: 100, output_tokens: 20, total_tokens: 120, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 }, orchestration_tokens: 240 });
    expect(place.workers.of('second').at(-1)?.messages).toMatchObject([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: expect.stringContaining('The bound is off by one.') }]);
  });

  it('is streamed as the speaker writes, and alive meanwhile', async () => {
    const rest = Promise.withResolvers<string>();
    place.script = () => ({ begin: 'One, ', rest: rest.promise });
    const stream = client().responses.stream(ask('Count', { model: 'first' }) as never);
    const seen: string[] = [];
    for await (const event of stream as AsyncIterable<ResponseStreamEvent | { type: 'keepalive'; sequence_number: number }>) {
      expect(event.sequence_number).toBe(seen.length);
      seen.push(event.type);
      // The rest is not written before its beginning was read, and the stream has said that it is there.
      if (event.type === 'keepalive' && seen.includes('response.output_text.delta')) rest.resolve('two.');
    }
    expect((await stream.finalResponse()).output_text).toBe('One, two.');
    expect([...new Set(seen)].filter((type) => type !== 'keepalive')).toEqual([
      'response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added', 'response.output_text.delta', 'response.output_text.done',
      'response.content_part.done', 'response.output_item.done', 'response.completed',
    ]);
  });

  it('says that it was cut off', async () => {
    place.script = () => ({ cutOff: 'Half' });
    const cutOff = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: 'Half' };
    expect(await client().responses.create(ask('Go', { model: 'first' }))).toMatchObject(cutOff);
    const events: ResponseStreamEvent[] = [];
    for await (const event of await client().responses.create({ ...ask('Go on', { model: 'first' }), stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'incomplete' } });
  });
});

describe('tools', () => {
  it('are asked for with their ids, several of all kinds in one turn, and what they return goes to the same speaker', async () => {
    const patch = '*** Begin Patch\n*** End Patch';
    place.script = ({ model, messages }) => {
      if (model !== 'second') return model === 'planner' ? PLAN : 'Look at b.';
      if (messages.some(({ role }) => role === 'tool')) return 'Mended both.';
      return { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'apply_patch', arguments: { input: patch } }, { name: 'agents__close', arguments: {} }] };
    };
    const tools = [READ, PATCH, AGENTS, { type: 'web_search' as const }];
    const input: ResponseInput = [
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }, { role: 'user', content: [{ type: 'input_text', text: '<environment_context>Monday</environment_context>' }] },
      { role: 'user', content: 'Mend both files' },
    ];
    const asks = await client().responses.stream({ model: 'conductor', input, tools: [...tools] }).finalResponse();
    expect([asks.output_text, asks.status, callsIn(asks)]).toEqual(['I look.', 'completed', [['function_call', 'read', '{"path":"a"}'], ['custom_tool_call', 'apply_patch', patch], ['function_call', 'close', '{}']]]);
    expect(asks.output.at(-1)).toMatchObject({ namespace: 'agents', status: 'completed' });
    expect(place.conversations.runs.list({ limit: 50 }).map(({ question }) => question)).toContain('Mend both files');
    const spoke = place.workers.of('second').at(-1);
    expect(spoke?.tools).toEqual(['read', 'apply_patch', 'agents__close']);
    expect(JSON.stringify(spoke?.body['tools'])).toContain('this grammar (lark) accepts:\\nstart: \\"*** Begin Patch\\"');

    const ids = asks.output.flatMap((item) => ('call_id' in item && typeof item.call_id === 'string' ? [item.call_id] : []));
    input.push(
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'of another model' }, ...(asks.output as ResponseInput),
      { type: 'function_call_output', call_id: ids[0]!, output: 'text a' }, { type: 'custom_tool_call_output', call_id: ids[1]!, output: [{ type: 'input_text', text: 'Done!' }] },
      { type: 'function_call_output', call_id: ids[2]!, output: 'closed' },
    );
    const planned = place.workers.of('planner').length;
    expect((await client().responses.create({ model: 'conductor', input, tools: [...tools] })).output_text).toBe('Mended both.');
    expect(place.workers.of('planner')).toHaveLength(planned);
    const told = place.workers.of('second').at(-1)?.messages ?? [];
    expect(told.map(({ role, content }) => [role, content]).slice(3)).toEqual([['assistant', 'I look.'], ['tool', 'text a'], ['tool', 'Done!'], ['tool', 'closed']]);
    expect(told[3]?.toolCalls).toMatchObject([{ name: 'read' }, { name: 'apply_patch', arguments: JSON.stringify({ input: patch }) }, { name: 'agents__close' }]);
  });

  it('of any form are given what a worker wrote for them, also where it is no object', async () => {
    place.script = () => ({ calls: [{ name: 'apply_patch', arguments: '*** Begin Patch' }] });
    expect(callsIn(await client().responses.create(ask('Patch', { model: 'first', tools: [PATCH] })))).toEqual([['custom_tool_call', 'apply_patch', '*** Begin Patch']]);
  });

  it('are chosen as the client says', async () => {
    await client().responses.create(ask('Look', { model: 'first', tools: [READ, PATCH], tool_choice: { type: 'custom', name: 'apply_patch' }, parallel_tool_calls: false }));
    expect(place.workers.of('first').at(-1)?.body).toMatchObject({ tool_choice: { type: 'function', function: { name: 'apply_patch' } }, parallel_tool_calls: false });
  });

  it('that are not allowed are not offered', async () => {
    const look = { ...READ, name: 'look' };
    await client().responses.create(ask('Look', { model: 'first', tools: [READ, PATCH, look], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }, { type: 'custom', name: 'apply_patch' }] } }));
    expect([place.workers.of('first').at(-1)?.tools, place.workers.of('first').at(-1)?.body['tool_choice']]).toEqual([['apply_patch', 'look'], 'auto']);
  });

  it('of long names in a namespace are told apart, and keep their own names for the client', async () => {
    const long = 'x'.repeat(60);
    const tools = [{ ...AGENTS, tools: [{ ...CLOSE, name: `${long}a` }, { ...CLOSE, name: `${long}b` }] }];
    place.script = ({ tools: [, second = ''] }) => ({ calls: [{ name: second, arguments: {} }] });
    const answer = await client().responses.create(ask('Close', { model: 'first', tools }));
    expect(place.workers.of('first').at(-1)?.tools.every(({ length }) => length === 64)).toBe(true);
    expect(answer.output).toMatchObject([{ type: 'function_call', namespace: 'agents', name: `${long}b` }]);
  });
});

describe('what a client may send', () => {
  it('goes to the worker that speaks', async () => {
    const format = { type: 'json_schema' as const, name: 'facts', schema: { type: 'object' }, strict: true };
    await client().responses.create(ask('Say', { model: 'first', text: { format, verbosity: 'low' }, max_output_tokens: 50, temperature: 0.5, top_p: 0.9, store: true, reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] }));
    expect(place.workers.of('first').at(-1)?.body).toMatchObject({ max_tokens: 50, temperature: 0.5, top_p: 0.9, response_format: { type: 'json_schema', json_schema: { name: 'facts', strict: true } } });
    expect(place.workers.of('first').at(-1)?.body).not.toHaveProperty('reasoning_effort');
  });

  it('is refused where it cannot be honoured, with the name of the field', async () => {
    const before = place.workers.requests.length;
    const cases: [object, RegExp][] = [
      [{ previous_response_id: 'resp_1' }, /previous_response_id: the response "resp_1" is not known here, or no more/], [{ conversation: 'conv_1' }, /conversation: conversations are not kept here/], [{ background: true }, /background: /],
      [{ prompt: { id: 'p' } }, /prompt: prompts that OpenAI keeps/], [{ top_logprobs: 2 }, /top_logprobs: workers do not say/], [{ include: ['message.output_text.logprobs'] }, /include\.0: workers/],
      [{ tools: [{ type: 'file_search', vector_store_ids: ['x'] }] }, /tools\.0\.type: tools of type "function", "custom"/], [{ tools: [READ, READ] }, /tools: there are two with the name "read"/],
      [{ tools: [READ], tool_choice: { type: 'function', name: 'write' } }, /tool_choice: there is no tool "write"/], [{ tool_choice: { type: 'allowed_tools' } }, /tool_choice: it is/], [{ tools: [READ], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'write' }] } }, /tool_choice: there is no tool "write"/],
      [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, /input: the item "msg_1" is not known here, or no more: send it whole/], [{ input: [] }, /input/], [{ input: [{ type: 'function_call', call_id: 'x', name: 'read' }] }, /input\.0\.arguments/],
      [{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }] }] }, /Models do not take this kind of file/], [{ text: { format: { type: 'xml' } } }, /text\.format\.type: it is/],
    ];
    for (const [fields, message] of cases) {
      expect(await problem(client().responses.create({ ...ask('Hello', { model: 'first' }), ...untyped(fields) }))).toMatchObject({ status: 400, type: 'invalid_request_error', message: expect.stringMatching(message) });
    }
    expect(place.workers.requests).toHaveLength(before);
  });
});

describe('errors', () => {
  it('have the bodies and statuses that clients decide by', async () => {
    expect(await problem(client('wrong').responses.create(ask('Hello')))).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await problem(client().responses.create(ask('Hello', { model: 'nobody' })))).toMatchObject({ status: 404, code: 'model_not_found', requestID: expect.stringMatching(/^req_/) });
    place.script = () => ({ status: 429, retryAfter: 7_200 });
    const limited = await problem(client().responses.create(ask('Again', { model: 'first' })));
    expect([limited.status, limited.code, limited.headers?.get('retry-after'), limited.headers?.get('x-should-retry')]).toEqual([429, 'rate_limit_exceeded', '7200', 'true']);
  });

  it('after the beginning end the response as failed, with what was said', async () => {
    place.script = () => ({ begin: 'Well, ', rest: new Promise(() => {}) });
    const { runs } = place.conversations;
    let last: ResponseStreamEvent | undefined;
    for await (const event of await client().responses.create({ ...ask('Break', { model: 'first' }), stream: true })) {
      last = event;
      // A person cancels it in the panel.
      if (event.type === 'response.output_text.delta') runs.cancel(runs.list({ limit: 1 })[0]!.runId);
    }
    expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: expect.any(String), message: expect.any(String) }, output: [{ content: [{ text: 'Well, ' }] }] } });
  });
});

describe('a client that is gone in mid-stream', () => {
  it('cancels its run, and the same request goes on without paying again for the plan and the steps before', async () => {
    let abandoned: Promise<void> | undefined;
    place.script = ({ model, abandoned: gone }) => {
      if (model !== 'second') return model === 'planner' ? PLAN : 'The bound is off by one.';
      abandoned = gone;
      return { begin: 'Well, ', rest: new Promise(() => {}) };
    };
    const [planned, advised] = [place.workers.of('planner').length, place.workers.of('first').length];
    const stream = client().responses.stream({ model: 'conductor', input: 'Mend it and wait' });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    stream.abort();
    await abandoned;
    place.script = () => 'Well, well.';
    expect((await client().responses.create(ask('Mend it and wait'))).output_text).toBe('Well, well.');
    expect([place.workers.of('planner').length - planned, place.workers.of('first').length - advised]).toEqual([1, 1]);
  });
});
