import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVER_PROVIDER_NAMES, type ServerProvider } from '../../backend/protocol/providers.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { ConversationMessage, Tool } from '../../backend/workers/model.ts';
import { FaultServer, faults } from './fault-server.ts';
import { setUp, workersAt } from './harness.ts';
import { chatDelta, chatEnd, messagesBlock, messagesEnd, messagesStart, responsesEnd, responsesItem, toolWires } from './tool-wires.ts';

/* Tool calls of each wire format: how they are asked for, how they come, and how they and their results go back. */

let server: FaultServer;
let workers: WorkerConfig[];

beforeAll(async () => {
  server = await FaultServer.start();
  workers = workersAt(server.url);
});
afterAll(() => server.stop());

const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const READ: Tool = { name: 'read', description: 'Shows lines of a file', parameters };
const EDIT: Tool = { name: 'edit', description: 'Changes a file', parameters };
const ASK: ConversationMessage = { role: 'user', content: 'Mend the fox' };

function workerFor(provider: ServerProvider): WorkerConfig {
  return workers.find((worker) => worker.provider === provider)!;
}

async function replyTo(provider: ServerProvider, events: string | readonly string[], messages: readonly ConversationMessage[] = [ASK]) {
  server.script(faults.events(...[events].flat()));
  const { caller, options, texts } = await setUp();
  const { reply } = await caller.call(workerFor(provider), { messages, tools: [READ, EDIT] }, options);
  return { ...reply, texts, body: server.requests[0]!.body };
}

const TWO_CALLS = [
  { id: 'call_a', name: 'read', pieces: ['{"pa', 'th":"a', '.ts"}'] },
  { id: 'call_b', name: 'edit', pieces: ['{"path":"ä.ts"}'] },
];

