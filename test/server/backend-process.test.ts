import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import { readRecord, recordPath, writeRecord, type BackendRecord } from '../../backend/protocol/client/discovery.ts';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { connectBackend, stopBackend, type ConnectOptions } from '../../backend/protocol/client/start-backend.ts';
import { PROTOCOL_VERSION } from '../../backend/protocol/version.ts';
import { testConnection } from './support/test-connection.ts';

/*
 * Real processes: each test has a home folder of its own and ends whatever backend it left there.
 */

let home: string;
const children: ChildProcess[] = [];
beforeEach(async () => { home = await mkdtemp(path.join(tmpdir(), 'conductor-home-')); });
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const record = await readRecord(home);
  if (record && isProcessAlive(record.pid)) {
    process.kill(record.pid, 'SIGKILL');
    await gone(record.pid);
  }
  // A backend that was told to end may still write.
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const connect = (more: Partial<ConnectOptions> = {}) => connectBackend(testConnection(home, more));
const pidOf = async (client: BackendClient) => (await client.request('backend/health', {})).pid;
const log = () => readFile(path.join(home, 'backend.log'), 'utf8');

/** The backend is nobody's child here, so its end sends no event: its pid is looked at until it is free. */
async function gone(pid: number): Promise<void> {
  while (isProcessAlive(pid)) await delay(10);
}

async function liveRecord(): Promise<BackendRecord> {
  const record = await readRecord(home);
  if (!record) throw new Error('There is no record.');
  return record;
}

describe('starting', () => {
  test('the first client starts the backend, the second one joins it', async () => {
    const progress: string[] = [];
    const first = await connect({ onProgress: (sentence) => progress.push(sentence) });
    const second = await connect({ onProgress: (sentence) => progress.push(sentence) });
    expect(await pidOf(second)).toBe(await pidOf(first));
    expect(progress).toEqual(['Starting the backend.']);
  });

  test('ten clients in ten processes that start at once end up on one backend', async () => {
    const pids = await Promise.all(Array.from({ length: 10 }, () => startStarter().pid));
    expect(new Set(pids).size).toBe(1);
    expect((await liveRecord()).pid).toBe(pids[0]);
    const lines = (await log()).split('\n').filter((line) => line.includes('listens on port'));
    expect(lines).toHaveLength(1);
  });

  test('ten backends that start at once leave one, and the others end with 0', async () => {
    const { backendScript } = testConnection(home);
    const all = Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, [backendScript], { env: { ...process.env, CONDUCTOR_HOME: home }, stdio: 'ignore' });
      children.push(child);
      return child;
    });
    const exits: (number | null)[] = [];
    await new Promise<void>((resolve) => {
      for (const child of all) child.once('exit', (code) => { if (exits.push(code) === 9) resolve(); });
    });
    expect(exits).toEqual(Array.from({ length: 9 }, () => 0));
    const [winner] = all.filter((child) => child.exitCode === null);
    expect((await liveRecord()).pid).toBe(winner?.pid);
  });

  test('the backend outlives whoever started it', async () => {
    const starter = startStarter();
    const pid = await starter.pid;
    const exited = new Promise((resolve) => starter.child.once('exit', resolve));
    // The whole process group, as a terminal that closes does it.
    process.kill(-(starter.child.pid as number), 'SIGKILL');
    await exited;
    expect(isProcessAlive(pid)).toBe(true);
    expect(await pidOf(await connect())).toBe(pid);
  });

  test('a record that a SIGKILL left behind is replaced', async () => {
    const first = await connect();
    const old = await liveRecord();
    process.kill(old.pid, 'SIGKILL');
    expect(await first.closed).toMatch(/connection was lost/);
    expect(existsSync(recordPath(home))).toBe(true);
    const second = await connect();
    const fresh = await liveRecord();
    expect(await pidOf(second)).toBe(fresh.pid);
    expect(fresh.pid).not.toBe(old.pid);
    expect(fresh.token).not.toBe(old.token);
  });

  test('a stale record whose pid and port now belong to others is replaced', async () => {
    const record = { pid: process.pid, version: '1.0.0', protocol: PROTOCOL_VERSION, token: 'x'.repeat(43), startedAt: 0 };
    const other = await connect();
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'conductor-home-'));
    const { port, pid } = await liveRecord();
    await writeRecord(elsewhere, { ...record, port });
    const client = await connectBackend(testConnection(elsewhere));
    expect(await pidOf(client)).not.toBe(pid);
    expect(await pidOf(other)).toBe(pid);
    await stopBackend(elsewhere);
    await rm(elsewhere, { recursive: true });
  });

  test('what is no record at all is replaced', async () => {
    await writeFile(recordPath(home), '{"port": "no', { mode: 0o600 });
    expect(await pidOf(await connect())).toBe((await liveRecord()).pid);
  });
});

