import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insideFolder, relativePath } from '../../extension/common/workspace-paths.ts';

describe('relativePath', () => {
  it('is relative to the folder, with forward slashes', () => {
    expect(relativePath('/work/app', '/work/app/src/a.ts', path.posix)).toBe('src/a.ts');
    expect(relativePath('C:\\work\\app', 'C:\\work\\app\\src\\a.ts', path.win32)).toBe('src/a.ts');
  });

  it('takes a file whose name begins with two dots for a file', () => {
    expect(relativePath('/work/app', '/work/app/..hidden', path.posix)).toBe('..hidden');
  });

  it.each([
    ['beside the folder', '/work/app', '/work/app2/a.ts', path.posix],
    ['above the folder', '/work/app', '/work', path.posix],
    ['the folder itself', '/work/app', '/work/app', path.posix],
    ['on another drive', 'C:\\work\\app', 'D:\\work\\app\\a.ts', path.win32],
  ])('has none for what is %s', (_, folder, file, flavour) => {
    expect(relativePath(folder, file, flavour)).toBeUndefined();
  });
});

describe('insideFolder', () => {
  let root: string;
  let folder: string;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-paths-')));
    folder = path.join(root, 'project');
    await mkdir(path.join(folder, 'src'), { recursive: true });
    await mkdir(path.join(root, 'elsewhere'));
    await writeFile(path.join(folder, 'src/a.ts'), '');
  });
  afterEach(() => rm(root, { recursive: true }));

  it('finds a file that exists, and one in folders that do not exist yet', async () => {
    expect(await insideFolder(folder, 'src/a.ts')).toBe(path.join(folder, 'src/a.ts'));
    expect(await insideFolder(folder, 'new/deep/b.ts')).toBe(path.join(folder, 'new/deep/b.ts'));
  });

  it.each(['../elsewhere/a.ts', 'src/../../elsewhere/a.ts', '.', '', 'src/..', 'a\0.ts'])('refuses %j', async (file) => {
    expect(await insideFolder(folder, file)).toBeUndefined();
  });

  it('refuses an absolute path, even into the folder', async () => {
    expect(await insideFolder(folder, path.join(folder, 'src/a.ts'))).toBeUndefined();
  });

  it('refuses a file behind a link that leads out of the folder', async () => {
    await symlink(path.join(root, 'elsewhere'), path.join(folder, 'out'));
    expect(await insideFolder(folder, 'out/new.ts')).toBeUndefined();
  });

  it('takes a link that stays in the folder, and a folder that is itself a link', async () => {
    await symlink(path.join(folder, 'src'), path.join(folder, 'alias'));
    expect(await insideFolder(folder, 'alias/a.ts')).toBe(path.join(folder, 'alias/a.ts'));
    await symlink(folder, path.join(root, 'link'));
    expect(await insideFolder(path.join(root, 'link'), 'src/a.ts')).toBe(path.join(root, 'link/src/a.ts'));
  });

  it('refuses links in a circle and a name that is too long', async () => {
    await symlink('b', path.join(folder, 'a'));
    await symlink('a', path.join(folder, 'b'));
    expect(await insideFolder(folder, 'a')).toBeUndefined();
    expect(await insideFolder(folder, 'x'.repeat(5_000))).toBeUndefined();
  });

  it('refuses a link to a file that does not exist outside', async () => {
    await symlink(path.join(root, 'elsewhere/missing.ts'), path.join(folder, 'dangling.ts'));
    expect(await insideFolder(folder, 'dangling.ts')).toBeUndefined();
  });
});
