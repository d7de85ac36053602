import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SandboxAvailability } from '../../../backend/verify/sandbox/sandbox-availability.ts';
import type { SandboxOutcome } from '../../../backend/verify/sandbox/sandbox.ts';
import { ONLY_WHILE_WE_LIVE, SCRIPT } from '../../../backend/verify/sandbox/walls/script.ts';
import { WALLS_KINDS, wallsFrom, type WalledLine, type WallsKind } from '../../../backend/verify/sandbox/walls/walled-line.ts';
import { Walls } from '../../../backend/verify/sandbox/walls/walls.ts';
import { has, isRoot, makeSurroundings, node, pathOf, type Surroundings } from '../escape/setup.ts';
import { trySandbox } from '../setup.ts';

/** Whether these walls can be made here. */
async function tryWalls(kind: WallsKind): Promise<Awaited<ReturnType<typeof trySandbox>>> {
  vi.stubEnv('CONDUCTOR_WALLS', kind);
  try {
    return await trySandbox();
  } finally {
    vi.unstubAllEnvs();
  }
}

const [bubblewrap, namespaces] = [await tryWalls('bubblewrap'), await tryWalls('namespaces')];
const { signal } = new AbortController();

async function within(kind: WallsKind, run: (around: Surroundings) => Promise<SandboxOutcome>): Promise<SandboxOutcome> {
  vi.stubEnv('CONDUCTOR_WALLS', kind);
  try {
    await using around = await makeSurroundings();
    expect(await around.sandbox.availability()).toEqual({ available: true, walls: kind });
    return await run(around);
  } finally {
    vi.unstubAllEnvs();
  }
}

/** What is mounted where, as the last that was mounted there shows it, and what a process may do. Names of runs differ. */
const LOOK = node(`
  const fs = require('node:fs'), seen = {};
  for (const line of fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\\n')) {
    const [before, after] = line.split(' - '), fields = before.split(' ');
    seen[fields[4]] = [fields[5].split(',').sort().join(), after.split(' ')[0]].join(' ');
  }
  const status = fs.readFileSync('/proc/self/status', 'utf8').match(/^(Uid|Gid|Cap|NoNewPrivs|Seccomp|Seccomp_filters|SigIgn|SigBlk).*$/gm);
  const list = (folder) => fs.readdirSync(folder, { withFileTypes: true }).map((entry) => entry.name + (entry.isDirectory() ? '/' : entry.isSymbolicLink() ? ' -> ' + fs.readlinkSync(folder + entry.name) : '')).sort();
  const limits = fs.readFileSync('/proc/self/limits', 'utf8').replace(/^Max pending signals.*$/m, '');
  console.log(JSON.stringify({ seen, status, limits, root: list('/'), devices: list('/dev/'), etc: list('/etc/'), user: [process.getuid(), process.getgid()],
    network: Object.keys(require('node:os').networkInterfaces()), descriptors: fs.readdirSync('/proc/self/fd').map((name) => { try { return name + ' ' + fs.readlinkSync('/proc/self/fd/' + name).replace(/:.*/, ''); } catch { return name; } }).filter((line) => !/^\\d{2,} .dev.null$/.test(line)).length, session: fs.readFileSync('/proc/1/stat', 'utf8').split(' ').slice(3, 6) }));
`);