describe('what a start gives away', () => {
  test('the record is its owner\'s alone, the home too, and the log', async () => {
    await connect();
    const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
    expect(await Promise.all([recordPath(home), path.join(home, 'backend.log'), home].map(mode))).toEqual(['600', '600', '700']);
  });

  test('the token stands in no argument, no environment and no log', async () => {
    const client = await connect();
    await pidOf(client);
    const { pid, token } = await liveRecord();
    const seen = [await log(), execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })];
    if (process.platform === 'linux') seen.push(await readFile(`/proc/${pid}/environ`, 'utf8'));
    expect(seen.join('\n')).toContain('test-backend.ts');
    expect(seen.join('\n')).not.toContain(token);
  });

  test.runIf(process.platform === 'linux')('of the environment only named variables reach the backend, and no key', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-not-for-the-backend');
    vi.stubEnv('CONDUCTOR_READABLE', '/data');
    vi.stubEnv('VK_ICD_FILENAMES', '/driver.json');
    try {
      await connect();
    } finally {
      vi.unstubAllEnvs();
    }
    const environment = await readFile(`/proc/${(await liveRecord()).pid}/environ`, 'utf8');
    expect(environment).toContain(`CONDUCTOR_HOME=${home}`);
    for (const named of ['CONDUCTOR_READABLE=/data', 'VK_ICD_FILENAMES=/driver.json']) expect(environment).toContain(named);
    expect(environment).not.toContain('sk-not-for-the-backend');
    expect(environment).not.toContain('VITEST');
  });
});

describe('ending', () => {
  // Long enough for a client to come in time on a slow machine; what the time does is tested in idle-exit.test.ts.
  const idle = { environment: { TEST_IDLE_MS: '1000' } };

  test('the process ends by itself when its last client has left', async () => {
    const client = await connect(idle);
    const { pid } = await liveRecord();
    client.close();
    await gone(pid);
    expect(existsSync(recordPath(home))).toBe(false);
    expect(await log()).toContain('ended: idle');
  });

  test('a run that waits for a person does not keep it', async () => {
    const client = await connect(idle);
    await client.request('run/start', { request: { question: 'wait' } });
    const { pid } = await liveRecord();
    client.close();
    await gone(pid);
    expect(await log()).toContain('ended: idle');
  });

  test('a client that comes while it ends gets another one', async () => {
    const first = await connect();
    const { pid } = await liveRecord();
    await first.request('backend/stop', {});
    const second = await connect();
    expect(await pidOf(second)).not.toBe(pid);
    await gone(pid);
  });

  test('stopBackend ends it, says so to its clients, and is false where none runs', async () => {
    const client = await connect();
    const { pid } = await liveRecord();
    expect(await stopBackend(home)).toBe(true);
    expect(await client.closed).toBe('The backend was asked to end.');
    await gone(pid);
    expect(await stopBackend(home)).toBe(false);
  });

  test('SIGTERM ends it in order', async () => {
    const client = await connect();
    const { pid } = await liveRecord();
    process.kill(pid, 'SIGTERM');
    expect(await client.closed).toBe('The backend was asked to end.');
    await gone(pid);
    expect(existsSync(recordPath(home))).toBe(false);
  });
});

