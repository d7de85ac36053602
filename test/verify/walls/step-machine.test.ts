import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { END, StepList, withReason, type Place, type Slot } from '../../../backend/verify/sandbox/walls/namespaces/step-list.ts';
import { STATUS, stepMachine } from '../../../backend/verify/sandbox/walls/namespaces/step-machine.ts';
import { SandboxLineError } from '../../../backend/verify/sandbox/walls/walled-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { pathOf } from '../escape/setup.ts';

const SIGCHLD = 17;
const SIGKILL = 9;

/** How programs of each architecture can be started here. */
const MACHINES = (['x64', 'arm64'] as const).map((architecture) => {
  const emulator = architecture === 'arm64' ? (pathOf('qemu-aarch64-static') ?? pathOf('qemu-aarch64')) : pathOf('qemu-x86_64-static');
  const isHere = process.platform === 'linux' && (process.arch === architecture || emulator !== undefined);
  return { architecture, prefix: process.arch === architecture ? [] : [emulator ?? ''], isHere, note: isHere ? architecture : `${architecture}, not tried: no qemu-user here` };
});

describe.each(MACHINES)('the step machine ($note)', ({ architecture, prefix, isHere }) => {
  async function ends(program: Uint8Array, environment: Readonly<Record<string, string>> = {}): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const file = path.join(await temporaryFolder(), 'machine');
    const input = `${file}-steps`;
    writeFileSync(file, stepMachine(architecture) ?? '', { mode: 0o700 });
    writeFileSync(input, program);
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `exec 3< "$0"; exec ${[...prefix, file].join(' ')}`, input], { env: environment, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  }

  it.runIf(isHere)('makes calls in their order, with their results as arguments, and ends as the process that it waits for', async () => {
    for (const [ending, expected] of [[7, 7], [0, 0], [255, 255]] as const) {
      const list = new StepList(architecture);
      const child: Place = {};
      const started: Slot = {};
      list.add('clone', [SIGCHLD, 0, 0, 0, 0], { zero: child, result: started });
      list.add('wait4', [started, STATUS, 0, 0]);
      list.add('write', [1, 'parent\n', 7], { positive: END });
      list.put(child);
      list.add('write', [1, 'child\n', 6]);
      list.add('exit_group', [ending]);
      expect(await ends(list.program())).toEqual({ code: expected, stdout: 'child\nparent\n', stderr: '' });
    }
  });

  it.runIf(isHere)('tells a signal as a shell does', async () => {
    const list = new StepList(architecture);
    const child: Place = {};
    const killed: Slot = {};
    list.add('clone', [SIGCHLD, 0, 0, 0, 0], { zero: child, result: killed });
    list.add('kill', [killed, SIGKILL]);
    list.add('wait4', [-1, STATUS, 0, 0], { positive: END });
    // Fails, and begins again.
    list.put(child);
    list.add('chdir', ['/no/such/folder'], { failed: child });
    expect((await ends(list.program())).code).toBe(128 + SIGKILL);
  });

  it.runIf(isHere)('starts a program with its own environment', async () => {
    const list = new StepList(architecture);
    list.add('execve', ['/bin/sh', list.words(['sh', '-c', 'echo "$0 $1 $GREETING"', 'zero', 'one', 0]), list.environment]);
    expect(await ends(list.program(), { GREETING: 'hello' })).toMatchObject({ code: 0, stdout: 'zero one hello\n' });
  });

  it.runIf(isHere)('says what has failed, and why in its code', async () => {
    const list = new StepList(architecture);
    list.doing('Going home');
    list.add('chdir', ['/']);
    list.doing('Going elsewhere');
    list.add('chdir', ['/no/such/folder']);
    list.doing('Never tried');
    list.add('write', [1, 'on\n', 3]);
    const { code, stdout, stderr } = await ends(list.program());
    expect([stdout, stderr]).toEqual(['', 'Going elsewhere failed\n']);
    expect(withReason(stderr, code)).toBe('Going elsewhere failed: no such file or directory');
    expect(withReason('something else\n', code)).toBe('something else\n');
    expect(withReason(stderr, 1)).toBe(stderr);
  });

  it.runIf(isHere)('makes no call of which it has not all', async () => {
    const list = new StepList(architecture);
    const first: Place = {};
    list.add('chdir', ['/'], { zero: first });
    list.put(first);
    for (let more = 0; more < 3_000; more += 1) list.add('chdir', ['/']);
    list.add('write', [1, 'done\n', 5]);
    list.add('exit_group', [0]);
    const program = list.program();
    expect(await ends(program)).toMatchObject({ code: 0, stdout: 'done\n' });
    for (const bytes of [0, 1, 16, 100, 70_000, program.length - 400]) expect(await ends(program.subarray(0, bytes))).toEqual({ code: 127, stdout: '', stderr: '' });
  });
});

describe('a list of steps', () => {
  it('is not written for processors whose calls we do not know', () => {
    expect(() => new StepList('riscv64')).toThrow(new SandboxLineError('There is no sandbox for processors of type riscv64 yet.'));
    expect(stepMachine('riscv64')).toBeUndefined();
  });

  it('is refused where it is larger than the memory of the machine', () => {
    const list = new StepList('x64');
    list.bytes(Buffer.alloc(8 * 1024 ** 2));
    expect(() => list.program()).toThrow('The sandbox cannot show so many folders.');
  });
});
