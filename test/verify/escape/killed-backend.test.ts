import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { PATIENTLY, processesWith, trySandbox } from '../setup.ts';
import { hasControlGroups, makeSurroundings, pathOf, uniqueSleep, type Surroundings } from './setup.ts';

const { available, note, walls } = await trySandbox();

/** A backend that runs commands in the sandbox until it is killed. Resolves when it says that it has begun. */
async function startBackend(around: Surroundings, argv: readonly string[], environment = process.env): Promise<{ pid: number; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'killed-child.ts'), around.folder, ...argv], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const groupsOf = async (pid: number): Promise<string> =>
  (await promisify(execFile)('find', ['/sys/fs/cgroup', '-name', `conductor-${pid}-*`])).stdout;

describe.skipIf(!available)(`when the backend is killed in the middle of a command (${note})`, { timeout: 60_000 }, () => {
  it('every process of the command dies with it, and the next start clears away the rest', async () => {
    await using around = await makeSurroundings();
    const seconds = uniqueSleep();
    const backend = await startBackend(around, [seconds]);
    // The one in front, the one in a session of its own, and the one that no signal ends.
    await expect.poll(async () => (await processesWith(`sleep\0${seconds}`)).length, PATIENTLY).toBe(3);
    if (hasControlGroups) expect(await groupsOf(backend.pid)).not.toBe('');
    await backend.kill();
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
    await expect.poll(() => processesWith(around.folder), PATIENTLY).toEqual([]);

    const folders = new RunFolders(path.join(around.folder, 'runs-of-child'), isProcessAlive);
    expect(await readdir(folders.root)).not.toEqual([]);
    await folders.sweep();
    expect(await readdir(folders.root)).toEqual([]);
    await around.run('true');
    await expect.poll(() => groupsOf(backend.pid), PATIENTLY).toBe('');
  });

  // What stands for bubblewrap here. `walls/namespaces.test.ts` has the same without it.
  it.runIf(walls === 'bubblewrap')('no command begins before whose walls stand it was gone', async () => {
    await using around = await makeSurroundings();
    // Takes its time with the walls of what is to sleep, until it is told to go on.
    const programs = path.join(around.folder, 'programs');
    const [begun, goOn] = [path.join(around.outside, 'begun'), path.join(around.outside, 'go-on')];
    await mkdir(programs);
    const seconds = uniqueSleep();
    const wait = `case "$CONDUCTOR_SCRIPT" in *${seconds}*) echo > ${begun}; while [ ! -e ${goOn} ]; do sleep 0.01; done;; esac`;
    await writeFile(path.join(programs, 'bwrap'), `#!/bin/sh\n${wait}\nexec ${pathOf('bwrap')} "$@"\n`, { mode: 0o700 });
    // Another backend's sweep of such groups could hide what is left.
    const backend = await startBackend(around, [seconds, 'without control groups'], { PATH: `${programs}:${process.env.PATH}`, CONDUCTOR_WALLS: walls });
    await expect.poll(() => existsSync(begun), PATIENTLY).toBe(true);
    await backend.kill();
    await writeFile(goOn, '');
    await expect.poll(() => processesWith(around.folder), PATIENTLY).toEqual([]);
    expect(await processesWith(seconds)).toEqual([]);
  });
});
