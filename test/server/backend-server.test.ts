import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../backend/protocol/methods.ts';
import { PROTOCOL_VERSION } from '../../backend/protocol/version.ts';
import { serve, TOKEN, type Serving } from './support/serving.ts';
import { Refused } from './support/raw-client.ts';

let serving: Serving;
beforeEach(async () => { serving = await serve(); });
afterEach(() => serving.close());

/** Nothing was started, and a client that was there before is served as before. */
async function nothingChanged(witness: Awaited<ReturnType<Serving['open']>>): Promise<void> {
  expect(serving.runs.started).toEqual([]);
  expect(existsSync(serving.workersFile)).toBe(false);
  expect(await witness.request('backend/health', {})).toMatchObject({ backendVersion: '1.0.0' });
}

describe('who may connect', () => {
  const bearer = { authorization: `Bearer ${TOKEN}` };
  test.each([
    ['no token', {}, 401, /token is missing or wrong/],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401, /token is missing or wrong/],
    ['a token that only begins right', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401, /token is missing or wrong/],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, 401, /token is missing or wrong/],
    ['a web page, even with the token', { ...bearer, origin: 'http://127.0.0.1' }, 403, /Web pages cannot connect/],
    ['a page of the opaque origin', { ...bearer, origin: 'null' }, 403, /Web pages cannot connect/],
    ['a name that was pointed here', { ...bearer, host: 'evil.example:80' }, 403, /127\.0\.0\.1 only/],
    ['a name that begins like ours', { ...bearer, host: '127.0.0.1.evil.example' }, 403, /127\.0\.0\.1 only/],
  ])('%s is refused with a sentence', async (_who, headers, status, sentence) => {
    const witness = await serving.open();
    const refused = await serving.raw(headers).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refused);
    expect(refused).toMatchObject({ status, message: expect.stringMatching(sentence) });
    expect(serving.clients.size).toBe(1);
    await nothingChanged(witness);
  });

  test('a request that is no upgrade gets 404 and says what this is', async () => {
    const { status, body } = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      request({ port: serving.port, host: '127.0.0.1', path: '/v1/models', headers: bearer }, (response) => {
        let text = '';
        response.on('data', (chunk) => { text += String(chunk); });
        response.on('end', () => resolve({ status: response.statusCode, body: text }));
      }).on('error', reject).end();
    });
    expect(status).toBe(404);
    expect(JSON.parse(body)).toEqual({ error: expect.stringContaining('Conductor backend') });
  });

  /** What a peer may begin with and never end. The last two keep their own side open after the answer. */
  const HALVES = {
    nothing: '',
    'a request line': 'GET / HT',
    headers: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n',
    'an upgrade': 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n',
    'a body': 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"half": ',
    'an upgrade without a token': `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  };
  const half = (text: string): Socket => {
    const peer = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
    peer.on('error', () => undefined).resume();
    if (text !== '') peer.write(text);
    return peer;
  };
  /** How many connections the backend holds open, whatever its peers do. */
  const held = (): Promise<number> => serving.server.connections();

  test('300 connections that say half of what they want are closed in bounded time, and a client is served among them', { timeout: 60_000 }, async () => {
    const halves = Object.values(HALVES);
    const peers = Array.from({ length: 300 }, (_, index) => half(halves[index % halves.length] as string));
    const witness = await serving.open();
    await nothingChanged(witness);
    await vi.waitFor(async () => expect(await held()).toBe(1), { timeout: 30_000, interval: 200 });
    await nothingChanged(witness);
    for (const peer of peers) peer.destroy();
  });

  test('clients are served while somebody opens a new connection for each that is closed', { timeout: 60_000 }, async () => {
    const peers = new Set<Socket>();
    let isOver = false;
    const open = (text: string): void => {
      const peer = half(text);
      peers.add(peer);
      const again = (): void => {
        if (!peers.delete(peer) || isOver) return;
        peer.destroy();
        setImmediate(open, text);
      };
      peer.once('end', again).once('close', again);
    };
    const halves = Object.values(HALVES);
    for (let index = 0; index < 300; index += 1) open(halves[index % halves.length] as string);
    try {
      for (let clients = 0; clients < 10; clients += 1) {
        const client = await serving.open();
        expect(await client.request('backend/health', {})).toMatchObject({ backendVersion: '1.0.0' });
        expect(await held()).toBeLessThan(200);
      }
    } finally {
      isOver = true;
      for (const peer of peers) peer.destroy();
    }
  });

  test('who is refused and never hangs up holds no connection open, and the backend can end', async () => {
    const peer = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
    const ended = once(peer, 'end');
    peer.on('data', () => undefined);
    peer.write([
      'GET / HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`, '', '',
    ].join('\r\n'));
    await ended;
    // This end stays open: whoever waits for it would wait for ever.
    await serving.server.close();
    peer.destroy();
  });

  test('it listens on 127.0.0.1 alone', async () => {
    await expect(new Promise((resolve, reject) => {
      request({ port: serving.port, host: '127.0.0.2' }, resolve).on('error', reject).end();
    })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the handshake', () => {
  test('initialize answers with the protocol and the health', async () => {
    const client = await serving.raw();
    const { result } = await client.initialize();
    expect(result).toMatchObject({ protocol: PROTOCOL_VERSION, health: { backendVersion: '1.0.0' } });
    expect(serving.clients.size).toBe(1);
  });

  const early = ['run/start', 'backend/health', 'pool/get', 'no/such'];
  test.each(early)('%s before initialize is refused with -32002', async (method) => {
    const client = await serving.raw();
    const { error } = await client.request(1, method, { request: { question: 'Why?' } });
    expect(error).toMatchObject({ code: -32_002, message: expect.stringContaining('"initialize"') });
    expect(serving.runs.started).toEqual([]);
    expect(serving.clients.size).toBe(0);
  });

  test.each([
    [{ major: 0, minor: 9 }, /update the extension or command line/],
    [{ major: 99, minor: 0 }, /update the running backend/],
  ])('protocol %j is refused, says what to update, and is no client', async (protocol, sentence) => {
    const client = await serving.raw();
    expect((await client.initialize(protocol)).error).toMatchObject({ code: -32_001, message: expect.stringMatching(sentence) });
    expect(serving.clients.size).toBe(0);
    expect((await client.request(1, 'pool/get', {})).error).toMatchObject({ code: -32_002 });
  });

  test('a newer minor version is welcome', async () => {
    const client = await serving.raw();
    expect((await client.initialize({ major: PROTOCOL_VERSION.major, minor: 7 })).error).toBeUndefined();
  });

  test('a second initialize is refused and the connection stays', async () => {
    const client = await serving.raw();
    await client.initialize();
    expect((await client.initialize()).error).toMatchObject({ code: -32_004 });
    expect((await client.request(2, 'pool/get', {})).error).toBeUndefined();
    expect(serving.clients.size).toBe(1);
  });

  test('a connection that never initializes is closed', async () => {
    const impatient = await serve({ limits: { initializeTimeoutMs: 1 } });
    const client = await impatient.raw();
    expect(await client.closed).toEqual({ code: 1008, reason: expect.stringContaining('initialize') });
    await impatient.close();
  });

  test('a client that could not shake hands may still end the backend', async () => {
    const client = await serving.raw();
    await client.initialize({ major: 99, minor: 0 });
    expect((await client.request(1, 'backend/stop', { ifIdle: true })).error).toBeUndefined();
    await serving.stopped;
  });
});

describe('bad messages', () => {
  test.each([
    ['text that is not JSON', '{"jsonrpc": "2.0", "id": 1,', -32_700, /not JSON/],
    ['nothing', '', -32_700, /not JSON/],
    ['a number', '42', -32_600, /not a JSON-RPC/],
    ['null', 'null', -32_600, /not a JSON-RPC/],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"pool/get"}]', -32_600, /not a JSON-RPC/],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"pool/get"}', -32_600, /not a JSON-RPC/],
    ['a request whose id is null', '{"jsonrpc":"2.0","id":null,"method":"pool/get"}', -32_600, /not a JSON-RPC/],
    ['parameters by position', '{"jsonrpc":"2.0","id":1,"method":"run/start","params":[{}]}', -32_600, /named parameters/],
    ['a cancellation of nothing', '{"jsonrpc":"2.0","method":"$/cancelRequest"}', -32_600, /not a JSON-RPC/],
    ['a cancellation of null', '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}', -32_600, /not a JSON-RPC/],
    ['a message of the library for itself', '{"jsonrpc":"2.0","method":"$/progress"}', -32_600, /not a JSON-RPC/],
    ['a response without result', '{"jsonrpc":"2.0","id":1}', -32_600, /not a JSON-RPC/],
  ])('%s gets a clear error and changes nothing', async (_what, text, code, sentence) => {
    const witness = await serving.open();
    const client = await serving.raw();
    await client.initialize();
    const answer = await client.ask(text);
    expect(answer).toMatchObject({ id: null, error: { code, message: expect.stringMatching(sentence) } });
    expect((await client.request(7, 'pool/get', {})).id).toBe(7);
    await nothingChanged(witness);
  });

  const unknown = ['no/such', 'constructor', '__proto__', 'toString', 'client/secret'];
  test.each(unknown)('the unknown method %s gets -32601', async (method) => {
    const client = await serving.raw();
    await client.initialize();
    const { error } = await client.request(1, method, {});
    expect(error).toEqual({
      code: -32_601, message: `There is no method "${method}" at this end.`, data: { kind: 'method-not-found' },
    });
  });

  test.each([
    ['run/start', { request: { question: 'Why?', rounds: 0 } }, /^run\/start was refused: request\.rounds: /],
    ['run/start', {}, /^run\/start was refused: request: /],
    ['run/start', undefined, /^run\/start was refused: request: /],
    ['run/get', { runId: '' }, /^run\/get was refused: runId: /],
    ['run/retry', { runId: 'r', round: 0 }, /^run\/retry was refused: step: /],
    ['run/retry', { runId: 'r', round: 0, step: -1 }, /^run\/retry was refused: step: /],
    ['run/stopStep', { runId: 'r', round: 0 }, /^run\/stopStep was refused: step: /],
    ['run/tellStep', { runId: 'r', round: 0, step: 0, text: ' \n' }, /^run\/tellStep was refused: text: /],
    ['run/tellStep', { runId: 'r', round: 0, step: 0, text: 'x'.repeat(8_001) }, /^run\/tellStep was refused: text: /],
    ['run/stepEdits', { runId: 'r', round: -1, step: 0 }, /^run\/stepEdits was refused: round: /],
    ['run/again', { runId: 'r', workers: [] }, /^run\/again was refused: workers: /],
    ['run/export', { runId: 'r', format: 'pdf' }, /^run\/export was refused: format: /],
    ['run/list', { limit: 100_000 }, /^run\/list was refused: limit: /],
    ['worker/save', { worker: { id: 'a b', provider: 'openai', model: 'm' } }, /^worker\/save was refused: worker\.id: a worker/],
  ])('%s with %j names the method and the field', async (method, params, sentence) => {
    const witness = await serving.open();
    const client = await serving.raw();
    await client.initialize();
    expect((await client.request(1, method, params)).error)
      .toMatchObject({ code: -32_602, message: expect.stringMatching(sentence), data: { kind: 'invalid-params' } });
    await nothingChanged(witness);
  });

  test('an oversized message ends its own connection, with the reason, and no other', async () => {
    const witness = await serving.open();
    const client = await serving.raw();
    await client.initialize();
    const question = 'x'.repeat(MAX_MESSAGE_BYTES);
    client.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'run/start', params: { request: { question } } }));
    expect(await client.closed).toEqual({ code: 1009, reason: 'A message may hold at most 12 MiB.' });
    await nothingChanged(witness);
  });

  test('a message of just the allowed size is read', async () => {
    const client = await serving.raw();
    await client.initialize();
    const message = (padding: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'pool/get', params: { padding } });
    const { result } = await client.ask(message('x'.repeat(MAX_MESSAGE_BYTES - message('').length)));
    expect(result).toMatchObject({ workers: [] });
  });

  test('a binary frame ends its own connection, with the reason, and no other', async () => {
    const witness = await serving.open();
    const client = await serving.raw();
    await client.initialize();
    client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"run/start","params":{"request":{"question":"Why?"}}}'));
    expect(await client.closed).toEqual({ code: 1003, reason: expect.stringContaining('Binary frames are refused') });
    await nothingChanged(witness);
  });

  test('a notification that is not valid is ignored and logged', async () => {
    const client = await serving.raw();
    await client.initialize();
    client.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'client/secretChanged', params: { name: 7 } }));
    client.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'hasOwnProperty', params: {} }));
    await client.request(1, 'pool/get', {});
    expect(serving.log).toEqual([
      expect.stringContaining('client/secretChanged was ignored: name:'),
      expect.stringContaining('unknown notification "hasOwnProperty"'),
    ]);
  });
});