describe.skipIf(!namespaces.available || !bubblewrap.available)(`walls by namespaces (${bubblewrap.available ? namespaces.note : bubblewrap.note})`, { timeout: 60_000 }, () => {
  it('show a command the same as those by bubblewrap, with the same rights and limits', async () => {
    const looks: unknown[] = [];
    for (const kind of WALLS_KINDS) {
      const { stdout, stderr } = await within(kind, async (around) => {
        const outcome = await around.run(LOOK);
        return { ...outcome, stdout: outcome.stdout.replaceAll(around.folder, '/AROUND').replaceAll(/\/\d+-\w{6}\//g, '/RUN/') };
      });
      expect(stderr).toBe('');
      const look = JSON.parse(stdout) as { seen: Record<string, string> };
      // Bubblewrap leaves the rights of devices to their owner.
      for (const [place, how] of Object.entries(look.seen)) if (how.endsWith(' devtmpfs')) look.seen[place] = how.replace(',rw ', ',ro ');
      // Bubblewrap mounts parts of /proc once more, which is read-only as a whole; the library empties this folder for SSH.
      for (const place of Object.keys(look.seen)) if (place.startsWith('/proc/') || place === '/etc/ssh/ssh_config.d') delete look.seen[place];
      looks.push(look);
    }
    expect(looks[1]).toEqual(looks[0]);
  });
});

describe.skipIf(!namespaces.available)(`a command behind walls by namespaces (${namespaces.note})`, { timeout: 60_000 }, () => {
  /** Gives the walls this many bytes of their steps, and the command this answer to whether we live. */
  async function start(walled: WalledLine, cwd: string, script: string, { bytes = walled.input?.length, answer = '\n' } = {}): Promise<{ code: number | null; stderr: string }> {
    const env = { PATH: process.env.PATH, [SCRIPT]: `${ONLY_WHILE_WE_LIVE}\n${script}` };
    const child = spawn('/bin/sh', ['-c', `exec ${walled.line}`], { cwd, env, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
    const said: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
    const [, , , steps, asking] = child.stdio as readonly unknown[] as readonly Writable[];
    for (const pipe of [steps, asking]) pipe?.on('error', () => undefined);
    steps?.end(walled.input?.subarray(0, bytes));
    asking?.end(answer);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr: Buffer.concat(said).toString() };
  }

  it('does not begin if the backend is gone before all of its walls are known, or before they stand', async () => {
    await using around = await makeSurroundings();
    const run = await around.folders.create();
    const walled = await new Walls(around.folders.root).around({ hidden: [around.home], readable: [], writable: [run.temporary] }, 'namespaces', signal);
    const begun = path.join(run.temporary, 'begun');
    const script = `echo > ${begun}`;
    expect(await start(walled, run.temporary, script, { bytes: (walled.input?.length ?? 0) - 8 })).toMatchObject({ code: 127 });
    expect(await start(walled, run.temporary, script, { answer: '' })).toMatchObject({ code: 1 });
    expect(existsSync(begun)).toBe(false);
    expect(await start(walled, run.temporary, script)).toMatchObject({ code: 0 });
    expect(existsSync(begun)).toBe(true);
  });

  it('finds what links in a hidden folder lead to, and links that can be seen as they are', async () => {
    const { stdout } = await within('namespaces', async (around) => {
      const dependencies = path.join(around.folder, 'dependencies');
      await mkdir(path.join(dependencies, 'dep'), { recursive: true });
      await writeFile(path.join(dependencies, 'dep/index.js'), 'found');
      await symlink(dependencies, path.join(around.workspace, 'node_modules'));
      return await around.run(`cat ${around.workspace}/node_modules/dep/index.js; ls ${around.workspace}; test -L /proc/self && readlink /bin`, {
        hidden: [around.workspace, dependencies], readable: [path.join(around.workspace, 'node_modules')],
      });
    });
    expect(stdout).toMatch(/^foundnode_modules\n/);
  });

  it('sees no content in a hidden file, and none of what a hidden folder in a readable one has', async () => {
    const { stdout } = await within('namespaces', async (around) => around.run('cat "$OUTSIDE/file"; ls -A "$OUTSIDE/folder"; ls -A "$OUTSIDE"', {
      hidden: [path.join(around.outside, 'file'), path.join(around.outside, 'folder')],
    }));
    expect(stdout).toBe('file\nfolder\nlink\n');
  });

  it('is not started where something is wrong, and that is said', async () => {
    await using around = await makeSurroundings();
    const run = await around.folders.create();
    const gone = path.join(around.folder, 'gone');
    await mkdir(gone);
    const walled = await new Walls(around.folders.root).around({ hidden: [around.home], readable: [], writable: [gone] }, 'namespaces', signal);
    await promisify(execFile)('rmdir', [gone]);
    expect(await start(walled, run.temporary, ':')).toEqual({ stderr: `Mounting ${gone} failed\n`, code: 256 - 2 });
  });
});

/** What root may do holds nothing back from others, and where namespaces for users are forbidden, root may still make the rest. */
const NOBODY = 65_534;
const CHILD = path.join(import.meta.dirname, 'walls-child.ts');
const FORBID = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
const STATUS = 'grep -E "^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp:)" /proc/self/status | tr "\\t" " "; touch "$HOME_OUTSIDE/new" 2>/dev/null || echo refused; mount -t tmpfs none . 2>/dev/null || echo refused; ls -d /proc/[0-9]* | wc -l';

describe.skipIf(!namespaces.available)(`walls by namespaces (${namespaces.note})`, { timeout: 60_000 }, () => {
  async function ofChild(prefix: readonly string[], around: Surroundings, environment: NodeJS.ProcessEnv = { CONDUCTOR_WALLS: 'namespaces' }): Promise<{ availability: SandboxAvailability; outcome?: SandboxOutcome }> {
    const [program = '', ...argv] = [...prefix, process.execPath, CHILD, around.folder, STATUS];
    const { stdout } = await promisify(execFile)(program, argv, { env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment } });
    return JSON.parse(stdout) as Awaited<ReturnType<typeof ofChild>>;
  }
  const told = (user: number): string => [
    `Uid: ${Array.from({ length: 4 }, () => user).join(' ')}`, 'CapEff: 0000000000000000', 'CapBnd: 0000000000000000', 'NoNewPrivs: 1', 'Seccomp: 2', 'refused', 'refused', '',
  ].join('\n');

  // Root takes them first.
  const asNobody = isRoot ? [pathOf('setpriv') ?? '', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'] : [];

  it.runIf(!isRoot || has('setpriv'))('are made where bubblewrap is not installed, or does not work', async () => {
    for (const broken of [false, true]) {
      await using around = await makeSurroundings();
      if (isRoot) await chown(around.folder, NOBODY, NOBODY);
      const programs = path.join(around.folder, 'programs');
      await mkdir(programs);
      if (broken) await writeFile(path.join(programs, 'bwrap'), '#!/bin/sh\necho broken >&2; exit 1\n', { mode: 0o755 });
      expect((await ofChild(asNobody, around, { PATH: broken ? `${programs}:/usr/bin:/bin` : programs })).availability).toEqual({ available: true, walls: 'namespaces' });
    }
  });

  it.runIf(isRoot && has('setpriv'))('stand for another user than root', async () => {
    await using around = await makeSurroundings();
    await chown(around.folder, NOBODY, NOBODY);
    const { availability, outcome } = await ofChild(asNobody, around);
    expect(availability).toEqual({ available: true, walls: 'namespaces' });
    expect(outcome?.stdout.replace(/\d+\n$/, '')).toBe(told(NOBODY));
    expect(Number(outcome?.stdout.trim().split('\n').at(-1))).toBeLessThan(9);
  });

  it.runIf(has('unshare'))('stand for root where namespaces for users are forbidden', async () => {
    await using around = await makeSurroundings();
    const { availability, outcome } = await ofChild(['unshare', '--user', '--map-root-user', 'sh', '-c', FORBID, 'sh'], around);
    expect(availability).toEqual({ available: true, walls: 'namespaces' });
    expect(outcome?.stdout.replace(/\d+\n$/, '')).toBe(told(0));
    expect(Number(outcome?.stdout.trim().split('\n').at(-1))).toBeLessThan(9);
  });

  it.runIf(has('unshare'))('stand where programs may not be started in the folder of runs, and else it is said what to do', async () => {
    const without = async (...folders: readonly string[]): Promise<SandboxAvailability> => {
      await using around = await makeSurroundings();
      const mounts = [...folders, around.folder].map((folder) => `mount -t tmpfs -o noexec none ${folder} && `).join('');
      return (await ofChild(['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', `${mounts}exec "$@"`, 'sh'], around)).availability;
    };
    expect(await without('/tmp')).toEqual({ available: true, walls: 'namespaces' });
    expect(await without('/tmp', '/dev/shm')).toEqual({
      available: false,
      reason: expect.stringMatching(/^The sandbox could not be set up: No program may be started in .*, \/tmp, \/dev\/shm: mount one of them without "noexec", or install bubblewrap\.$/) as string,
    });
  });

  it.runIf(has('unshare') && has('setpriv'))('do not stand where all are forbidden, which is said with what to do', async () => {
    await using around = await makeSurroundings();
    const weak = `${FORBID.replace('"$@"', 'setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"')}`;
    const { availability } = await ofChild(['unshare', '--user', '--map-root-user', 'sh', '-c', weak, 'sh'], around);
    expect(availability).toEqual({
      available: false, remedy: 'sudo sysctl -w user.max_user_namespaces=15000',
      reason: 'The sandbox does not start (Making namespaces failed: operation not permitted). User namespaces are switched off here. Allow them with: sudo sysctl -w user.max_user_namespaces=15000',
    });
  });
});

it('are no others than those that a person allows, which must have a name', async () => {
  vi.stubEnv('CONDUCTOR_WALLS', 'paper');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await trySandbox()).toMatchObject({ available: false, note: expect.stringContaining('CONDUCTOR_WALLS names no walls: set it to bubblewrap or namespaces, or leave it out.') as string });
});

it('are tried first by root, whom bubblewrap leaves more', () => {
  expect(wallsFrom({}, false)).toEqual(['bubblewrap', 'namespaces']);
  expect(wallsFrom({}, true)).toEqual(['namespaces', 'bubblewrap']);
  expect(wallsFrom({ CONDUCTOR_WALLS: 'bubblewrap' }, true)).toEqual(['bubblewrap']);
});
