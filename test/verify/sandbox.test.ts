import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { getDefaultWritePaths } from '@anthropic-ai/sandbox-runtime';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { RunFolders } from '../../backend/verify/run-folder.ts';
import { Sandbox, shellQuote, type SandboxedCommand, type SandboxOutcome } from '../../backend/verify/sandbox.ts';
import { makeScratch, processesWith, trySandbox, PATIENTLY, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();

async function run(scratch: Scratch, command: string, options: Partial<SandboxedCommand> = {}): Promise<SandboxOutcome> {
  const folder = await scratch.folders.create();
  await mkdir(folder.workspace);
  try {
    return await scratch.sandbox.run({
      command,
      cwd: folder.workspace,
      temporary: folder.temporary,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      sandboxed: true,
      ...options,
    });
  } finally {
    await folder.remove();
  }
}

const node = (script: string): string => `node -e ${shellQuote(script)}`;

/** A number of seconds that no other process on this machine sleeps for. */
const uniqueSleep = (): string => `${90_000 + (process.pid % 10_000)}.${Math.random().toString().slice(2, 10)}`;

async function listen(server: Server, where: number | string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(where as number, resolve));
  onTestFinished(() => void server.close());
}

describe.skipIf(!available)(`a command (${note})`, { timeout: 120_000 }, () => {
  it('runs, writes its own folders, and reports exit code and output', async () => {
    await using scratch = await makeScratch();
    const outcome = await run(
      scratch,
      'echo a > file && echo b > "$HOME/file" && cat file "$TMPDIR/file"; echo oops >&2; exit 7',
    );
    expect(outcome).toMatchObject({ exitCode: 7, stdout: 'a\nb\n', stderr: 'oops\n', sandboxed: true });
  });

  it('cannot write anywhere else, not even through a link', async () => {
    await using scratch = await makeScratch();
    const outside = await scratch.project({ 'file.txt': 'untouched' }, 'outside');
    const file = path.join(outside, 'file.txt');
    const attempts = [
      `echo x > ${file}`,
      `echo x >> ${file}`,
      `rm -f ${file}`,
      `mv ${outside} ${outside}-moved`,
      `ln -s ${outside} way-out; echo x > way-out/file.txt`,
      `ln ${file} hard; echo x > hard`,
      `echo x > /tmp/verify-test-planted-${process.pid}`,
      `echo x > ${scratch.folders.root}/planted`,
    ];
    await run(scratch, attempts.map((attempt) => `(${attempt})`).join('; '));
    expect(await readFile(file, 'utf8')).toBe('untouched');
    expect(existsSync(`/tmp/verify-test-planted-${process.pid}`)).toBe(false);
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });

  it('cannot write the places that the library opens for every command', async () => {
    await using scratch = await makeScratch();
    const place = getDefaultWritePaths().find((entry) => entry.startsWith('/tmp/')) ?? '';
    const existed = existsSync(place);
    await mkdir(place, { recursive: true });
    try {
      await run(scratch, `echo x > ${place}/planted-${process.pid}`);
      expect(existsSync(`${place}/planted-${process.pid}`)).toBe(false);
    } finally {
      if (!existed) await rm(place, { recursive: true });
    }
  });

  it('cannot read the home folder, the hidden workspace, or the folders of another run', async () => {
    await using scratch = await makeScratch();
    await mkdir(path.join(scratch.home, '.ssh'));
    const secret = path.join(scratch.home, '.ssh', 'id');
    await writeFile(secret, 'top secret');
    const workspace = await scratch.project({ '.env': 'top secret', 'node_modules/dep/index.js': 'shared' });
    const other = await scratch.folders.create();
    await writeFile(path.join(other.temporary, 'answer'), 'top secret');
    const command = `cat ${secret} ${workspace}/.env ${other.temporary}/answer; cat ${workspace}/node_modules/dep/index.js`;
    const options = { hidden: [workspace], readable: [path.join(workspace, 'node_modules')] };
    expect((await run(scratch, command, options)).stdout).toBe('shared');
    // The same command sees all of it without the walls: the test would notice if there was nothing to hide.
    expect((await run(scratch, command, { ...options, sandboxed: false })).stdout.match(/top secret/g)).toHaveLength(3);
  });

  it('finds toolchains that live under the home folder, but not their credentials', async () => {
    await using scratch = await makeScratch();
    await mkdir(path.join(scratch.home, '.nvm/versions/v1/bin'), { recursive: true });
    await mkdir(path.join(scratch.home, '.cargo/bin'), { recursive: true });
    await writeFile(path.join(scratch.home, '.nvm/versions/v1/library'), 'library');
    await writeFile(path.join(scratch.home, '.cargo/credentials.toml'), 'top secret');
    const searchPath = `${scratch.home}/.nvm/versions/v1/bin:${scratch.home}/.cargo/bin:${process.env.PATH}`;
    const sandbox = new Sandbox({ searchPath, homeFolder: scratch.home, folders: scratch.folders });
    const outcome = await run(
      { ...scratch, sandbox },
      `cat ${scratch.home}/.nvm/versions/v1/library ${scratch.home}/.cargo/credentials.toml`,
    );
    expect(outcome.stdout).toBe('library');
  });

  it('has no network, no Unix sockets, and a loopback of its own that works', async () => {
    await using scratch = await makeScratch();
    const server = createServer((socket) => socket.end('reached'));
    await listen(server, 0);
    const unixServer = createServer((socket) => socket.end('reached'));
    const socketPath = path.join(scratch.folder, 'socket');
    await listen(unixServer, socketPath);
    const connect = (target: string): string =>
      node(
        `require('node:net').connect(${target}).on('data', (data) => console.log(String(data))).on('error', (error) => console.log(error.code))`,
      );
    const { port } = server.address() as AddressInfo;
    const commands = [connect(`{ host: '127.0.0.1', port: ${port} }`), connect(`{ path: '${socketPath}' }`)].join(' && ');
    expect((await run(scratch, commands)).stdout).toMatch(/^ECONNREFUSED\n(EPERM|EACCES)\n$/);
    expect((await run(scratch, commands, { sandboxed: false })).stdout).toBe('reached\nreached\n');

    const own = `const s = require('node:net').createServer((c) => c.end('own')).listen(0, () =>
      require('node:net').connect(s.address().port).on('data', (data) => { console.log(String(data)); s.close(); }))`;
    expect((await run(scratch, node(own))).stdout).toBe('own\n');
  });

  it('sees nothing of our environment', async () => {
    await using scratch = await makeScratch();
    process.env.VERIFY_TEST_SECRET = 'top secret';
    onTestFinished(() => void delete process.env.VERIFY_TEST_SECRET);
    const { stdout } = await run(scratch, node('console.log(Object.keys(process.env).sort().join(" "))'), {
      environment: { MORE: '1' },
    });
    expect(
      stdout
        .trim()
        .split(' ')
        .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
    ).toEqual(['HOME', 'LANG', 'MORE', 'PATH', 'TMPDIR']);
  });

  it('cannot see the processes of this machine, nor leave the namespaces it is in', async () => {
    await using scratch = await makeScratch();
    const { stdout } = await run(
      scratch,
      `ls /proc | grep -c '^${process.pid}$'; unshare -r true 2>/dev/null && echo escaped; grep NoNewPrivs /proc/self/status`,
    );
    expect(stdout).toBe('0\nNoNewPrivs:\t1\n');
  });

  it('leaves no process behind, even one that left its session', async () => {
    await using scratch = await makeScratch();
    const seconds = uniqueSleep();
    const { stdout } = await run(
      scratch,
      `setsid sleep ${seconds} > /dev/null 2>&1 & kill -0 $! && sleep ${seconds} & kill -0 $! && echo started`,
    );
    expect(stdout).toBe('started\n');
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it('cannot write a file beyond the limit', async () => {
    await using scratch = await makeScratch();
    expect((await run(scratch, 'truncate -s 2M big', { limits: { diskBytes: 1024 ** 2 } })).exitCode).not.toBe(0);
    expect((await run(scratch, 'truncate -s 1M big', { limits: { diskBytes: 1024 ** 2 } })).exitCode).toBe(0);
  });

  it('is hidden from the other commands that run at the same time', async () => {
    await using scratch = await makeScratch();
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => run(scratch, `ls ${scratch.folders.root} | wc -l; echo mine > file; cat file`)),
    );
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => '1\nmine\n'));
  });
});

