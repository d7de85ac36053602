import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../backend/verify/patch/apply-patch.ts';
import type { FileEdit } from '../../backend/verify/patch/patch.ts';
import { unifiedDiff } from '../../backend/verify/patch/unified-diff.ts';
import { makeScratch } from './setup.ts';

const modify: FileEdit = { path: 'src/a.js', kind: 'modify', before: 'a\n', after: 'b\n' };
const create: FileEdit = { path: 'lib/deep/n.js', kind: 'create', before: null, after: 'n\n' };
const remove: FileEdit = { path: 'src/old.js', kind: 'delete', before: 'old\n', after: null };
const FILES = { 'src/a.js': 'a\n', 'src/old.js': 'old\n' };

describe('writing a patch', () => {
  it('changes, creates and deletes files, keeps modes, and leaves no temporary file', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(FILES);
    await chmod(path.join(base, 'src/a.js'), 0o755);
    await applyPatch(base, { edits: [modify, create, remove] });
    expect(await readFile(path.join(base, 'src/a.js'), 'utf8')).toBe('b\n');
    expect((await stat(path.join(base, 'src/a.js'))).mode & 0o777).toBe(0o755);
    expect(await readFile(path.join(base, 'lib/deep/n.js'), 'utf8')).toBe('n\n');
    expect(await readdir(path.join(base, 'src'))).toEqual(['a.js']);
  });

  const rows: [name: string, edit: FileEdit, prepare: (base: string) => Promise<void>][] = [
    ['the file has changed since', modify, (base) => writeFile(path.join(base, 'src/a.js'), 'mine\n')],
    ['the file is gone', modify, (base) => rm(path.join(base, 'src/a.js'))],
    [
      'a file has appeared in its place',
      create,
      async (base) => {
        await mkdir(path.join(base, 'lib/deep'), { recursive: true });
        await writeFile(path.join(base, 'lib/deep/n.js'), 'mine\n');
      },
    ],
    [
      'a folder has become a link',
      modify,
      async (base) => {
        await rm(path.join(base, 'src'), { recursive: true });
        await symlink('/tmp', path.join(base, 'src'));
      },
    ],
    [
      'the file has become a link',
      modify,
      async (base) => {
        await rm(path.join(base, 'src/a.js'));
        await symlink('old.js', path.join(base, 'src/a.js'));
      },
    ],
    ['the path leads outside', { ...create, path: '../n.js' }, () => Promise.resolve()],
    ['the file is protected', { ...create, path: 'test/n.js' }, () => Promise.resolve()],
  ];
  it.each(rows)('is refused with nothing written if %s', async (_, edit, prepare) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(FILES);
    await prepare(base);
    const first: FileEdit = { path: 'first.js', kind: 'create', before: null, after: 'first\n' };
    await expect(applyPatch(base, { edits: [first, edit] })).rejects.toMatchObject({
      name: 'PatchNotApplicableError',
      path: edit.path,
    });
    expect(await readdir(base)).not.toContain('first.js');
    expect(await readdir(scratch.folder)).not.toContain('n.js');
  });
});

describe('the diff for people', () => {
  it.each([
    [modify, '--- a/src/a.js\n+++ b/src/a.js\n@@ -1,1 +1,1 @@\n-a\n+b\n'],
    [create, '--- /dev/null\n+++ b/lib/deep/n.js\n@@ -0,0 +1,1 @@\n+n\n'],
    [remove, '--- a/src/old.js\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n'],
  ])('of an edit is a unified diff', (edit, text) => {
    expect(unifiedDiff(edit)).toBe(text);
  });
});
