import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PATIENTLY, trySandbox } from '../setup.ts';
import { HOGS } from './hogs.ts';
import { has, hasControlGroups, isRoot, makeSurroundings, node, python } from './setup.ts';

const { available, note } = await trySandbox();
const isTried = available && has('python3');

describe(`a command that takes too much is ended (${note})`, () => {
  it.runIf(isTried).each(HOGS)('by the watch when it $does', { timeout: 60_000 }, async ({ command, limits, exceeds }) => {
    await using around = await makeSurroundings({ useControlGroups: false });
    expect((await around.run(command, { limits })).exceeded).toBe(exceeds);
  });

  const held = HOGS.filter(({ exceeds }) => exceeds === 'processes' || exceeds === 'memory');
  it.runIf(isTried && hasControlGroups).each(held)('by control groups too when it $does', { timeout: 60_000 }, async ({ command, limits, exceeds }) => {
    await using around = await makeSurroundings();
    expect((await around.run(command, { limits })).exceeded).toBe(exceeds);
  });
});

describe.skipIf(!available)(`within its limits a command (${note})`, { timeout: 60_000 }, () => {
  it.runIf(isTried)('cannot allocate 10 GB', async () => {
    await using around = await makeSurroundings();
    const { exitCode, stderr } = await around.run(python('kept = bytearray(10 * 10 ** 9)'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('MemoryError');
  });

  it('cannot make a file larger than all of its files may be', async () => {
    await using around = await makeSurroundings();
    const limits = { diskBytes: 1024 ** 2 };
    expect((await around.run('truncate -s 1M file', { limits })).exitCode).toBe(0);
    expect((await around.run('truncate -s 2M file', { limits })).exitCode).not.toBe(0);
  });

  it('is ended by the kernel too when it computes for too long', async () => {
    await using around = await makeSurroundings();
    const busy = node('process.on("SIGXCPU", () => undefined); for (;;);');
    expect((await around.run(busy, { limits: { cpuTimeMs: 1_000 } })).exitCode).not.toBe(0);
  });

  it('may write the same file again and again', async () => {
    await using around = await makeSurroundings();
    const again = 'for i in 1 2 3 4 5 6 7; do head -c 60M /dev/zero > file; done; echo done';
    expect(await around.run(again, { limits: { diskBytes: 200 * 1024 ** 2 } })).toMatchObject({ stdout: 'done\n', exitCode: 0 });
  });

  it.runIf(isTried)('may share memory between processes, which counts once', async () => {
    await using around = await makeSurroundings();
    const share = python(
      'import os, time',
      'kept = b"x" * (60 * 2 ** 20)',
      'if all(os.fork() for _ in range(7)):',
      '    for _ in range(7): os.wait()',
      '    print("done")',
      'else: time.sleep(1)',
    );
    expect(await around.run(share, { limits: { memoryBytes: 200 * 1024 ** 2 } })).toMatchObject({ stdout: 'done\n', exitCode: 0 });
  });

  it('leaves no control group behind', async () => {
    await using around = await makeSurroundings();
    await Promise.all([around.run('true'), around.run('setsid sleep 100 &'), around.run('sleep 100', { timeoutMs: 500 })]);
    const names = async (): Promise<string> => (await promisify(execFile)('find', ['/sys/fs/cgroup', '-name', `conductor-${process.pid}-*`])).stdout;
    await expect.poll(names, PATIENTLY).toBe('');
  });
});

describe.skipIf(!available)('a fork bomb', () => {
  it('does not keep the backend from noticing other things', { timeout: 60_000 }, async () => {
    await using around = await makeSurroundings();
    const [bomb] = HOGS;
    const running = around.run(bomb?.command ?? '', { limits: { processes: 300 } });
    const other = around.run('echo noticed');
    expect((await other).stdout).toBe('noticed\n');
    expect((await running).exceeded).toBe('processes');
  });
});

/** What root is exempt from holds for others, and what root may read others may not: so both are tried. */
const NOBODY = 65_534;

describe.runIf(isTried && isRoot && has('setpriv'))('for a user other than root', () => {
  it('the limits hold as well', { timeout: 120_000 }, async () => {
    await using around = await makeSurroundings();
    await chown(around.folder, NOBODY, NOBODY);
    const child = [process.execPath, path.join(import.meta.dirname, 'nobody-child.ts'), around.folder];
    const asNobody = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', ...child];
    const { stdout } = await promisify(execFile)('setpriv', asNobody, { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } });
    const found = JSON.parse(stdout) as { does: string; exceeded: string }[];
    expect(found.length).toBeGreaterThan(4);
    expect(found).toEqual(found.map(({ does }) => ({ does, exceeded: HOGS.find((hog) => hog.does === does)?.exceeds })));
  });
});
