import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { agentRunner } from '../../backend/wiring/agents.ts';
import { AcpAdapter } from '../../backend/workers/adapters/acp/acp-adapter.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { makeScratch, trySandbox, type Scratch } from '../verify/setup.ts';
import { workerOf } from '../workers/harness.ts';

/* A simulated agent in the real sandbox, with its network, its home and its limits. */

const FAKE = fileURLToPath(new URL('../workers/acp/fake-agent.ts', import.meta.url));
const { available, note } = await trySandbox();
const made: Scratch[] = [];
afterAll(() => Promise.all(made.map((scratch) => scratch[Symbol.asyncDispose]())));

interface Place {
  readonly scratch: Scratch;
  readonly folder: string;
  /** Conductor's own folder. */
  readonly home: string;
  adapter(mode: string, args?: readonly string[], agent?: Partial<WorkerConfig['agent']>): AcpAdapter;
  ask(adapter: AcpAdapter, signal?: AbortSignal): Promise<string>;
}

async function place(): Promise<Place> {
  const scratch = await makeScratch();
  made.push(scratch);
  const folder = await scratch.project({ 'src/shapes.js': 'export const area = (a, b) => a + b;\n' }, 'copy');
  const home = path.join(scratch.folder, 'conductor');
  await mkdir(home);
  // The agent's program is part of its configuration here.
  await copyFile(FAKE, path.join(scratch.home, 'fake-agent.ts'));
  await writeFile(path.join(scratch.home, 'login.json'), '{"token":"of the agent"}');
  const sandbox = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: scratch.home, hiddenFolders: [home], folders: scratch.folders });
  const run = agentRunner({ sandbox, folders: scratch.folders, searchPath: process.env['PATH'] ?? '', homeFolder: scratch.home });
  return {
    scratch, folder, home,
    adapter: (mode, args = [], agent = {}) => new AcpAdapter({
      run, key: 'the value',
      worker: workerOf({
        provider: 'acp', model: 'default', key: 'TEST_KEY',
        agent: {
          command: ['/bin/sh', '-c', `exec "$FAKE_NODE" "$HOME/fake-agent.ts" "$@"`, 'fake', mode, ...args], home: ['fake-agent.ts', 'login.json', 'missing.json'], hosts: [],
          env: { FAKE_NODE: process.execPath }, stepTokens: 5_000, minutes: 1, ...agent,
        },
      }),
    }),
    ask: async (adapter, signal = new AbortController().signal) => {
      const request = { messages: [{ role: 'user' as const, content: 'Your subtask: mend it.' }], maxOutputTokens: 100, place: { folder, hidden: [], readable: [], programFolders: [], environment: {}, ended: async () => {} } };
      return (await adapter.stream(request, { signal, onText: () => {}, onThinking: () => {}, onActivity: () => {} })).text;
    },
  };
}

it.skipIf(!available)(`an agent cannot read, write or reach what is not its own (${note})`, async () => {
  const { scratch, folder, home, adapter, ask } = await place();
  const allowed = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  const other = createServer((_request, response) => response.end('there')).listen(0, '127.0.0.1');
  const portOf = (server: typeof allowed): number => (server.address() as AddressInfo).port;
  await writeFile(path.join(home, 'journal.sqlite'), 'the journal');
  const another = await scratch.folders.create();
  await writeFile(path.join(another.temporary, 'secret'), 'of another step');
  await writeFile(path.join(scratch.home, '.netrc'), 'the password');
  const paths = [path.join(home, 'journal.sqlite'), path.join(another.temporary, 'secret'), path.join(scratch.home, '.netrc'), '/root/.bashrc', '/proc/1/environ'];
  const hosts = [`127.0.0.1:${portOf(allowed)}`, `127.0.0.1:${portOf(other)}`, '1.1.1.1:443', 'other.invalid:443', 'known.invalid:443'];
  const found = JSON.parse(await ask(adapter('escape', [...paths, ...hosts], { hosts: [`127.0.0.1:${portOf(allowed)}`, 'known.invalid'] }))) as Record<string, string>;
  for (const server of [allowed, other]) server.close();
  for (const file of paths.slice(0, 4)) {
    expect(found[`read ${file}`], file).toMatch(/^E/);
    expect(found[`list ${file}`], file).toMatch(/^E/);
  }
  expect(found['read /proc/1/environ']).not.toContain('CONDUCTOR');
  expect(await readdir(home)).toEqual(['journal.sqlite']);
  expect(await readdir(path.dirname(folder))).not.toContain('escaped');
  expect(found[`reach ${hosts[0]}`]).toBe('reached');
  for (const host of hosts.slice(1)) expect(found[`reach ${host}`], host).toMatch(/^(?:ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|timeout)$/);
  // By the proxy it reaches its own hosts alone; this one has no address.
  for (const host of hosts.slice(0, 4)) expect(found[`proxy ${host}`], host).toMatch(/^HTTP\/1\.1 403/);
  expect(found['proxy known.invalid:443']).toMatch(/^HTTP\/1\.1 50\d/);
  expect(found['home']).toBe('ok: {"token":"of the agent"}');
  expect(found['key']).toBe('the value');
}, 120_000);

