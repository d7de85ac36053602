import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { Sandbox, shellQuote, type SandboxedCommand, type SandboxOutcome } from '../../backend/verify/sandbox/sandbox.ts';
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

it('is tried again after an error, such as a full disk', async () => {
  await using scratch = await makeScratch();
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  vi.spyOn(scratch.folders, 'create').mockRejectedValueOnce(full);
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: scratch.home, folders: scratch.folders });
  await expect(sandbox.availability()).rejects.toBe(full);
  expect(await sandbox.availability()).toMatchObject({ available });
});

const node = (script: string): string => `node -e ${shellQuote(script)}`;

/** A number of seconds that no other process on this machine sleeps for. */
const uniqueSleep = (): string => `${90_000 + (process.pid % 10_000)}.${Math.random().toString().slice(2, 10)}`;

describe.skipIf(!available)(`a command (${note})`, { timeout: 120_000 }, () => {
  it('runs, writes its own folders, and reports exit code and output', async () => {
    await using scratch = await makeScratch();
    const outcome = await run(
      scratch,
      'echo a > file && echo b > "$HOME/file" && cat file "$TMPDIR/file"; echo oops >&2; exit 7',
    );
    expect(outcome).toMatchObject({ exitCode: 7, stdout: 'a\nb\n', stderr: 'oops\n', sandboxed: true });
  });

  it('sees its folder where it is told to, like every other run, and not where it is', async () => {
    await using scratch = await makeScratch();
    const runs = await Promise.all(['first', 'second'].map(async (text) => {
      const folder = await scratch.folders.create();
      await folder.makeWorkspace();
      const outcome = await run(scratch, `pwd; echo ${text} > file; cat "$PWD/file"; ls ${shellQuote(folder.workspace)}`, {
        cwd: folder.workspace, shown: folder.shown, temporary: folder.temporary,
      });
      return { folder, outcome, written: await readFile(path.join(folder.workspace, 'file'), 'utf8') };
    }));
    expect(runs.map(({ outcome }) => outcome.stdout)).toEqual(runs.map(({ folder, written }) => `${folder.shown}\n${written}`));
    expect(runs.map(({ written }) => written)).toEqual(['first\n', 'second\n']);
    expect(new Set(runs.map(({ folder }) => folder.shown)).size).toBe(1);
    expect(existsSync(runs[0]?.folder.shown ?? '')).toBe(false);
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

  it('is told where go has compiled packages if it is a command for go, and no other', async () => {
    await using scratch = await makeScratch();
    const cache = path.join(scratch.home, '.cache/go-build');
    await mkdir(cache, { recursive: true });
    await writeFile(path.join(cache, 'package'), 'compiled');
    expect((await run(scratch, 'env')).stdout).not.toContain(cache);
    expect((await run(scratch, 'cat "$CONDUCTOR_GO_BUILD_CACHE/package"')).stdout).toBe('compiled');
  });

  it('finds programs of its own folders first, none of which is started outside the sandbox', async () => {
    await using scratch = await makeScratch();
    const told = path.join(scratch.home, 'told');
    const program = { mode: 0o700 };
    const programs = await scratch.project({}, 'programs');
    await mkdir(programs);
    await writeFile(path.join(programs, 'greet'), '#!/bin/sh\necho greeted', program);
    for (const name of ['bwrap', 'sh', 'which']) await writeFile(path.join(programs, name), `#!/bin/sh\necho ${name} >> ${told}`, program);
    const { stdout } = await run(scratch, 'greet', { programFolders: [programs], readable: [programs], environment: { BASH_ENV: programs } });
    expect(stdout).toBe('greeted\n');
    expect(await readdir(scratch.home)).toEqual([]);
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
    vi.stubEnv('CONDUCTOR_WALLS', 'bubblewrap');
    onTestFinished(() => void vi.unstubAllEnvs());
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