describe('errors of handlers', () => {
  test('a run that does not exist is named, with its own code', async () => {
    const client = await serving.raw();
    await client.initialize();
    expect((await client.request(1, 'run/get', { runId: 'none' })).error)
      .toEqual({ code: -32_003, message: expect.stringContaining('There is no run "none"'), data: { kind: 'run-not-found' } });
  });

  test('a fault tells the client nothing of its inside, and the log everything', async () => {
    const client = await serving.raw();
    await client.initialize();
    const { error } = await client.request(1, 'worker/try', { worker: { id: 'a', provider: 'openai', model: 'm' } });
    expect(error).toMatchObject({ code: -32_603, data: { kind: 'internal' } });
    expect(JSON.stringify(error)).not.toMatch(/secret detail|\.ts:/);
    expect(serving.log.join('\n')).toMatch(/worker\/try failed: Error: secret detail of a fault\n +at /);
  });
});

describe('cancelling', () => {
  test('a cancelled request reaches the handler as its signal, and the caller hears at once', async () => {
    const client = await serving.open();
    const entered = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    serving.runs.preview = (signal) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { aborted.resolve(); reject(signal.reason as Error); });
      entered.resolve();
    });
    const controller = new AbortController();
    const answer = client.request('context/preview', { request: { question: 'Why?' } }, controller.signal);
    await entered.promise;
    controller.abort(new Error('changed my mind'));
    await expect(answer).rejects.toThrow('changed my mind');
    await aborted.promise;
    expect(await client.request('backend/health', {})).toMatchObject({ pid: 1 });
  });

  test('a client that leaves takes its requests with it', async () => {
    const client = await serving.open();
    const entered = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    serving.runs.preview = (signal) => new Promise(() => {
      signal.addEventListener('abort', () => aborted.resolve());
      entered.resolve();
    });
    const answer = client.request('context/preview', { request: { question: 'Why?' } });
    await entered.promise;
    client.close();
    await expect(answer).rejects.toMatchObject({ kind: 'disconnected' });
    await aborted.promise;
  });
});

