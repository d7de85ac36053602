import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../backend/protocol/client/backend-proof.ts';
import { NoBackendError, openClient } from '../../backend/protocol/client/open-client.ts';
import { PROTOCOL_VERSION } from '../../backend/protocol/version.ts';

const TOKEN = 'the-token-of-a-backend-that-was-killed-long-ago';

let stranger: WebSocketServer | undefined;
afterEach(() => {
  for (const socket of stranger?.clients ?? []) socket.terminate();
  stranger?.close();
});

/** Somebody on the record's port who asks whoever comes for a key, and adds headers to the answer to the upgrade. */
async function listen(headersFor: (request: IncomingMessage) => readonly string[]): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  stranger = server;
  server.on('headers', (headers, request) => headers.push(...headersFor(request)));
  server.on('connection', (socket) => {
    const ask = { jsonrpc: '2.0', id: 1, method: 'client/secret', params: { name: 'OPENAI_API_KEY' } };
    socket.send(JSON.stringify(ask));
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: unknown; method?: string };
      socket.send(JSON.stringify(ask));
      const health = { backendVersion: '1.0.0', node: 'v24.0.0', pid: 1, problems: [], sandbox: { available: true } };
      const result = { protocol: PROTOCOL_VERSION, health };
      if (method === 'initialize') socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function opened(port: number): Promise<{ error: unknown; asked: string[] }> {
  const asked: string[] = [];
  const error: unknown = await openClient(
    { port, token: TOKEN, pid: process.pid, version: '1.0.0', protocol: PROTOCOL_VERSION, startedAt: 0 },
    {
      client: { kind: 'test', version: '1.0.0' },
      capabilities: ['secret'],
      workspaces: [],
      handlers: {
        'client/secret': ({ name }) => {
          asked.push(name);
          return Promise.resolve({ value: 'sk-the-key' });
        },
      },
    },
  ).then((client) => client.close(), (reason: unknown) => reason);
  return { error, asked };
}

test.each<[string, (request: IncomingMessage) => string[]]>([
  ['shows nothing', () => []],
  ['repeats the challenge', ({ headers }) => [`${PROOF_HEADER}: ${String(headers[CHALLENGE_HEADER])}`]],
  ['shows a proof by another token', ({ headers }) => [`${PROOF_HEADER}: ${proofOf('another', String(headers[CHALLENGE_HEADER]))}`]],
  ['shows a proof that it has seen before', () => [`${PROOF_HEADER}: ${proofOf(TOKEN, 'an earlier challenge')}`]],
])('who listens on the port of a backend that is gone and %s is told nothing and asked nothing', async (_what, headersFor) => {
  const { error, asked } = await opened(await listen(headersFor));
  expect(error).toBeInstanceOf(NoBackendError);
  expect(asked).toEqual([]);
});

test('who knows the token is taken for the backend', async () => {
  const port = await listen(({ headers }) => [`${PROOF_HEADER}: ${proofOf(TOKEN, String(headers[CHALLENGE_HEADER]))}`]);
  expect((await opened(port)).error).toBeUndefined();
});
