import 'vscode-jsonrpc/node';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { RequestError } from '../../backend/protocol/request-error.ts';
import { closeReason } from '../../backend/protocol/socket-connection.ts';
import {
  backendContract, clientContract, TypedConnection, type ConnectionOptions,
} from '../../backend/protocol/typed-connection.ts';

/*
 * The two ends on a real socket, without a server around them.
 */

let server: WebSocketServer;
let client: TypedConnection<typeof clientContract>;
let backend: TypedConnection<typeof backendContract>;
let backendSocket: WebSocket;
const problems: string[] = [];

const limits: ConnectionOptions = { maxMessageBytes: 100_000, maxBufferedBytes: 10_000_000 };
const health = { backendVersion: '1', node: 'v24', pid: 1, problems: [], sandbox: { available: true } };

beforeEach(async () => {
  problems.length = 0;
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
  const connected = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client = new TypedConnection(socket, clientContract, { ...limits, onProblem: (problem) => problems.push(problem) });
  backendSocket = await connected;
  backend = new TypedConnection(backendSocket, backendContract, limits);
  if (socket.readyState !== WebSocket.OPEN) await new Promise((resolve) => socket.once('open', resolve));
});
afterEach(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

describe('requests', () => {
  test('both ends may ask', async () => {
    backend.handle('backend/health', () => health);
    client.handle('client/secret', ({ name }) => ({ value: `value of ${name}` }));
    expect(await client.request('backend/health', {})).toEqual(health);
    expect(await backend.request('client/secret', { name: 'KEY' })).toEqual({ value: 'value of KEY' });
  });

  test('the handler gets what the schema makes of the parameters', async () => {
    const seen: unknown[] = [];
    backend.handle('run/list', (params) => { seen.push(params); return { runs: [] }; });
    await client.request('run/list', {});
    expect(seen).toEqual([{ limit: 50 }]);
  });

  test('a result that is not as agreed is refused by the one who asked', async () => {
    backend.handle('backend/health', () => ({ ...health, pid: 'one' }) as never);
    await expect(client.request('backend/health', {})).rejects.toMatchObject({
      name: 'RequestError', kind: 'invalid-result',
      message: expect.stringMatching(/^The answer to backend\/health is not valid: pid: /),
    });
  });

  test('a RequestError of a handler arrives whole; any other error arrives without its text', async () => {
    const refusal = new RequestError({ code: -32_003, kind: 'run-not-found', message: 'There is no run "r".' });
    backend.handle('run/get', () => { throw refusal; });
    backend.handle('run/cancel', () => { throw new Error('password is hunter2'); });
    await expect(client.request('run/get', { runId: 'r' })).rejects.toEqual(refusal);
    const fault = await client.request('run/cancel', { runId: 'r' }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: -32_603, kind: 'internal' });
    expect(String((fault as Error).message)).not.toContain('hunter2');
  });

  test('a message that is too large is not sent, and the connection stays', async () => {
    backend.handle('backend/health', () => health);
    backend.handle('run/list', () => ({ runs: [] }));
    await expect(client.request('run/list', { workspace: 'ü'.repeat(60_000) })).rejects.toMatchObject({
      kind: 'not-sent', message: expect.stringContaining('larger than'),
    });
    expect(await client.request('run/list', { workspace: 'u'.repeat(60_000) })).toEqual({ runs: [] });
  });

  test('what runs after the reply runs after the reply, whatever the handler sent before', async () => {
    const order: string[] = [];
    backend.handle('run/unsubscribe', (_params, { afterReply }) => {
      afterReply(() => backend.notify('run/text', text('after')));
      backend.notify('run/text', text('before'));
      return {};
    });
    const arrived = Promise.withResolvers<void>();
    client.on('run/text', ({ text: said }) => {
      order.push(said);
      if (said === 'after') arrived.resolve();
    });
    await client.request('run/unsubscribe', { runId: 'r' });
    order.push('reply');
    await arrived.promise;
    expect(order).toEqual(['before', 'reply', 'after']);
  });
});

describe('cancelling', () => {
  test('an aborted signal sends nothing', async () => {
    let called = false;
    backend.handle('backend/health', () => { called = true; return health; });
    await expect(client.request('backend/health', {}, AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
    backend.handle('run/list', () => ({ runs: [] }));
    await client.request('run/list', {});
    expect(called).toBe(false);
  });

  test('a request that was cancelled before its handler began begins with an aborted signal', async () => {
    const states: boolean[] = [];
    backend.handle('backend/health', (_params, { signal }) => { states.push(signal.aborted); return health; });
    // In one packet, so that the library has both before it dispatches the first.
    const controller = new AbortController();
    const answer = client.request('backend/health', {}, controller.signal);
    controller.abort(new Error('never mind'));
    await expect(answer).rejects.toThrow('never mind');
    await client.request('backend/health', {});
    expect(states.at(-1)).toBe(false);
    expect(states).toHaveLength(2);
  });
});

describe('closing', () => {
  test('pending requests of both ends end with the reason, and so does whoever asks later', async () => {
    backend.handle('backend/health', () => new Promise(() => {}));
    client.handle('client/secret', () => new Promise(() => {}));
    const pending = [client.request('backend/health', {}), backend.request('client/secret', { name: 'KEY' })];
    backend.close('That is all.');
    for (const ended of await Promise.allSettled(pending)) {
      expect(ended).toMatchObject({ reason: { kind: 'disconnected', message: expect.stringContaining('That is all.') } });
    }
    expect(await client.closed).toBe('That is all.');
    await expect(client.request('backend/health', {})).rejects.toMatchObject({ kind: 'disconnected' });
    client.notify('client/secretChanged', { name: 'KEY' });
  });

  test('a connection that is cut says that it was lost', async () => {
    backendSocket.terminate();
    expect(await client.closed).toBe('The connection was lost.');
  });

  test('a reason of any length fits', () => {
    const reason = closeReason('Ein sehr langer Grund mit Umlauten: ' + 'ä'.repeat(100));
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(reason).toMatch(/ä…$/);
    expect(closeReason('short')).toBe('short');
  });
});

describe('notifications', () => {
  test('reach every listener that is still there', async () => {
    const heard: string[] = [];
    const off = client.on('run/text', () => heard.push('first'));
    client.on('run/text', () => heard.push('second'));
    backend.handle('backend/health', () => health);
    backend.notify('run/text', text('a'));
    await client.request('backend/health', {});
    off();
    backend.notify('run/text', text('b'));
    await client.request('backend/health', {});
    expect(heard).toEqual(['first', 'second', 'second']);
  });

  test('that are not valid, and listeners that throw, are a problem for the log alone', async () => {
    backend.handle('backend/health', () => health);
    client.on('run/text', () => { throw new Error('listener broke'); });
    backend.notify('run/text', { ...text('a'), offset: -1 });
    backend.notify('run/text', text('b'));
    await client.request('backend/health', {});
    expect(problems).toEqual([
      expect.stringMatching(/run\/text was ignored: offset: /), 'The notification run/text was ignored: listener broke',
    ]);
  });
});

function text(said: string) {
  return { runId: 'r', round: 0, purpose: { kind: 'plan' }, attemptId: 'a', offset: 0, text: said } as const;
}
