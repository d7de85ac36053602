import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { shellQuote } from '../../../backend/verify/sandbox/shell-quote.ts';
import { systemCallFilter } from '../../../backend/verify/sandbox/walls/system-call-filter.ts';
import { Walls } from '../../../backend/verify/sandbox/walls/walls.ts';
import { makeScratch, trySandbox, type Scratch } from '../setup.ts';

const { available, note } = await trySandbox();
const { signal } = new AbortController();

async function runFolder(scratch: Scratch): Promise<{ workspace: string; temporary: string; tools: string }> {
  const folder = await scratch.folders.create();
  await mkdir(folder.workspace);
  return folder;
}

describe.skipIf(!available)(`the line that puts walls around a command (${note})`, () => {
  it('is written once for runs that differ in their own folders alone, and names those of each', async () => {
    await using scratch = await makeScratch();
    const walls = new Walls(scratch.folders.root);
    const linesOf = async ({ workspace, temporary, tools }: Awaited<ReturnType<typeof runFolder>>): Promise<string> =>
      (await walls.around({ hidden: [scratch.home], readable: [tools], writable: [workspace, temporary] }, 'bubblewrap', signal)).line;
    const [first, second] = [await runFolder(scratch), await runFolder(scratch)];
    const name = (run: typeof first): string => path.basename(path.dirname(run.workspace));
    const lines = [await linesOf(first), await linesOf(second)];
    expect(lines[0]).toContain(`--bind ${first.workspace} ${first.workspace}`);
    expect(lines[0]).not.toContain(name(second));
    expect(lines[1]).toBe(lines[0]?.replaceAll(name(first), name(second)));
    expect(await linesOf(first)).toBe(lines[0]);
  });

  it('is another one where a run may read or write something else, and where something has come to be there', async () => {
    await using scratch = await makeScratch();
    const walls = new Walls(scratch.folders.root);
    const { workspace, temporary } = await runFolder(scratch);
    const secret = path.join(scratch.home, 'secret');
    const around = async (hidden: string, writable: string[]): Promise<string> =>
      (await walls.around({ hidden: [hidden], readable: [], writable }, 'bubblewrap', signal)).line;
    expect(await around(secret, [workspace, temporary])).not.toContain(secret);
    expect(await around(secret, [workspace])).not.toContain(temporary);
    await mkdir(secret);
    expect(await around(secret, [workspace, temporary])).toContain(`--tmpfs ${secret}`);
  });

  it('is written although the machine was too busy at first to say where the shell is', async () => {
    await using scratch = await makeScratch();
    const programs = await scratch.project({ 'README.md': '' });
    const says = path.join(programs, 'asked');
    const realPath = process.env['PATH'] ?? '';
    // Answers from the given time on that it is asked for the shell.
    const which = async (from: number): Promise<void> => writeFile(path.join(programs, 'which'), [
      '#!/bin/sh', `[ "$1" = sh ] || PATH=${shellQuote(realPath)} exec which "$@"`,
      `echo >> ${shellQuote(says)}`, `[ "$(/usr/bin/wc -l < ${shellQuote(says)})" -ge ${from} ] && echo /bin/sh`,
    ].join('\n'), { mode: 0o755 });
    process.env['PATH'] = `${programs}${path.delimiter}${realPath}`;
    try {
      const { workspace } = await runFolder(scratch);
      const around = () => new Walls(scratch.folders.root).around({ hidden: [], readable: [], writable: [workspace] }, 'bubblewrap', signal);
      await which(3);
      expect((await around()).line).toContain('/bin/sh');
      await which(1_000);
      await expect(around()).rejects.toThrow('not found');
    } finally {
      process.env['PATH'] = realPath;
    }
  });

  it('runs also where there are more folders than fit into it', { timeout: 60_000 }, async () => {
    await using scratch = await makeScratch();
    const names = Array.from({ length: 700 }, (_, index) => `package-${index}-${'x'.repeat(100)}`);
    const workspace = await scratch.project(Object.fromEntries(names.map((name) => [`${name}/file`, name])));
    const folder = await runFolder(scratch);
    const run = async (): Promise<string> => {
      const { stdout } = await scratch.sandbox.run({
        command: `cat ${workspace}/*/file | wc -c; ls ${workspace}/.. | wc -l`,
        cwd: folder.workspace,
        temporary: folder.temporary,
        hidden: [workspace],
        readable: names.map((name) => path.join(workspace, name)),
        timeoutMs: 60_000,
        signal,
        sandboxed: true,
      });
      return stdout;
    };
    const expected = `${names.join('').length}\n2\n`;
    expect(await Promise.all([run(), run()])).toEqual([expected, expected]);
    expect(await run()).toBe(expected);
  });
});

describe('the filter of system calls', () => {
  it('jumps nowhere outside of itself, and ends every way with an answer', () => {
    for (const architecture of ['x64', 'arm64'] as const) {
      const program = Buffer.from(systemCallFilter(architecture) ?? '');
      const count = program.length / 8;
      for (let at = 0; at < count; at += 1) {
        const code = program.readUInt16LE(at * 8);
        const isJump = (code & 0x07) === 0x05;
        if (isJump) expect(at + 1 + Math.max(program[at * 8 + 2] ?? 0, program[at * 8 + 3] ?? 0)).toBeLessThan(count);
      }
      expect(program.readUInt16LE((count - 1) * 8)).toBe(0x06);
    }
  });

  it('is not guessed for processors whose calls we do not know', () => {
    expect(systemCallFilter('riscv64')).toBeUndefined();
  });
});
