import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVER_PROVIDER_NAMES } from '../../backend/protocol/providers.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { WorkerError } from '../../backend/workers/errors.ts';
import type { ConversationMessage, Tool } from '../../backend/workers/model.ts';
import { FaultServer, faults, type Fault } from './fault-server.ts';
import { KEY, rejection, setUp, workersAt } from './harness.ts';
import { toolWires } from './tool-wires.ts';

/* What a call does when a server goes wrong while its model calls tools. */

let server: FaultServer;
let workers: WorkerConfig[];

beforeAll(async () => {
  server = await FaultServer.start();
  workers = workersAt(server.url);
});
afterAll(() => server.stop());

const EDIT: Tool = { name: 'edit', description: 'Changes a file', parameters: { type: 'object', properties: {} } };
const REQUEST = { messages: [{ role: 'user', content: 'Mend the fox' }] as readonly ConversationMessage[], tools: [EDIT] };
const WRITTEN = `{"text":"${'x'.repeat(3_000)}`;

describe.each(SERVER_PROVIDER_NAMES)('%s', (provider) => {
  const wire = toolWires[provider];
  const worker = () => workers.find((one) => one.provider === provider)!;

  async function failure(fault: Fault, fields: Partial<WorkerConfig> = {}) {
    server.script(fault);
    const { caller, options, books } = await setUp();
    const error = (await rejection(caller.call({ ...worker(), ...fields }, REQUEST, options))) as WorkerError;
    expect(books.open.size).toBe(0);
    return { error, usage: books.failures[0]!.spent.usage };
  }

  test('a call that never ends is given up after the silence, and its arguments are counted', async () => {
    const { error, usage } = await failure(faults.stallAfter(wire.begun('edit', WRITTEN)), { idleTimeoutMs: 150 });
    expect(error.kind).toBe('idle-timeout');
    expect(server.requests).toHaveLength(2);
    expect(usage).toMatchObject({ estimated: true });
    expect(usage.output).toBeGreaterThan(1_000);
  });

  test('a stream that ends within a call is no reply', async () => {
    const { error, usage } = await failure(faults.events(wire.begun('edit', WRITTEN)));
    expect(error.kind).toBe('incomplete');
    expect(usage.output).toBeGreaterThan(1_000);
  });

  test('arguments of megabytes are broken off', async () => {
    const { error } = await failure(faults.endlessly(wire.begun('edit', '{"text":"'), wire.more('x'.repeat(10_000))));
    expect(error.kind).toBe('too-large');
    expect(server.requests).toHaveLength(1);
  });

  const calls = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `call_${index}`, name: 'edit', pieces: ['{}'] }));

  test('200 calls in a turn are 200 calls', async () => {
    server.script(faults.events(wire.turn('', calls(200))));
    const { caller, options } = await setUp();
    const { reply } = await caller.call(worker(), REQUEST, options);
    expect(new Set(reply.toolCalls?.map(({ id }) => id)).size).toBe(200);
  });

  test('more than 256 are broken off', async () => {
    const { error } = await failure(faults.events(wire.turn('', calls(257))));
    expect(error.kind).toBe('too-large');
    expect(error.message).toContain('256 tools');
  });

  test('a refusal that repeats the key or what a call wrote does not quote them', async () => {
    server.script(faults.refuse(400, { error: { message: `cannot parse ${KEY}: the garden of the quiet fox is closed` } }));
    const { caller, options } = await setUp();
    const toolCalls = [{ id: 'a', name: 'edit', arguments: '{"text":"the garden of the quiet fox is closed"}' }];
    const messages: ConversationMessage[] = [...REQUEST.messages, { role: 'assistant', content: '', toolCalls }, { role: 'tool', callId: 'a', content: 'done' }];
    const { message } = (await rejection(caller.call(worker(), { ...REQUEST, messages }, options))) as WorkerError;
    expect(message).not.toContain('fox');
    expect(message).not.toContain(KEY);
  });

  test('tools, calls and results count in what is reserved', async () => {
    server.script(faults.answer('fine'));
    const reserved = async (request: typeof REQUEST) => {
      const { caller, options } = await setUp();
      const { attempt } = await caller.call(worker(), request, options);
      return attempt.reserved.tokens;
    };
    const toolCalls = [{ id: 'a', name: 'edit', arguments: `{"text":"${'x'.repeat(3_000)}"}` }];
    const called: ConversationMessage = { role: 'assistant', content: '', toolCalls };
    const result: ConversationMessage = { role: 'tool', callId: 'a', content: 'y'.repeat(3_000) };
    const verbatim = { by: 'somebody', items: [{ type: 'thinking', thinking: 'z'.repeat(6_000) }] };
    const plain = await reserved({ ...REQUEST, tools: [] });
    const withTools = await reserved({ ...REQUEST, tools: [{ ...EDIT, description: 'x'.repeat(3_000) }] });
    const withCall = await reserved({ ...REQUEST, tools: [], messages: [...REQUEST.messages, called, result] });
    const withThoughts = await reserved({ ...REQUEST, tools: [], messages: [...REQUEST.messages, { ...called, verbatim }, result] });
    expect(withTools - plain).toBeGreaterThan(1_000);
    expect(withCall - plain).toBeGreaterThan(2_000);
    expect(withThoughts - withCall).toBeGreaterThan(900);
  });
});
