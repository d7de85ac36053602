import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Slots } from '../../../backend/common/slots.ts';
import { imageCommands } from '../../../backend/eval/swe-bench/image-commands.ts';
import type { RanElsewhere } from '../../../backend/hands/commands-elsewhere.ts';
import type { Containers, ImageCommand } from '../../../backend/verify/sandbox/container/containers.ts';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';
import { GitRepository } from '../../verify/git-repository.ts';
import { makeScratch, type Scratch } from '../../verify/setup.ts';

/* The script of a command with the real Git, on a project that is a folder of this machine instead of an image's. */

const FILES = { 'a.py': 'a\n', 'gone.txt': 'gone\n', '.gitignore': 'build/\n*.log\n', 'kept.log': 'kept\n' };

/**
 * Runs commands on a new copy of the project each.
 * @param untracked files that the image has and Git does not track @param forged what stands where the change is told, by default what the script wrote
 */
async function machine(scratch: Scratch, untracked: Readonly<Record<string, string>> = {}, forged?: string, tracked: Readonly<Record<string, string>> = {}) {
  const project = new GitRepository(path.join(scratch.folder, 'project'), { ...FILES, ...tracked });
  project.git('add', '-f', 'kept.log');
  project.git('commit', '--quiet', '--amend', '--no-edit');
  const files = path.join(scratch.folder, 'files');
  await cp(project.folder, files, { recursive: true });
  await rm(path.join(files, '.git'), { recursive: true });
  project.write({ ...untracked });
  const [testbed, mailbox] = [path.join(scratch.folder, 'testbed'), path.join(scratch.folder, 'mailbox')];
  const here = (text: string): string => text.replaceAll('/testbed', testbed).replaceAll('/conductor', mailbox);
  const containers = {
    runImage: async ({ script, given = {}, taken }: ImageCommand) => {
      for (const folder of [testbed, mailbox]) await rm(folder, { recursive: true, force: true });
      await cp(project.folder, testbed, { recursive: true });
      await mkdir(mailbox);
      for (const [name, text] of Object.entries(given)) await writeFile(path.join(mailbox, name), name === 'command' ? here(text) : text);
      const exitCode = await new Promise<number>((resolve) => {
        execFile('/bin/sh', ['-c', `echo $$ > ${mailbox}/shell; ${here(script)}`], (error) => resolve(typeof error?.code === 'number' ? error.code : 0));
      });
      if (forged !== undefined) await writeFile(path.join(mailbox, 'change'), forged);
      for (const [name, to] of Object.entries(taken)) await cp(path.join(mailbox, name), to, { recursive: true });
      return { exitCode, durationMs: 0 };
    },
  } as unknown as Containers;
  const commands = imageCommands({ row: { form: 'SWE-bench', evalScript: '' }, image: 'any', files, containers, slots: new Slots(1) });
  return {
    project,
    run: async (command: string, edits: readonly FileEdit[] = []): Promise<RanElsewhere> => await commands.run(command, edits, new AbortController().signal),
  };
}

const EDIT: FileEdit = { path: 'a.py', kind: 'modify', before: 'a\n', after: 'b\n' };

it('takes over what a command changes, and not what the image had untracked or ignored', async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch, { 'build/library.c': 'built\n', 'add.egg-info/PKG-INFO': 'installed\n' });
  expect(await run('echo hi')).toEqual({ said: 'Ended with exit code 0.\nhi\n', files: new Map(), left: [] });
  expect((await run('echo more >> build/library.c; echo new > build/new.c; echo new > new.py', [EDIT])).files).toEqual(new Map([['a.py', 'b\n'], ['new.py', 'new\n']]));
  expect((await run('echo more >> kept.log; rm gone.txt')).files).toEqual(new Map([['kept.log', 'kept\nmore\n'], ['gone.txt', null]]));
});

