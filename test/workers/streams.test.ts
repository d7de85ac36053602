import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { ChatDialects } from '../../backend/workers/adapters/chat-dialect.ts';
import { createAdapter } from '../../backend/workers/adapters/create-adapter.ts';
import { FillInForms } from '../../backend/workers/adapters/fill-in-forms.ts';
import { FaultServer, faults } from './fault-server.ts';
import { HELLO, setUp, workersAt } from './harness.ts';

/* Endings and oddities of streams that are no faults. */

let server: FaultServer;
let workers: WorkerConfig[];

beforeAll(async () => {
  server = await FaultServer.start();
  workers = workersAt(server.url);
});
afterAll(() => server.stop());

const chatChunk = (delta: object, finish: string | null = null, extra: object = {}) =>
  `data: ${JSON.stringify({ model: 'served', choices: [{ index: 0, delta, finish_reason: finish }], ...extra })}\n\n`;
const named = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

async function answerOf(worker: WorkerConfig | undefined, ...events: string[]) {
  server.script(faults.events(...events));
  const { caller, options, texts } = await setUp();
  const { reply } = await caller.call(worker!, HELLO, options);
  return { ...reply, texts };
}

/** What an adapter tells its caller, in order. */
async function signsOf(worker: WorkerConfig | undefined, ...events: string[]): Promise<string[]> {
  server.script(faults.events(...events));
  const signs: string[] = [];
  let alive = false;
  await (await createAdapter(worker!, { dialects: new ChatDialects(), fillInForms: new FillInForms() })).stream({ ...HELLO, maxOutputTokens: 100 }, {
    signal: new AbortController().signal,
    onText: (text) => signs.push(text),
    onThinking: () => signs.push('(thinks)'),
    onActivity: () => (alive = true),
  });
  expect(alive).toBe(true);
  return signs;
}

describe('Chat Completions', () => {
  test('a server that reports no usage gets an estimate, marked as such', async () => {
    const { usage, text } = await answerOf(workers[1], chatChunk({ content: 'fine' }), chatChunk({}, 'stop'), 'data: [DONE]\n\n');
    expect(text).toBe('fine');
    expect(usage.estimated).toBe(true);
    expect(usage.uncachedInput).toBeGreaterThan(5);
    expect(usage.output).toBeGreaterThan(0);
  });

  test.each(['reasoning_content', 'reasoning'])('%s is thought and not said', async (field) => {
    const signs = await signsOf(
      workers[1], chatChunk({ role: 'assistant', content: '' }), chatChunk({ [field]: 'hm' }), chatChunk({ content: 'fine' }),
      chatChunk({}, 'stop'),
    );
    expect(signs).toEqual(['(thinks)', 'fine']);
  });

  test('a connection that breaks after the end costs only the count of tokens', async () => {
    server.script(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await new Promise((resolve) => response.write(chatChunk({ content: 'fine' }) + chatChunk({}, 'stop'), resolve));
      response.socket?.resetAndDestroy();
    });
    const { caller, options } = await setUp();
    const { reply } = await caller.call(workers[1]!, HELLO, options);
    expect(reply).toMatchObject({ text: 'fine', finishReason: 'stop', usage: { estimated: true } });
  });

  test('chunks without choices, with null, or with content that is no text change nothing', async () => {
    const { text } = await answerOf(
      workers[1],
      'data: {}\n\n', 'data: {"choices":null}\n\n', chatChunk({ content: null }), chatChunk({ content: [{ text: 'no' }] }),
      ': a comment\n\n', chatChunk({ content: 'fine' }), chatChunk({}, 'eos'),
    );
    expect(text).toBe('fine');
  });

  test.each([['stop', 'stop'], ['length', 'length'], ['content_filter', 'content-filter'], ['eos', 'stop']] as const)(
    'finish reason %s is %s', async (said, finishReason) => {
      expect(await answerOf(workers[1], chatChunk({ content: 'x' }), chatChunk({}, said))).toMatchObject({ finishReason });
    });
});

describe('Responses', () => {
  const delta = named('response.output_text.delta', { delta: 'half' });
  test.each([['max_output_tokens', 'length'], ['content_filter', 'content-filter']] as const)(
    'incomplete for %s is %s', async (reason, finishReason) => {
      const usage = { input_tokens: 5, output_tokens: 2 };
      const response = { model: 'served', status: 'incomplete', incomplete_details: { reason }, usage };
      const reply = await answerOf(workers[0], delta, named('response.incomplete', { response }));
      expect(reply).toMatchObject({ text: 'half', finishReason, usage: { uncachedInput: 5, output: 2, estimated: false } });
    });

  test('reasoning events are thought and not said', async () => {
    const thought = named('response.reasoning_text.delta', { delta: 'hm' });
    const completed = named('response.completed', { response: { model: 'served', status: 'completed' } });
    const created = named('response.created', { response: {} });
    expect(await signsOf(workers[0], created, thought, delta, completed)).toEqual(['(thinks)', 'half']);
  });
});

describe('Messages', () => {
  const start = named('message_start', { message: { model: 'served', usage: { input_tokens: 5, output_tokens: 1 } } });
  const delta = (fields: object) => named('content_block_delta', { index: 0, delta: fields });
  const said = delta({ type: 'text_delta', text: 'fine' });
  const end = (stop_reason: string) =>
    named('message_delta', { delta: { stop_reason }, usage: { output_tokens: 9 } }) + named('message_stop', {});

  test.each([
    ['end_turn', 'stop'], ['max_tokens', 'length'], ['model_context_window_exceeded', 'length'], ['refusal', 'content-filter'],
  ] as const)('stop reason %s is %s', async (reason, finishReason) => {
    expect(await answerOf(workers[2], start, said, end(reason))).toMatchObject({ text: 'fine', finishReason });
  });

  test('thinking is thought and not said, and pings are nothing', async () => {
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    const thought = delta({ type: 'thinking_delta', thinking: 'hm' });
    expect(await signsOf(workers[2], start, ping, thought, said, end('end_turn'))).toEqual(['(thinks)', 'fine']);
  });
});
