import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../backend/protocol/client/backend-proof.ts';
import { backendEnvironment } from '../../backend/protocol/client/backend-process.ts';
import { writeRecord } from '../../backend/protocol/client/discovery.ts';
import { isOlder, stopBackend } from '../../backend/protocol/client/start-backend.ts';
import { PROTOCOL_VERSION } from '../../backend/protocol/version.ts';

// Starting, joining and replacing a backend is shown with real processes in test/server/backend-process.test.ts.

test.each([
  ['0.1.0', '0.2.0', true], ['0.9.0', '0.10.0', true], ['1.9.9', '2.0.0', true], ['1.0.0', '1.0.1', true],
  ['1.0.0', '1.0.0', false], ['0.10.0', '0.9.0', false], ['2.0.0', '1.9.9', false],
  ['1.0.0-beta', '1.0.0', false], ['1', '1.0.1', true], ['nonsense', '0.0.0', false],
])('version %s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});

test('the environment of a backend holds what was named, and no key', () => {
  const own = { PATH: '/bin', HOME: '/home/me', OPENAI_API_KEY: 'sk-1', NODE_OPTIONS: '-i', HTTPS_PROXY: 'http://proxy:1' };
  expect(backendEnvironment({ home: '/home/me/.conductor', nodeIsElectron: true, environment: { EXTRA: '1' } }, own)).toEqual({
    PATH: '/bin', HOME: '/home/me', HTTPS_PROXY: 'http://proxy:1', EXTRA: '1',
    CONDUCTOR_HOME: '/home/me/.conductor', ELECTRON_RUN_AS_NODE: '1',
  });
  expect(backendEnvironment({ home: '/h' }, {})).toEqual({ CONDUCTOR_HOME: '/h' });
});

test('a backend that refuses to stop keeps no connection of who asked, which would keep that process alive', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-stop-'));
  const token = 'x'.repeat(32);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('headers', (headers, request) => {
    headers.push(`${PROOF_HEADER}: ${proofOf(token, String(request.headers[CHALLENGE_HEADER]))}`);
  });
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await writeRecord(home, { port, pid: process.pid, version: '0.0.1', protocol: PROTOCOL_VERSION, token, startedAt: 0 });
    const closed = once(server, 'connection').then(async ([socket]) => {
      const peer = socket as WebSocket;
      peer.on('message', (data: Buffer) => {
        const { id } = JSON.parse(data.toString()) as { id: number };
        peer.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_004, message: 'A run is under way.', data: { kind: 'needed' } } }));
      });
      await once(peer, 'close');
    });
    await expect(stopBackend(home, { ifIdle: true })).rejects.toThrow('A run is under way.');
    await closed;
  } finally {
    server.close();
    await rm(home, { recursive: true, force: true });
  }
});