it.skipIf(!available)(`an agent in an environment of Python finds its packages, and what that Python brings (${note})`, async () => {
  const { scratch, adapter, ask } = await place();
  const [environment, python] = [path.join(scratch.home, 'tools/agent'), path.join(scratch.home, 'pythons/three')];
  for (const folder of [path.join(environment, 'bin'), path.join(environment, 'lib'), path.join(python, 'bin'), path.join(python, 'lib/python3.12'), path.join(scratch.home, 'bin')]) await mkdir(folder, { recursive: true });
  await writeFile(path.join(environment, 'pyvenv.cfg'), '');
  await copyFile(FAKE, path.join(environment, 'lib/fake-agent.ts'));
  await writeFile(path.join(python, 'lib/modules'), '');
  await writeFile(path.join(python, 'lib/python3.12/os.py'), '');
  // As a script of Python does, it names the interpreter of its environment, which leads to the one that it was made of.
  await writeFile(path.join(python, 'bin/python'), `#!/bin/sh\ncat ${python}/lib/modules && exec ${process.execPath} ${environment}/lib/fake-agent.ts edit\n`, { mode: 0o755 });
  await symlink(path.join(python, 'bin/python'), path.join(environment, 'bin/python'));
  await writeFile(path.join(environment, 'bin/agent'), `#!/bin/sh\nexec ${environment}/bin/python\n`, { mode: 0o755 });
  await symlink(path.join(environment, 'bin/agent'), path.join(scratch.home, 'bin/agent'));
  expect(await ask(adapter('edit', [], { command: [path.join(scratch.home, 'bin/agent')] }))).toContain('Simulated: done.');
}, 120_000);

it.skipIf(!available)(`what an agent starts ends with it, and its home is gone (${note})`, async () => {
  const { scratch, adapter, ask } = await place();
  expect(await ask(adapter('edit'))).toContain('Simulated: done.');
  expect(await readdir(scratch.folders.root)).toEqual([]);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 3_000);
  await expect(ask(adapter('endless'), controller.signal)).rejects.toMatchObject({ kind: 'cancelled' });
  await expect(ask(adapter('endless', [], { minutes: 0.1 }))).rejects.toMatchObject({ kind: 'agent-failed', message: expect.stringContaining('did not finish within 0.1 minutes') });
  expect(await readdir(scratch.folders.root)).toEqual([]);
}, 120_000);

it.skipIf(!available)(`an agent that cannot be started is told in one sentence (${note})`, async () => {
  const { scratch, adapter, ask } = await place();
  const messageOf = (one: Promise<string>): Promise<string> => one.then(() => '', (error: Error) => `${(error as { kind?: string }).kind}: ${error.message}`);
  expect(await messageOf(ask(adapter('edit', [], { command: ['no-such-agent', 'acp'] })))).toMatch(/^not-found: Worker "ada": the program "no-such-agent" was not found on PATH; install it/);
  expect(await messageOf(ask(adapter('edit', [], { hosts: ['http://example.com/'] })))).toMatch(/^invalid-request: Worker "ada": "http:\/\/example\.com\/" is no host/);
  await mkdir(path.join(scratch.home, 'big'));
  await Promise.all(Array.from({ length: 66 }, (_, index) => writeFile(path.join(scratch.home, 'big', String(index)), Buffer.alloc(1024 * 1024))));
  expect(await messageOf(ask(adapter('edit', [], { home: ['big'] })))).toMatch(/^invalid-request: Worker "ada": The files named under "home" are more than 64 MiB/);
  expect(await readdir(scratch.folders.root)).toEqual([]);
}, 120_000);
