import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVER_PROVIDER_NAMES } from '../../backend/protocol/providers.ts';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { tryWorker, type TryResult } from '../../backend/workers/try-worker.ts';
import { FaultServer, faults, type Fault } from './fault-server.ts';
import { setUp, workerOf, workersAt } from './harness.ts';
import { toolWires } from './tool-wires.ts';

/* What a try tells of a worker: whether it answers, what that cost, and how it can use tools. */

let server: FaultServer;
let workers: WorkerConfig[];
let worker: WorkerConfig;

beforeAll(async () => {
  server = await FaultServer.start();
  workers = workersAt(server.url);
  worker = workers[1]!;
});
afterAll(() => server.stop());

async function tried(asked: WorkerConfig, ...script: Fault[]): Promise<TryResult> {
  server.script(...script);
  const { caller, keys, controller } = await setUp();
  return tryWorker(asked, { caller, keys, signal: controller.signal });
}

const COMMAND = '```read\nnotes.txt\n```';

describe.each(SERVER_PROVIDER_NAMES)('%s', (provider) => {
  test('a model that calls the tool has tools, and one call shows it', async () => {
    const asked = workers.find((one) => one.provider === provider)!;
    const call = { id: 'a', name: 'report_ready', pieces: ['{"word":', '"ready"}'] };
    const result = await tried(asked, faults.events(toolWires[provider].turn('', [call])));
    expect(result).toMatchObject({ ok: true, hands: 'tools', usage: { uncachedInput: 40, output: 14 } });
    expect(result.message).toMatch(/^Worker "ada" works \(served, \d+\.\d s\)\. It calls tools\.$/);
    // The second one asks what it sees in a picture.
    expect(server.requests).toHaveLength(2);
  });
});

test('a model that writes the command instead has fenced commands, and both calls are counted', async () => {
  const result = await tried(worker, faults.answer('ready'), faults.answer(`Here:\n\n${COMMAND}\n`));
  expect(result).toMatchObject({ ok: true, hands: 'fenced', usage: { uncachedInput: 60, output: 21 } });
  expect(server.requests.map(({ body }) => 'tools' in body)).toEqual([true, false, false]);
  expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([1_024, 1_024, 1_024]);
});

test('a model that does neither only answers', async () => {
  const result = await tried(worker, faults.answer('ready'));
  expect(result).toMatchObject({ ok: true, text: 'ready' });
  expect(result.hands).toBeUndefined();
  expect(result.message).toMatch(/^Worker "ada" works \(served, \d+\.\d s\)\.$/);
  expect(server.requests).toHaveLength(3);
});

test.each([
  ['a call whose arguments cannot be read', [{ id: 'a', name: 'report_ready', pieces: ['{"word"'] }]],
  ['a call of no tool there is', [{ id: 'a', name: 'ready', pieces: ['{}'] }]],
])('%s shows no tools', async (_name, called) => {
  const result = await tried(worker, faults.events(toolWires['openai-compatible'].turn('', called)), faults.answer('ready'));
  expect(result).toMatchObject({ ok: true });
  expect(result.hands).toBeUndefined();
});

test.each([
  ['````read\nnotes.txt\n````', 'fenced'], ['~~~read notes.txt\n~~~', 'fenced'], ['```read\nnotes.txt', 'fenced'],
  ['read notes.txt', undefined], ['```sh\nread notes.txt\n```', undefined], ['```read\nother.txt\n```', undefined],
] as const)('%j is %s', async (text, hands) => {
  expect((await tried(worker, faults.answer('ready'), faults.answer(text))).hands).toBe(hands);
});

test.each([
  ['400', faults.refuse(400, { error: { message: 'some-model does not support tools' } })],
  ['404', faults.refuse(404, { error: { message: 'No endpoints found that support tool use' } })],
  ['500', faults.refuse(500, { error: { message: 'tools param requires --jinja flag' } })],
])('a server that refuses tools with %s may still have a model that works', async (_status, refusal) => {
  expect(await tried(worker, refusal, faults.answer(COMMAND))).toMatchObject({ ok: true, hands: 'fenced', usage: { uncachedInput: 40, output: 14 } });
});

test('a failure of both is told in words', async () => {
  const result = await tried(worker, faults.refuse(500, {}));
  expect(result).toMatchObject({ ok: false, kind: 'server', text: '' });
  expect(result.message).toContain('failed');
  expect(server.requests).toHaveLength(2);
});

test.each([[401, 'authentication'], [402, 'payment'], [429, 'rate-limit']] as const)('%i has nothing to do with tools: it is asked once', async (status, kind) => {
  expect(await tried(worker, faults.refuse(status, {}))).toMatchObject({ ok: false, kind });
  expect(server.requests).toHaveLength(1);
});

test('a try that is cancelled in between is no success', async () => {
  server.script(faults.answer('ready'), faults.noHeaders);
  const { caller, keys, controller } = await setUp();
  const trying = tryWorker(worker, { caller, keys, signal: controller.signal });
  await expect.poll(() => server.requests.length).toBe(2);
  controller.abort();
  expect(await trying).toMatchObject({ ok: false, kind: 'cancelled' });
});

test('a model of VS Code is asked for a command alone', async () => {
  const { caller, keys, controller } = await setUp();
  const asked: string[] = [];
  const clientModel = ({ messages }: { messages: readonly { content: string }[] }) => {
    asked.push(messages[0]!.content);
    return Promise.resolve({ text: COMMAND, inputTokens: 5, outputTokens: 5 });
  };
  const result = await tryWorker(workerOf({ provider: 'vscode' }), { caller, keys, clientModel, signal: controller.signal });
  expect(result).toMatchObject({ ok: true, hands: 'fenced' });
  expect(asked).toHaveLength(1);
});

test('tools are refused to a model of VS Code, in words that help', async () => {
  const { caller, options } = await setUp();
  const clientModel = () => Promise.resolve({ text: 'no', inputTokens: 1, outputTokens: 1 });
  const tools = [{ name: 'read', description: 'Reads', parameters: {} }];
  const call = caller.call(workerOf({ provider: 'vscode' }), { messages: [{ role: 'user', content: 'Look.' }], tools }, { ...options, clientModel });
  await expect(call).rejects.toMatchObject({ kind: 'invalid-request', message: expect.stringContaining('"fenced"') as string });
});

test('a worker whose model is no server\'s cannot be set to tools', () => {
  const config = { id: 'a', provider: 'vscode', model: 'm' };
  expect(workerConfigSchema.safeParse({ ...config, hands: 'tools' }).error?.issues[0]?.path).toEqual(['hands']);
  expect(workerConfigSchema.safeParse({ ...config, hands: 'fenced' }).success).toBe(true);
  expect(workerConfigSchema.safeParse({ ...config, provider: 'openai', hands: 'tools' }).success).toBe(true);
});