describe('an older backend', () => {
  const newer = { client: { kind: 'test', version: '1.1.0' }, environment: { TEST_VERSION: '1.1.0' } } as const;

  test('makes way for a newer client when nobody needs it', async () => {
    const old = await connect();
    const before = await liveRecord();
    old.close();
    await old.closed;
    await connect(newer);
    const after = await liveRecord();
    expect(after.version).toBe('1.1.0');
    expect(after.pid).not.toBe(before.pid);
  });

  test.each([
    ['another client', async () => undefined, 'The running backend has another client.'],
    ['a run', async (client: BackendClient) => {
      await client.request('run/start', { request: { question: 'keep' } });
      client.close();
      await client.closed;
    }, 'The running backend has a run under way.'],
  ])('stays while it has %s, and serves the newer client too', async (_what, keepBusy, sentence) => {
    const old = await connect();
    await keepBusy(old);
    const { pid } = await liveRecord();
    const progress: string[] = [];
    const client = await connect({ ...newer, onProgress: (line) => progress.push(line) });
    expect(await pidOf(client)).toBe(pid);
    expect(progress).toEqual([sentence]);
  });

  test('that the client started itself is taken as it is', async () => {
    const progress: string[] = [];
    const client = await connect({ client: { kind: 'test', version: '9.0.0' }, onProgress: (line) => progress.push(line) });
    expect(await client.request('backend/health', {})).toMatchObject({ backendVersion: '1.0.0' });
    expect(progress).toEqual(['Starting the backend.']);
  });

  test('of another protocol is replaced when nobody needs it, and named when somebody does', async () => {
    const old = await connect();
    const record = await liveRecord();
    await writeRecord(home, { ...record, protocol: { major: 0, minor: 3 } });
    await expect(connect()).rejects.toMatchObject({
      name: 'IncompatibleBackendError',
      message: expect.stringMatching(/protocol \d+\.\d+, the backend 0\.3: update the running backend/),
    });
    expect(isProcessAlive(record.pid)).toBe(true);
    old.close();
    await old.closed;
    expect(await pidOf(await connect())).not.toBe(record.pid);
  });

  test('a newer protocol is never replaced', async () => {
    const client = await connect();
    const record = await liveRecord();
    client.close();
    await writeRecord(home, { ...record, protocol: { major: PROTOCOL_VERSION.major + 1, minor: 0 } });
    await expect(connect()).rejects.toMatchObject({
      name: 'IncompatibleBackendError', message: expect.stringContaining('update the extension or command line'),
    });
    expect(isProcessAlive(record.pid)).toBe(true);
  });
});

describe('a backend that cannot start', () => {
  test('says in one sentence what its Node lacks', async () => {
    await expect(connect({ environment: { TEST_OLD_NODE: '20.19.0' } })).rejects.toMatchObject({
      name: 'BackendStartError',
      message: 'The backend ended at once: Conductor\'s backend needs Node 22.13 or later with node:sqlite; ' +
        'this is Node 20.19.0. Set conductor.nodePath to a newer one.',
    });
  });

  test('crashed: the error is told, not the stack', async () => {
    const backendScript = path.join(home, 'broken.mjs');
    await writeFile(backendScript, 'throw new TypeError("no luck today");\n');
    await expect(connect({ backendScript })).rejects.toMatchObject({
      name: 'BackendStartError', message: 'The backend ended at once: TypeError: no luck today',
    });
  });

  test('has no Node where the setting says: the setting is named', async () => {
    await expect(connect({ nodePath: path.join(home, 'no-such-node') })).rejects.toMatchObject({
      name: 'BackendStartError', message: expect.stringMatching(/no-such-node .*ENOENT.*conductor\.nodePath/),
    });
  });

  test('cancelled: the wait ends at once', async () => {
    const backendScript = path.join(home, 'sleeper.mjs');
    await writeFile(backendScript, 'setTimeout(() => {}, 2_000);\n');
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    await expect(connect({ backendScript, signal: controller.signal, onProgress })).rejects.toThrow('enough');
  });
});

function startStarter(): { child: ChildProcess; pid: Promise<number> } {
  const script = fileURLToPath(new URL('programs/starter.ts', import.meta.url));
  const child = spawn(process.execPath, [script, home], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  children.push(child);
  const pid = new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (line) => resolve(Number(String(line).trim())));
    child.once('exit', (code) => reject(new Error(`The starter ended with ${code}.`)));
  });
  pid.catch(() => undefined);
  return { child, pid };
}