describe.each(SERVER_PROVIDER_NAMES)('%s', (provider) => {
  test('several calls beside text are joined from their pieces', async () => {
    const reply = await replyTo(provider, toolWires[provider].turn('I look first.', TWO_CALLS));
    expect(reply).toMatchObject({
      text: 'I look first.',
      finishReason: 'stop',
      toolCalls: [
        { id: 'call_a', name: 'read', arguments: '{"path":"a.ts"}' },
        { id: 'call_b', name: 'edit', arguments: '{"path":"ä.ts"}' },
      ],
      usage: { uncachedInput: 20, output: 7, estimated: false },
    });
    expect(reply.texts).toEqual(['I look first.']);
    expect(reply.verbatim).toBeUndefined();
  });

  test('arguments that the token limit cut off are as they came, and the reply says so', async () => {
    const cut = [TWO_CALLS[0]!, { id: 'call_b', name: 'edit', pieces: ['{"path":"a'] }];
    const reply = await replyTo(provider, toolWires[provider].turn('', cut, 'length'));
    expect(reply).toMatchObject({ text: '', finishReason: 'length' });
    expect(reply.toolCalls?.map((call) => call.arguments)).toEqual(['{"path":"a.ts"}', '{"path":"a']);
  });

  test('a call without arguments has an empty object', async () => {
    const { toolCalls } = await replyTo(provider, toolWires[provider].turn('', [{ id: 'call_a', name: 'read', pieces: [] }]));
    expect(toolCalls).toEqual([{ id: 'call_a', name: 'read', arguments: '{}' }]);
  });

  test('ids that are missing, repeated or already in the conversation are replaced by ids of its own', async () => {
    const used: ConversationMessage[] = [
      ASK, { role: 'assistant', content: '', toolCalls: [{ id: 'call_a', name: 'read', arguments: '{}' }] },
      { role: 'tool', callId: 'call_a', content: 'lines' },
    ];
    const calls = ['', 'call_a', 'call_c', 'call_c', 'what is this?'].map((id) => ({ id, name: 'read', pieces: ['{}'] }));
    const { toolCalls = [] } = await replyTo(provider, toolWires[provider].turn('', calls), used);
    const ids = toolCalls.map(({ id }) => id);
    expect(toolCalls).toHaveLength(5);
    expect(new Set([...ids, 'call_a']).size).toBe(6);
    expect(ids[2]).toBe('call_c');
    for (const id of [0, 1, 3, 4]) expect(ids[id]).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test('a request without tools says nothing of tools', async () => {
    server.script(faults.answer('fine'));
    const { caller, options } = await setUp();
    await caller.call(workerFor(provider), { messages: [ASK] }, options);
    expect(server.requests[0]!.body).not.toHaveProperty('tools');
  });
});

describe('what is sent', () => {
  const CONVERSATION: ConversationMessage[] = [
    ASK,
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: [
        { id: 'a', name: 'read', arguments: '{"path": "a.ts"}' },
        { id: 'b', name: 'functions.read it', arguments: '{"path": ' },
      ],
    },
    { role: 'tool', callId: 'a', content: 'the lines' },
    { role: 'tool', callId: 'b', content: '' },
    { role: 'user', content: 'Go on.' },
  ];
  const send = (provider: ServerProvider) => replyTo(provider, toolWires[provider].turn('Done.', []), CONVERSATION);
  const malformed = { INVALID_JSON: '{"path": ' };

  test('to Chat Completions', async () => {
    const { body } = await send('openai-compatible');
    expect(body['tools']).toEqual([READ, EDIT].map((tool) => ({ type: 'function', function: tool })));
    expect(body['messages']).toEqual([
      ASK,
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path": "a.ts"}' } },
          { id: 'b', type: 'function', function: { name: 'functions_read_it', arguments: JSON.stringify(malformed) } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'the lines' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  test('to Responses', async () => {
    const { body } = await send('openai');
    expect(body['tools']).toEqual([READ, EDIT].map((tool) => ({ type: 'function', ...tool, strict: false })));
    expect(body['input']).toEqual([
      ASK,
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{"path": "a.ts"}' },
      { type: 'function_call', call_id: 'b', name: 'functions_read_it', arguments: JSON.stringify(malformed) },
      { type: 'function_call_output', call_id: 'a', output: 'the lines' },
      { type: 'function_call_output', call_id: 'b', output: '' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  test('to Messages: all results of a turn come first in one turn of the user', async () => {
    const { body } = await send('anthropic');
    const cache_control = { type: 'ephemeral' };
    expect(body['tools']).toEqual([
      { name: 'read', description: READ.description, input_schema: parameters },
      { name: 'edit', description: EDIT.description, input_schema: parameters, cache_control },
    ]);
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: ASK.content, cache_control }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'read', input: { path: 'a.ts' } },
          { type: 'tool_use', id: 'b', name: 'functions_read_it', input: malformed },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'the lines' },
          { type: 'tool_result', tool_use_id: 'b' },
          { type: 'text', text: 'Go on.', cache_control },
        ],
      },
    ]);
  });

  test('to Messages: without text where there is none, as in a picture alone or an answer with nothing in it, since it is refused', async () => {
    const messages: ConversationMessage[] = [
      { role: 'user', content: ' ', pictures: [{ type: 'image/png', data: 'AA==', tokens: 1 }] }, { role: 'assistant', content: '' }, { role: 'user', content: 'Why?' },
    ];
    const { body } = await replyTo('anthropic', toolWires.anthropic.turn('Done.', []), messages);
    expect(body['messages']).toMatchObject([{ role: 'user', content: [{ type: 'image' }] }, { role: 'user', content: [{ type: 'text', text: 'Why?' }] }]);
  });

  test.each([
    ['openai-compatible', { tool_call_id: 'a', content: '[The tool failed.]\nNo such file' }],
    ['openai', { call_id: 'a', output: '[The tool failed.]\nNo such file' }],
    ['anthropic', { content: [expect.objectContaining({ type: 'tool_result', tool_use_id: 'a', content: 'No such file', is_error: true })] }],
  ] as const)('to %s: a tool that failed, as such', async (provider, sent) => {
    const call: ConversationMessage = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'read', arguments: '{}' }] };
    const { body } = await replyTo(provider, toolWires[provider].turn('Done.', []), [ASK, call, { role: 'tool', callId: 'a', content: 'No such file', isError: true }]);
    const told = (body['messages'] ?? body['input']) as object[];
    expect(told.at(-1)).toMatchObject(sent);
  });

  test('to Messages: at most four marks for the cache, of which two follow the end of the conversation', async () => {
    const call = (id: string): ConversationMessage[] => [
      { role: 'assistant', content: '', toolCalls: [{ id, name: 'read', arguments: '{}' }] }, { role: 'tool', callId: id, content: id },
    ];
    const shared = (content: string): ConversationMessage => ({ role: 'user', content, sharedPrefix: 3 });
    const messages = [{ role: 'system', content: 'Be brief.' } as const, shared('one and'), shared('two and'), ...call('x'), ...call('y'), ...call('z')];
    const { body } = await replyTo('anthropic', toolWires.anthropic.turn('Done.', []), messages);
    const marked = [...JSON.stringify(body).matchAll(/\{[^{}]*"cache_control":\{"type":"ephemeral"\}\}/g)].map(([block]) => block);
    expect(marked.map((block) => /"(Be brief\.|one|two|x|y|z)"/.exec(block)?.[1])).toEqual(['Be brief.', 'one', 'y', 'z']);
  });
});

describe('Chat Completions of servers that differ', () => {
  const call = (...pieces: object[]) => chatDelta({ tool_calls: pieces });
  const whole = (name: string, path: string, rest: object = {}) => ({ ...rest, function: { name, arguments: `{"path":"${path}"}` } });
  const A = { name: 'read', arguments: '{"path":"a"}' };
  const B = { name: 'read', arguments: '{"path":"b"}' };

  test.each<[string, string[], object[]]>([
    ['every call whole, with index 0 and no id', [call(whole('read', 'a', { index: 0 })), call(whole('read', 'b', { index: 0 }))], [A, B]],
    ['every call whole, with index 0 and its own id', [call(whole('read', 'a', { index: 0, id: 'x' }), whole('read', 'b', { index: 0, id: 'y' }))], [A, B]],
    ['the same index and id for different calls', [call(whole('read', 'a', { index: 0, id: 'x' })), call(whole('read', 'b', { index: 0, id: 'x' }))], [A, B]],
    ['no index', [call(whole('read', 'a', { id: 'x' })), call(whole('read', 'b', { id: 'y' }))], [A, B]],
    ['no index and no id', [call(whole('read', 'a')), call(whole('read', 'b'))], [A, B]],
    [
      'no index, in pieces',
      [call({ id: 'x', function: { name: 'read', arguments: '{"path"' } }), call({ function: { arguments: ':"a"}' } })], [A],
    ],
    [
      'another id with every piece',
      [
        call({ index: 0, id: 'x', function: { name: 'read', arguments: '{"path"' } }), call({ index: 0, id: 'y', function: { arguments: ':"a"' } }),
        call({ index: 0, id: 'z', function: { arguments: '}' } }),
      ], [A],
    ],
    [
      'the id and the name repeated with every piece',
      ['', '{"path":', '"a"', '}', ''].map((piece) => call({ index: 0, id: 'x', function: { name: 'read', arguments: piece } })), [A],
    ],
    [
      'the name in pieces',
      [call({ index: 0, id: 'x', function: { name: 're' } }), call({ index: 0, function: { name: 'ad' } }), call({ index: 0, function: { arguments: A.arguments } })],
      [A],
    ],
    [
      'the arguments before the name',
      [call({ index: 0, function: { arguments: '{"path":' } }), call({ index: 0, id: 'x', function: { name: 'read', arguments: '"a"}' } })], [A],
    ],
    ['calls in turns', [
      call({ index: 0, id: 'x', function: { name: 'read', arguments: '{"path"' } }, { index: 1, id: 'y', function: { name: 'read', arguments: '{"path"' } }),
      call({ index: 1, function: { arguments: ':"b"}' } }), call({ index: 0, function: { arguments: ':"a"}' } }),
    ], [A, B]],
    ['the arguments as an object', [call({ index: 0, id: 'x', function: { name: 'read', arguments: { path: 'a' } } })], [A]],
    ['null everywhere', [
      chatDelta({ tool_calls: null }), call({ index: 0, id: null, function: null }), call({ index: 0, function: { name: 'read', arguments: null } }),
      call({ index: 0, function: { name: null, arguments: A.arguments } }), chatDelta({ content: null, tool_calls: [null] }), call({ index: 1 }),
    ], [A]],
    [
      'a quote and braces in a string, and the name again',
      [call({ index: 0, function: { name: 'read', arguments: '{"path":"\\"}' } }), call({ index: 0, function: { name: 'read', arguments: '{"}' } })],
      [{ name: 'read', arguments: '{"path":"\\"}{"}' }],
    ],
    [
      'index 0 for calls with ids of their own, the first without arguments',
      [call({ index: 0, id: 'x', function: { name: 'list', arguments: '' } }), call({ index: 0, id: 'y', ...whole('read', 'a') })],
      [{ name: 'list', arguments: '{}' }, A],
    ],
    [
      'index 0 and no ids, the first call malformed',
      [call({ index: 0, function: { name: 'list', arguments: '{"path":' } }), call({ index: 0, ...whole('read', 'a') })],
      [{ name: 'list', arguments: '{"path":' }, A],
    ],
  ])('%s', async (_name, events, expected) => {
    const { toolCalls = [] } = await replyTo('openai-compatible', [...events, chatEnd()]);
    expect(toolCalls).toMatchObject(expected);
    expect(toolCalls).toHaveLength(expected.length);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(expected.length);
  });

  test.each(['tool_calls', 'function_call', 'stop', 'tool_use'])('finish reason %s is stop', async (reason) => {
    const reply = await replyTo('openai-compatible', [call(whole('read', 'a', { index: 0, id: 'x' })), chatEnd(reason)]);
    expect(reply).toMatchObject({ finishReason: 'stop', toolCalls: [A] });
  });
});

describe('what the provider wants back', () => {
  /** The assistant's turn that is sent after a reply. */
  async function sentAfter(provider: ServerProvider, events: string, fields: Partial<WorkerConfig> = {}): Promise<unknown[]> {
    const { text, toolCalls, verbatim } = await replyTo(provider, events);
    expect(verbatim).toBeDefined();
    const messages: ConversationMessage[] = [
      ASK, { role: 'assistant', content: text, toolCalls, verbatim }, ...toolCalls!.map(({ id }) => ({ role: 'tool' as const, callId: id, content: 'lines' })),
    ];
    server.script(faults.answer('fine'));
    const { caller, options } = await setUp();
    await caller.call({ ...workerFor(provider), ...fields }, { messages, tools: [READ] }, options);
    const { body } = server.requests.at(-1)!;
    return (body['input'] ?? body['messages']) as unknown[];
  }

  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' };
  const called = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'read', arguments: '{"path":"a"}' };
  const message = { type: 'message', id: 'm', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'I look.' }] };
  const thoughtful =
    responsesItem(0, { ...reasoning, status: 'completed' }) + responsesItem(1, message) + responsesItem(2, called) +
    responsesItem(3, { ...called, call_id: 'x' }) + responsesEnd();

  test('Responses: encrypted reasoning, in its place, and the phase of a message', async () => {
    const [, thought, spoken, first, second] = await sentAfter('openai', thoughtful);
    expect(thought).toEqual(reasoning);
    expect(spoken).toEqual({ role: 'assistant', content: 'I look.', phase: 'commentary' });
    expect(first).toEqual({ type: 'function_call', call_id: 'x', name: 'read', arguments: called.arguments });
    expect(second).toMatchObject({ type: 'function_call', call_id: expect.stringMatching(/^\w{9}$/) as string });
  });

  test('Responses: another model is not sent it', async () => {
    const sent = await sentAfter('openai', thoughtful, { model: 'another' });
    expect(JSON.stringify(sent)).not.toContain('gAAAA');
    expect(sent).toContainEqual({ type: 'function_call', call_id: 'x', name: 'read', arguments: called.arguments });
  });

  test('Messages: signed and redacted thinking, in its place', async () => {
    const [, turn] = await sentAfter('anthropic', [
      messagesStart,
      messagesBlock(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'The fox ' }, { type: 'thinking_delta', thinking: 'is quiet.' }, { type: 'signature_delta', signature: 'EqQB' },
      ]),
      messagesBlock(1, { type: 'redacted_thinking', data: 'secret' }, []),
      messagesBlock(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: ' \n' }]),
      messagesBlock(3, { type: 'tool_use', id: 'x', name: 'read', input: { path: 'a' } }, []),
      messagesEnd(),
    ].join(''));
    expect(turn).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'The fox is quiet.', signature: 'EqQB' },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'tool_use', id: 'x', name: 'read', input: { path: 'a' } },
      ],
    });
  });

  const piece = { index: 0, id: 'x', function: { name: 'read', arguments: '{}' } };
  test.each<[string, string, object]>([
    [
      'reasoning_content (DeepSeek, Kimi)',
      chatDelta({ reasoning_content: 'The fox ' }) + chatDelta({ reasoning_content: 'is quiet.' }) + chatDelta({ tool_calls: [piece] }),
      { reasoning_content: 'The fox is quiet.' },
    ],
    [
      'reasoning_details (OpenRouter)',
      chatDelta({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'a', format: 'f' }] }) +
        chatDelta({ reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'b', signature: 's' }] }) +
        chatDelta({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'd' }] }) + chatDelta({ tool_calls: [piece] }),
      {
        reasoning_details: [
          { type: 'reasoning.text', index: 0, text: 'ab', format: 'f', signature: 's' }, { type: 'reasoning.encrypted', index: 1, data: 'd' },
        ],
      },
    ],
    [
      'a thought signature (Gemini)',
      chatDelta({ tool_calls: [{ ...piece, extra_content: { google: { thought_signature: 'sig' } } }] }),
      {
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'read', arguments: '{}' }, extra_content: { google: { thought_signature: 'sig' } } },
        ],
      },
    ],
  ])('Chat Completions: %s', async (_name, events, expected) => {
    const [, turn] = await sentAfter('openai-compatible', events + chatEnd());
    expect(turn).toMatchObject({ role: 'assistant', content: null, ...expected });
    expect(turn).not.toHaveProperty('reasoning');
  });

  test('Chat Completions: a server that refuses it gets the turn without, and is remembered', async () => {
    const { toolCalls, verbatim } = await replyTo(
      'openai-compatible', chatDelta({ reasoning: 'hm' }) + chatDelta({ tool_calls: [piece] }) + chatEnd(),
    );
    const messages: ConversationMessage[] = [
      ASK, { role: 'assistant', content: '', toolCalls, verbatim }, { role: 'tool', callId: 'x', content: 'lines' },
    ];
    server.script(faults.refuse(400, { error: { message: "'messages.1' : property 'reasoning' is unsupported" } }), faults.answer('fine'));
    const { caller, options } = await setUp();
    const worker = workerFor('openai-compatible');
    await caller.call(worker, { messages, tools: [READ] }, options);
    await caller.call(worker, { messages, tools: [READ] }, options);
    expect(server.requests.map(({ body }) => JSON.stringify(body['messages']).includes('"reasoning"'))).toEqual([true, false, false]);
  });
});
