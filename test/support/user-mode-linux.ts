import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const KERNEL = '/usr/bin/linux.uml';

/** Whether a second kernel can run here: Debian's user-mode-linux, which is a program like others. */
export const hasUserModeLinux = process.arch === 'x64' && existsSync(KERNEL);

/** Not in the temporary folder, which the second kernel has for itself. */
const CACHE = path.join(import.meta.dirname, '../../node_modules/.cache');

/** Ends it where it hangs. */
const LONGEST_MS = 100_000;

/**
 * Runs a shell script as root on a kernel of its own, with this machine's files, cgroups of version 2 alone, and no network.
 * @returns what the script has printed
 */
export async function onUserModeLinux(script: string): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(path.join(CACHE, 'uml-'));
  const [init, body, said] = ['init', 'script', 'said'].map((name) => path.join(folder, name)) as [string, string, string];
  await writeFile(body, script);
  await writeFile(init, [
    '#!/bin/sh',
    `export PATH=${process.env['PATH']}:/usr/sbin:/sbin HOME=/root`,
    'mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs devtmpfs /dev',
    'mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm; mount -t tmpfs -o mode=1777 tmpfs /tmp',
    'mount -t cgroup2 cgroup2 /sys/fs/cgroup; ip link set lo up',
    `cd ${path.resolve(CACHE, '../..')}; sh ${body} > ${said} 2>&1`,
    // The first process may not end before the machine.
    'sync; echo o > /proc/sysrq-trigger; sleep 10',
  ].join('\n'), { mode: 0o755 });
  try {
    const machine = spawn(KERNEL, ['root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'rw', 'mem=1G', 'con=null', 'con0=null', 'ssl=null', 'quiet', `init=${init}`], {
      stdio: 'ignore', detached: true, timeout: LONGEST_MS, killSignal: 'SIGKILL',
      // For files of its memory.
      env: { ...process.env, TMPDIR: folder },
    });
    await once(machine, 'exit');
    return await readFile(said, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
