import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import type { HandsRule } from '../../backend/simulator/worker-model.ts';
import type { ConversationMessage, Tool } from '../../backend/workers/model.ts';
import { setUp } from '../workers/harness.ts';

/* Tool calls of simulated models, read by the official SDKs and by a worker. */

const servers: SimulatorServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Reads two files at once, then says what it was told. */
const hands: HandsRule = (_character, { messages, tools = [] }) => {
  const results = messages.filter(({ role }) => role === 'tool');
  if (results.length > 0) return { text: `Seen: ${results.map(({ content }) => content).join(', ')}.`, calls: [] };
  return { text: 'I look.', calls: ['a.ts', 'b.ts'].map((path) => ({ name: tools[0]!.name, arguments: JSON.stringify({ path }) })) };
};
const silently: HandsRule = (character, request) => ({ ...hands(character, request), text: '' });

async function start(rule: HandsRule = hands): Promise<SimulatorServer> {
  const server = await SimulatorServer.start({ seed: 1, latency: 0, hands: rule });
  servers.push(server);
  return server;
}

const openAi = async (rule?: HandsRule) => new OpenAI({ baseURL: `${(await start(rule)).url}/v1`, apiKey: 'none', maxRetries: 0 });
const anthropic = async (rule?: HandsRule) => new Anthropic({ baseURL: (await start(rule)).url, apiKey: 'none', maxRetries: 0 });

const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const READ: Tool = { name: 'read', description: 'Shows a file', parameters };
const ASK = { role: 'user' as const, content: 'Look.' };
const PATHS = ['{"path":"a.ts"}', '{"path":"b.ts"}'];

describe('Chat Completions', () => {
  const tools = [{ type: 'function' as const, function: { ...READ, parameters } }];
  test.each([[hands, 'I look.'], [silently, null]] as const)('a loop, streamed', async (rule, content) => {
    const client = await openAi(rule);
    const { choices: [first] } = await client.chat.completions.stream({ model: 'sim-cedar', messages: [ASK], tools }).finalChatCompletion();
    expect(first).toMatchObject({ finish_reason: 'tool_calls', message: { content } });
    const calls = first!.message.tool_calls!;
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual(PATHS);
    const results = calls.map(({ id }, index) => ({ role: 'tool' as const, tool_call_id: id, content: `file ${index}` }));
    const { choices: [last] } = await client.chat.completions.create({ model: 'sim-cedar', messages: [ASK, first!.message, ...results], tools });
    expect(last).toMatchObject({ finish_reason: 'stop', message: rule === hands ? { content: 'Seen: file 0, file 1.' } : {} });
  });

  test('an answer in one piece has the same calls', async () => {
    const { choices: [choice] } = await (await openAi(silently)).chat.completions.create({ model: 'sim-cedar', messages: [ASK], tools });
    expect(choice?.message).toMatchObject({ content: null, tool_calls: PATHS.map((path) => ({ function: { name: 'read', arguments: path } })) });
  });

  test('arguments are cut at the limit of tokens', async () => {
    const { choices: [choice] } = await (await openAi()).chat.completions.create({ model: 'sim-cedar', messages: [ASK], tools, max_tokens: 5 });
    expect(choice).toMatchObject({ finish_reason: 'length', message: { tool_calls: [{ function: { arguments: '{"path":' + '"' } }] } });
  });
});

describe('Responses', () => {
  const tools = [{ type: 'function' as const, ...READ, parameters, strict: false }];
  test.each([hands, silently])('a loop, streamed', async (rule) => {
    const client = await openAi(rule);
    const { output, status } = await client.responses.stream({ model: 'sim-atlas', input: [ASK], tools }).finalResponse();
    const calls = output.filter((item) => item.type === 'function_call');
    expect(status).toBe('completed');
    expect(output).toHaveLength(rule === hands ? 3 : 2);
    expect(calls.map((call) => call.arguments)).toEqual(PATHS);
    const results = calls.map(({ call_id }, index) => ({ type: 'function_call_output' as const, call_id, output: `file ${index}` }));
    const last = await client.responses.create({ model: 'sim-atlas', input: [ASK, ...(output as OpenAI.Responses.ResponseInputItem[]), ...results], tools });
    expect(last.output_text).toBe(rule === hands ? 'Seen: file 0, file 1.' : '');
  });
});