describe('a client that does not keep up', () => {
  const text = (offset: number, length: number) =>
    ({ runId: 'r', round: 0, purpose: { kind: 'plan' }, attemptId: 'a', offset, text: 'x'.repeat(length) }) as const;

  test('is spared streamed text, and gets every event once it reads again', async () => {
    const small = await serve({ limits: { textBufferBytes: 64 * 1024 } });
    small.runs.begin('r');
    const client = await small.raw();
    await client.initialize();
    await client.request(1, 'run/subscribe', { runId: 'r' });
    client.socket.pause();
    // The kernel's buffers take some of it; far more than they hold is offered.
    const pieces = 400;
    for (let index = 0; index < pieces; index += 1) small.runs.say(text(index, 256 * 1024));
    small.runs.emit('r', { type: 'run.cancelled' });
    client.socket.resume();
    let texts = 0;
    for (;;) {
      const { method, params } = await client.next();
      if (method === 'run/event') {
        expect(params).toMatchObject({ seq: 2, event: { type: 'run.cancelled' } });
        break;
      }
      texts += 1;
    }
    expect(texts).toBeGreaterThan(0);
    expect(texts).toBeLessThan(pieces / 2);
    await small.close();
  });

  test('is cut off at the bound, and others are not', async () => {
    const small = await serve({ limits: { maxBufferedBytes: 1024 * 1024 } });
    small.runs.begin('r');
    const witness = await small.open();
    const client = await small.raw();
    await client.initialize();
    await client.request(1, 'run/subscribe', { runId: 'r' });
    client.socket.pause();
    const cutOff = new Promise<void>((resolve) => {
      const stop = small.clients.onCountChanged(() => { stop(); resolve(); });
    });
    let offered = 0;
    while (small.runs.listenerCount > 1 && offered < 200) {
      small.runs.emit('r', { type: 'run.waiting', for: 'secret', message: 'x'.repeat(256 * 1024) });
      offered += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await cutOff;
    expect(small.clients.size).toBe(1);
    expect(offered).toBeLessThan(200);
    expect(await witness.request('backend/health', {})).toMatchObject({ pid: 1 });
    await small.close();
  });
});

test('closing tells every client why', async () => {
  const client = await serving.open();
  await serving.server.close('The backend was asked to end.');
  expect(await client.closed).toBe('The backend was asked to end.');
});