it('works on a project with tracked files that are gone, and with a submodule', async () => {
  await using scratch = await makeScratch();
  const { run, project } = await machine(scratch);
  await rm(path.join(project.folder, 'gone.txt'));
  await mkdir(path.join(project.folder, 'part'));
  project.git('update-index', '--add', '--cacheinfo', `160000,${project.git('rev-parse', 'HEAD').trim()},part`);
  project.write({ 'part/.git': 'gitdir: ../.git/modules/part\n', 'part/inner.py': 'inner\n' });
  expect(await run('cat part/inner.py; echo c > a.py')).toEqual({ said: 'Ended with exit code 0.\ninner\n', files: new Map([['a.py', 'c\n']]), left: [] });
});

it.each([
  ['removes the repository', 'rm -rf .git'], ['removes the project', 'rm -rf /testbed'], ['ends the shell around it', 'kill -KILL $(cat /conductor/shell)'],
])('knows no change of a command that %s, so that the step keeps its own', async (_, command) => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  const { said, files } = await run(command, [EDIT]);
  expect(said).toContain('What it changed cannot be told, so none of that is kept.');
  expect(files).toBeUndefined();
});

it.each([['a folder', 'mkdir'], ['a link', 'ln -s /etc/hostname']])('goes on where a command leaves %s in place of its change', async (_, makes) => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  expect((await run(`rm /conductor/change; ${makes} /conductor/change; echo c > a.py`)).files).toEqual(new Map([['a.py', 'c\n']]));
});

it('takes over an ignored file that the step made, also where another one is removed', async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  const made = (file: string): FileEdit => ({ path: file, kind: 'create', before: null, after: 'made\n' });
  expect((await run('rm b.py; echo more >> build/c.py', [made('b.py'), made('build/c.py')])).files).toEqual(new Map([['build/c.py', 'made\nmore\n']]));
});

it('takes over lines at the end of a file with a newline and without, and no other mode', async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  expect(await run("printf b > a.py; printf 'x\\ny' > new.py; : > empty.py; chmod +x gone.txt")).toEqual({
    said: 'Ended with exit code 0.\n(It printed nothing.)', files: new Map([['a.py', 'b'], ['empty.py', ''], ['new.py', 'x\ny']]), left: [],
  });
  expect((await run("printf 'a\\nb\\n' > a.py", [{ ...EDIT, after: 'a\nc' }])).files).toEqual(new Map([['a.py', 'a\nb\n']]));
  expect((await run(': > a.py', [{ ...EDIT, after: 'a' }])).files).toEqual(new Map([['a.py', '']]));
});

it('keeps nothing of a command that changes very many files', async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  const { said, files } = await run('mkdir many; for i in {1..1001}; do : > many/$i; done');
  expect(said).toContain('It changed more than can be kept, so none of that is kept.');
  expect(files).toBeUndefined();
});

it('reads a diff that fits nowhere at once', { timeout: 20_000 }, async () => {
  await using scratch = await makeScratch();
  const long = 'a\n'.repeat(100_000);
  const [context, added] = [' a\n'.repeat(50_000), '+b\n'.repeat(500_000)];
  const forged = `diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,50001 +1,550001 @@\n${context}${added} c\nwhole\n`;
  const { run } = await machine(scratch, {}, forged, { 'a.py': long });
  expect(await run('true')).toMatchObject({ files: new Map(), left: [expect.stringContaining('a.py')] });
});

it('leaves a file whose name Git quotes', async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch);
  const { files, left } = await run("echo c > $'a\\tb'; mkdir 'd b'; echo d > 'd b/d e'");
  expect(files).toEqual(new Map([['d b/d e', 'd\n']]));
  expect(left).toEqual([expect.stringContaining('no text file')]);
});

it('reads a line of any length that was written as its change', { timeout: 20_000 }, async () => {
  await using scratch = await makeScratch();
  const { run } = await machine(scratch, {}, `diff --git a/${' b/'.repeat(300_000)}x\nwhole\n`);
  expect(await run('true')).toMatchObject({ files: new Map(), left: [expect.stringContaining('no text file')] });
});
