import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PATIENTLY, processesWith, trySandbox } from '../setup.ts';
import { has, makeSurroundings, python, uniqueSleep } from './setup.ts';

const { available, note, walls } = await trySandbox();

describe.skipIf(!available)(`the processes of this machine (${note})`, { timeout: 60_000 }, () => {
  it('cannot be seen, nor ended, by a command', async () => {
    await using around = await makeSurroundings();
    const bystander = spawn('sleep', [uniqueSleep()]);
    onTestFinished(() => void bystander.kill());
    const { stdout } = await around.run(`kill -9 ${bystander.pid}; kill -9 ${process.pid}; (trap '' TERM; kill -TERM -1); ls -d /proc/[0-9]* | wc -l`);
    // bubblewrap's own two, the shell, and what counts.
    expect(Number(stdout)).toBeLessThan(9);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  });

  it.runIf(has('ipcmk'))('share no memory with a command, which leaves none behind', async () => {
    await using around = await makeSurroundings();
    const [, id = ''] = /(\d+)/.exec(execFileSync('ipcmk', ['--shmem', '1000']).toString()) ?? [];
    onTestFinished(() => void execFileSync('ipcrm', ['--shmem-id', id]));
    const list = (): string => execFileSync('ipcs', ['--shmems']).toString();
    const before = list();
    const { stdout } = await around.run('ipcs --shmems | grep -c 0x; ipcmk --shmem 1000 > /dev/null && echo made');
    expect(stdout).toBe('0\nmade\n');
    expect(list()).toBe(before);
  });

  it('leave a command none of the files that the backend was started with', async () => {
    await using around = await makeSurroundings();
    const script = path.join(import.meta.dirname, 'inheriting-child.ts');
    const secret = openSync(path.join(around.home, '.ssh/id'), 'r');
    onTestFinished(() => closeSync(secret));
    // Node itself closes those of low numbers.
    const stdio = Array.from({ length: 41 }, (_, index) => (index === 30 || index === 40 ? secret : index === 1 ? 'pipe' : 'ignore'));
    const child = spawn(process.execPath, [script, around.folder], { stdio });
    const said: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => said.push(chunk));
    await once(child, 'close');
    // The command sees what it was told to write, and nothing in what its descriptors hold.
    expect(Buffer.concat(said).toString()).toBe('end\n');
  });
});