describe.each([...(available ? [true] : []), false])('the limits of a command (sandboxed: %s)', (sandboxed) => {
  it('kill the whole group when time is up', async () => {
    await using scratch = await makeScratch();
    const seconds = uniqueSleep();
    const outcome = await run(scratch, `sh -c 'sleep ${seconds}' & sleep ${seconds}`, { sandboxed, timeoutMs: 500 });
    expect(outcome).toMatchObject({ exceeded: 'time', exitCode: null, sandboxed });
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it('kill the whole group on abort', async () => {
    await using scratch = await makeScratch();
    const seconds = uniqueSleep();
    const controller = new AbortController();
    const running = run(scratch, `sleep ${seconds} & sleep ${seconds}`, { sandboxed, signal: controller.signal });
    running.catch(() => undefined);
    await expect.poll(async () => (await processesWith(`sleep\0${seconds}`)).length, PATIENTLY).toBe(2);
    controller.abort();
    await expect(running).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }) as Error);
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it('keep the end of a flood of output', async () => {
    await using scratch = await makeScratch();
    const { stdout } = await run(scratch, 'yes line | head -c 20000000; echo the end', { sandboxed });
    expect(stdout.length).toBeLessThanOrEqual(64 * 1024);
    expect(stdout.endsWith('the end\n')).toBe(true);
  });
});

describe('without a sandbox', () => {
  it('a command is refused with the sentence that says what to install', async () => {
    await using scratch = await makeScratch();
    const sandbox = new Sandbox({ searchPath: scratch.home, homeFolder: scratch.home, folders: scratch.folders });
    const { available: here, reason } = await sandbox.availability();
    expect(here).toBe(false);
    expect(reason).toMatch(/^The sandbox needs bubblewrap \(bwrap\) and which\. Install it with/);
    await expect(run({ ...scratch, sandbox }, 'true')).rejects.toMatchObject({ name: 'SandboxUnavailableError', message: reason });
  });
});

describe('run folders', () => {
  it('of a process that is gone are swept, of a living one kept', async () => {
    await using scratch = await makeScratch();
    const { folders } = scratch;
    const own = await folders.create();
    // Linux gives out no process id beyond 2^22.
    await mkdir(path.join(folders.root, '4194305-stale', 'workspace'), { recursive: true });
    await mkdir(path.join(folders.root, '1-alive'));
    await mkdir(path.join(folders.root, 'something else'));
    expect(await new RunFolders(folders.root, isProcessAlive).sweep()).toBe(1);
    expect((await readdir(folders.root)).sort()).toEqual(['1-alive', path.basename(own.root), 'something else'].sort());
  });

  it('are removed although a test has taken the rights to them away', async () => {
    await using scratch = await makeScratch();
    await run(scratch, 'mkdir -p a/b && touch a/b/c && chmod 0 a/b a', { sandboxed: false });
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });
});
