import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeScratch } from './setup.ts';

describe('a run folder', () => {
  it.each([
    ['few files', 'mkdir -p a/b; echo > a/b/c'],
    ['many files', 'mkdir a; seq -f a/%g 3000 | xargs touch'],
    ['folders without rights', 'mkdir -p a/b; echo > a/b/c; chmod 0 a/b a .'],
    ['names that are not text', "printf x > $(printf '\\377')"],
    ['folders deeper than a path can say', 'n=$(printf %0200d 0); for i in $(seq 40); do mkdir $n && cd -P $n; done; echo > f'],
    ['many files and folders without rights', 'mkdir -p z/b; seq -f z/%g 3000 | xargs touch; echo > z/b/c; chmod 0 z/b z .'],
  ])('is removed with %s in it', async (_, command) => {
    await using scratch = await makeScratch();
    const { root, temporary, remove } = await scratch.folders.create();
    execFileSync('/bin/sh', ['-c', command], { cwd: temporary });
    await remove();
    expect(await readdir(path.dirname(root))).toEqual([]);
  });

  it.each([1, 3_000])('is removed without what links in it lead to, beside %i files', async (count) => {
    await using scratch = await makeScratch();
    const outside = await scratch.project({ 'a.js': 'a', 'b/c.js': 'c' }, 'outside');
    const { temporary, remove } = await scratch.folders.create();
    await mkdir(path.join(temporary, 'in'));
    for (const folder of ['.', 'in']) await symlink(outside, path.join(temporary, folder, 'out'));
    execFileSync('/bin/sh', ['-c', `seq ${count} | xargs touch`], { cwd: temporary });
    await remove();
    expect((await readdir(outside, { recursive: true })).sort()).toEqual(['a.js', 'b', 'b/c.js']);
  });

  it('is removed a second time without a word', async () => {
    await using scratch = await makeScratch();
    const { remove } = await scratch.folders.create();
    await remove();
    await remove();
  });

  it('lies in another part of an ext4 disk than the one before', async ({ skip }) => {
    await using scratch = await makeScratch();
    await scratch.folders.create();
    const attributes = (folder: string): string => {
      try {
        return execFileSync('lsattr', ['-d', folder], { encoding: 'utf8', stdio: 'pipe' }).split(' ')[0] ?? '';
      } catch {
        return skip('no ext4 here');
      }
    };
    if (!attributes(scratch.folder).includes('e')) skip('no ext4 here');
    expect(attributes(scratch.folders.root)).toContain('T');
  });
});