describe.skipIf(!available)(`a command cannot gain rights (${note})`, { timeout: 60_000 }, () => {
  it('having none, and no way to new ones', async () => {
    await using around = await makeSurroundings();
    const { stdout } = await around.run('grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr "\\t" " "');
    expect(stdout).toBe(['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((set) => `Cap${set}: 0000000000000000\n`).join('') + 'NoNewPrivs: 1\nSeccomp: 2\n');
  });

  it.runIf(has('python3'))('by becoming another user', async () => {
    await using around = await makeSurroundings();
    const attempt = python(
      'import os',
      'for change in (os.setuid, os.setgid, os.seteuid):',
      '    try: change(12345); print("became")',
      '    except OSError: pass',
      'try: os.setgroups([]); print("left")',
      'except OSError: pass',
      'try: os.chown(".", 12345, 12345); print("gave away")',
      'except OSError: pass',
    );
    expect((await around.run(attempt)).stdout).toBe('');
  });

  it.runIf(has('su'))('by a program that gives them', async () => {
    await using around = await makeSurroundings();
    expect((await around.run('cp "$(which id)" own; chmod 4755 own; ./own -u; su -c "echo gained" nobody')).stdout).toBe(`${process.getuid?.()}\n`);
  });

  it.each([
    ['user', 'unshare --user true'],
    ['mount', 'unshare --mount true'],
    ['network', 'unshare --net true'],
    ['process id', 'unshare --pid --fork true'],
    ['mapped user', 'unshare --map-root-user --mount true'],
  ])('in a new %s namespace', async (_kind, attempt) => {
    await using around = await makeSurroundings();
    expect((await around.run(`${attempt} 2>/dev/null && echo entered`)).stdout).toBe('');
  });

  it.each([
    ['mounting', 'mount -t tmpfs none "$PWD"'],
    ['mounting again', 'mount -o remount,rw,bind /'],
    ['binding', 'mkdir a; mount --bind / a'],
    ['unmounting', 'umount -l /tmp'],
    ['entering the namespaces of another process', 'nsenter --target 1 --mount true'],
    ['changing the root', 'mkdir -p a; chroot a true || chroot / true'],
    ['loading a module', 'modprobe dummy'],
    ['naming the machine', 'hostname escaped'],
    ['setting the clock', 'date -s 2001-01-01'],
  ])('by %s', async (_how, attempt) => {
    await using around = await makeSurroundings();
    const before = execFileSync('uname', ['-n']).toString();
    expect((await around.run(`(${attempt}) > /dev/null 2>&1 && echo done`)).stdout).toBe('');
    expect(execFileSync('uname', ['-n']).toString()).toBe(before);
  });

  it.runIf(has('python3') && process.arch === 'x64')('by a call of the kernel that no wall stands before', async () => {
    await using around = await makeSurroundings();
    // mount, umount2, unshare, setns, pivot_root, clone3, io_uring_setup, open_tree, fsopen, mount_setattr, add_key, request_key, keyctl,
    // bpf, perf_event_open, userfaultfd, and unshare by its number for x32
    const calls = [165, 166, 272, 308, 155, 435, 425, 428, 430, 442, 248, 249, 250, 321, 298, 323, 0x40000000 + 272];
    const attempt = python(
      'import ctypes',
      'kernel = ctypes.CDLL(None, use_errno=True)',
      `for call in (${calls.join()}):`,
      '    ctypes.set_errno(0)',
      '    kernel.syscall(call, 0, 0, 0, 0, 0)',
      '    if ctypes.get_errno() not in (1, 38): print(call, ctypes.get_errno())',
      // With the flags for a new user, process id and network namespace.
      'ctypes.set_errno(0)',
      'kernel.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)',
      'print("clone", ctypes.get_errno())',
    );
    const { stdout, stderr } = await around.run(attempt);
    expect(stderr).toBe('');
    expect(stdout).toBe('clone 1\n');
  });

  // That of bubblewrap is open to it, with the same filter and no more rights.
  it.runIf(has('python3') && walls === 'namespaces')('by the first process of its namespace, which was there before the walls', async () => {
    await using around = await makeSurroundings();
    const attempt = python(
      'import ctypes, os',
      'kernel = ctypes.CDLL(None, use_errno=True)',
      // PTRACE_SEIZE, and pidfd_getfd.
      'print(kernel.ptrace(0x4206, 1, 0, 0), ctypes.get_errno())',
      'print(kernel.syscall(438, os.pidfd_open(1), 0, 0), ctypes.get_errno())',
      'for name in ("mem", "environ", "exe", "root", "cwd", "fd/0"):',
      '    try: os.open("/proc/1/" + name, os.O_RDONLY); print(name)',
      '    except PermissionError: pass',
    );
    // At once, and later.
    for (const wait of ['', 'sleep 0.2; ']) expect((await around.run(`${wait}${attempt}`)).stdout).toBe('-1 1\n-1 1\n');
  });

  it('through the terminal of who started it', async () => {
    await using around = await makeSurroundings();
    expect((await around.run('(echo escaped > /dev/tty) 2>/dev/null && echo written; ls /dev/pts')).stdout).toBe('ptmx\n');
  });
});

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number));

describe.skipIf(!available)(`no process outlives a command (${note})`, { timeout: 60_000 }, () => {
  const daemons = [
    ['in the background', (seconds: string) => `sleep ${seconds} & kill -0 $!`],
    ['in a session of its own', (seconds: string) => `setsid sleep ${seconds} > /dev/null 2>&1 < /dev/null & kill -0 $!`],
    ['that no signal ends', (seconds: string) => `(trap '' TERM HUP INT QUIT; sleep ${seconds}) > /dev/null 2>&1 & kill -0 $!`],
    ['whose parents are gone', (seconds: string) => `(setsid sh -c 'sleep ${seconds} > /dev/null 2>&1 &' &)`],
  ] as const;

  it.each(daemons)('%s, when it ends', async (_kind, start) => {
    await using around = await makeSurroundings();
    const seconds = uniqueSleep();
    expect((await around.run(`${start(seconds)}; echo started`)).stdout).toBe('started\n');
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it.each(daemons)('%s, when its time is up', async (_kind, start) => {
    await using around = await makeSurroundings();
    const seconds = uniqueSleep();
    const outcome = await around.run(`${start(seconds)}; sleep ${seconds}`, { timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ exceeded: 'time', exitCode: null });
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it('when its leader alone is asked to end', async () => {
    await using around = await makeSurroundings();
    const seconds = uniqueSleep();
    const running = around.run(`(trap '' TERM; setsid sleep ${seconds}) & sleep ${seconds}`);
    await expect.poll(async () => (await processesWith(`sleep\0${seconds}`)).length, PATIENTLY).toBe(2);
    const leader = childrenOf(process.pid)[0];
    // A process id of zero would mean the tests themselves.
    if (!leader) throw new Error('The command has no process.');
    process.kill(leader, 'SIGTERM');
    await running;
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });
});
