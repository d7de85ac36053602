import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PATIENTLY, trySandbox } from '../setup.ts';
import { has, makeSurroundings, node, python } from './setup.ts';

const { available, note } = await trySandbox();

/** A server of this machine that counts who has come: over TCP, UDP and Unix sockets, with a name in the file system and without. */
async function listening(folder: string): Promise<{ port: number; udpPort: number; socket: string; abstract: string; visits: () => number }> {
  let visits = 0;
  const answer = 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
  const abstract = `\0conductor-escape-${process.pid}`;
  const socket = path.join(folder, 'socket');
  const servers = ['127.0.0.1', socket, abstract].map((where) => {
    const server = createServer((connection) => {
      visits += 1;
      connection.on('error', () => undefined).end(answer);
    });
    onTestFinished(() => void server.close());
    return new Promise<AddressInfo | string | null>((resolve) => {
      if (where === '127.0.0.1') server.listen(0, where, () => resolve(server.address()));
      else server.listen(where, () => resolve(where));
    });
  });
  const [tcp] = await Promise.all(servers);
  const udp = createSocket('udp4', () => (visits += 1));
  onTestFinished(() => void udp.close());
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  return { port: (tcp as AddressInfo).port, udpPort: udp.address().port, socket, abstract, visits: () => visits };
}

const TRIES = [
  ['curl', 'curl -s --max-time 5 http://127.0.0.1:$PORT/'],
  ['curl', 'curl -sk --max-time 5 https://127.0.0.1:$PORT/'],
  ['wget', 'wget -q --timeout=5 --tries=1 -O - http://127.0.0.1:$PORT/'],
  ['bash', `bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; cat <&3'`],
  ['bash', `bash -c 'echo x > /dev/udp/127.0.0.1/$UDP_PORT'`],
  ['nc', 'nc -w 5 127.0.0.1 $PORT < /dev/null'],
  ['socat', 'socat -T 5 - TCP:127.0.0.1:$PORT < /dev/null'],
  ['git', 'timeout 5 git ls-remote git://127.0.0.1:$PORT/x'],
  ['ssh', 'ssh -o ConnectTimeout=5 -o StrictHostKeyChecking=no -p $PORT 127.0.0.1 true'],
  ['pwsh', 'pwsh -c "Invoke-WebRequest http://127.0.0.1:$PORT/"'],
  ['node', node(`fetch('http://127.0.0.1:' + process.env.PORT).catch(() => undefined)`)],
  ['node', node(`require('node:dgram').createSocket('udp4').send('x', process.env.UDP_PORT, '127.0.0.1', () => process.exit())`)],
  ['python3', python('import os, socket', 's = socket.create_connection(("127.0.0.1", int(os.environ["PORT"])))', 's.recv(1)')],
  ['node', node(`require('node:net').connect(process.env.SOCKET).on('error', () => undefined)`)],
  ['node', node(`require('node:net').connect('\\0' + process.env.ABSTRACT).on('error', () => undefined)`)],
  ['curl', 'curl -s --max-time 5 --unix-socket "$SOCKET" http://localhost/'],
  ['socat', 'socat -T 5 - "UNIX-CONNECT:$SOCKET" < /dev/null'],
] as const;

describe.skipIf(!available)(`a command does not reach a server of this machine (${note})`, { timeout: 60_000 }, () => {
  for (const [program, attempt] of TRIES) {
    const isHere = has(program);
    it.runIf(isHere)(`with ${attempt.slice(0, 100)}${isHere ? '' : ` (not tried, no ${program} here)`}`, async () => {
      await using around = await makeSurroundings();
      const { port, udpPort, socket, abstract, visits } = await listening(around.outside);
      const environment = { PORT: String(port), UDP_PORT: String(udpPort), SOCKET: socket, ABSTRACT: abstract.slice(1) };
      await around.run(attempt, { environment });
      expect(visits()).toBe(0);
      await around.run(attempt, { environment, sandboxed: false });
      await expect.poll(visits, PATIENTLY).toBeGreaterThan(0);
    });
  }
});

describe.skipIf(!available)(`the network of a command (${note})`, { timeout: 60_000 }, () => {
  it('is its own loopback and nothing else, whose interfaces it cannot change', async () => {
    await using around = await makeSurroundings();
    const { stdout } = await around.run(
      `${node(`console.log(Object.keys(require('node:os').networkInterfaces()).join())`)}; tail -n +2 /proc/net/route; ip link add name dummy0 type dummy && echo made`,
    );
    expect(stdout).toBe('lo\n');
  });

  it('resolves no names but its own', async () => {
    await using around = await makeSurroundings();
    const lookup = node(`require('node:dns').lookup('conductor.invalid', (error) => console.log(error.code));
      require('node:dns').lookup('localhost', (error, address) => console.log(error ? error.code : 'found'))`);
    expect((await around.run(lookup)).stdout.trim().split('\n').sort()).toEqual([expect.stringMatching(/^E/), 'found']);
  });

  it.runIf(has('python3'))('has no raw, packet, virtual machine or kernel sockets', async () => {
    await using around = await makeSurroundings();
    const attempt = python(
      'import socket',
      'for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (10, 3, 58), (17, 3, 0x300), (40, 1, 0), (38, 5, 0), (31, 1, 3), (1, 1, 0), (1, 2, 0)):',
      '    try: socket.socket(family, kind, protocol); print("made", family)',
      '    except OSError as error: pass',
      'a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(4).decode())',
    );
    expect((await around.run(attempt)).stdout).toBe('pair\n');
  });

  it.runIf(has('ping'))('answers no ping from outside', async () => {
    await using around = await makeSurroundings();
    expect((await around.run('ping -c 1 -W 1 192.0.2.1 > /dev/null 2>&1 && echo reached')).stdout).toBe('');
  });

  it('does not lead to the sockets of services', async () => {
    await using around = await makeSurroundings();
    const { stdout } = await around.run('ls -A /run /var/run/ /tmp | grep -v ":$"; ls /run/docker.sock /var/run/docker.sock 2>/dev/null');
    expect(stdout.replaceAll(/^(?:|[\w-]*verify-test.*|current-system|wrappers)\n/gm, '')).toBe('');
    expect(existsSync('/run')).toBe(true);
    await rm(path.join(around.outside, 'socket'), { force: true });
  });
});