describe('Messages', () => {
  const tools = [{ name: 'read', description: READ.description, input_schema: { ...parameters, type: 'object' as const } }];
  const asked = { model: 'sim-dune', max_tokens: 1_000, tools };
  test.each([hands, silently])('a loop, streamed', async (rule) => {
    const client = await anthropic(rule);
    const { content, stop_reason } = await client.messages.stream({ ...asked, messages: [ASK] }).finalMessage();
    const calls = content.filter((block) => block.type === 'tool_use');
    expect(stop_reason).toBe('tool_use');
    expect(content).toHaveLength(rule === hands ? 3 : 2);
    expect(calls.map(({ input }) => JSON.stringify(input))).toEqual(PATHS);
    const results = calls.map(({ id }, index) => ({ type: 'tool_result' as const, tool_use_id: id, content: `file ${index}` }));
    const last = await client.messages.create({
      ...asked, messages: [ASK, { role: 'assistant', content: content as Anthropic.ContentBlockParam[] }, { role: 'user', content: results }],
    });
    expect(last.content).toMatchObject(rule === hands ? [{ type: 'text', text: 'Seen: file 0, file 1.' }] : [{ type: 'text', text: '' }]);
  });

  test('the system may speak between turns, as Claude Code lets it', async () => {
    const messages = [ASK, { role: 'system' as const, content: 'Be brief.' }, ASK];
    const { content } = await (await anthropic()).messages.create({ ...asked, messages });
    expect(content).toHaveLength(3);
  });

  test.each<[string, object, RegExp]>([
    ['text before results', { messages: [ASK, called('x'), { role: 'user', content: [text('Here:'), result('x')] }] }, /tool_result blocks must come before/],
    ['a missing result', { messages: [ASK, called('x', 'y'), { role: 'user', content: [result('x')] }, called('z')] }, /no result after them: y/],
    ['a result without a call', { messages: [ASK, { role: 'user', content: [result('x')] }] }, /no call of this id/],
    ['blank text', { messages: [{ role: 'user', content: [text(' \n')] }] }, /non-whitespace/],
    ['a name twice', { messages: [ASK], tools: [...tools, ...tools] }, /must be unique/],
    ['five marks', { messages: [{ role: 'user', content: Array.from({ length: 5 }, () => ({ ...text('x'), cache_control: { type: 'ephemeral' } })) }] }, /maximum of 4/],
  ])('%s is refused, as by the real API', async (_name, fields, message) => {
    const client = await anthropic();
    const request = client.messages.create({ ...asked, ...fields } as unknown as Anthropic.MessageCreateParamsNonStreaming);
    await expect(request).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) as string });
  });
});

const text = (said: string) => ({ type: 'text', text: said });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
const called = (...ids: string[]) => ({ role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) });

test('workers of every wire format complete a loop', async () => {
  const server = await start();
  const { caller, options } = await setUp();
  for (const worker of server.workers()) {
    const config = workerConfigSchema.parse(worker);
    const first = await caller.call(config, { messages: [ASK], tools: [READ] }, options);
    const { text: said, toolCalls = [] } = first.reply;
    expect(toolCalls.map((call) => call.arguments)).toEqual(PATHS);
    const messages: ConversationMessage[] = [
      ASK, { role: 'assistant', content: said, toolCalls }, ...toolCalls.map(({ id }, index) => ({ role: 'tool' as const, callId: id, content: `file ${index}` })),
    ];
    const last = await caller.call(config, { messages, tools: [READ] }, options);
    expect(last.reply).toMatchObject({ text: 'Seen: file 0, file 1.', finishReason: 'stop' });
    expect(last.reply.toolCalls).toBeUndefined();
  }
});

test('a worker that is offered tools and has no rule for them answers as before', async () => {
  const server = await SimulatorServer.start({ seed: 1, latency: 0 });
  servers.push(server);
  const { caller, options } = await setUp();
  const { reply } = await caller.call(workerConfigSchema.parse(server.workers()[0]), { messages: [ASK], tools: [READ] }, options);
  expect(reply.toolCalls).toBeUndefined();
  expect(reply.text).toContain('Simulated');
});
