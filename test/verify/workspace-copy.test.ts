import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyWorkspace, type WorkspaceCopy } from '../../backend/verify/workspace-copy.ts';
import { listWorkspace } from '../../backend/verify/workspace-listing.ts';
import { makeScratch, type Scratch } from './setup.ts';

const { signal } = new AbortController();

async function copied(scratch: Scratch, base: string, name = 'copy'): Promise<WorkspaceCopy> {
  return await copyWorkspace(base, path.join(scratch.folder, name), signal);
}

/** All files and links below a folder, without what is in `node_modules` packages. */
async function tree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

function git(base: string, ...args: string[]): void {
  execFileSync('git', ['-C', base, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { stdio: 'pipe' });
}

describe('a copy of a checkout', () => {
  it('holds what Git does not ignore, committed or not, and nothing of Git itself', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      '.gitignore': 'ignored/\n.env\n',
      'src/a.js': 'a',
      'src/deleted.js': 'x',
      'with space/ü.js': 'u',
      'ignored/x': 'x',
      '.env': 'KEY=1',
    });
    git(base, 'init', '-q');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'first');
    await writeFile(path.join(base, 'src/new.js'), 'new');
    await writeFile(path.join(base, 'src/a.js'), 'changed');
    git(base, 'rm', '-q', '--cached', 'src/deleted.js');
    execFileSync('rm', [path.join(base, 'src/deleted.js')]);
    const copy = await copied(scratch, base);
    expect(await tree(copy.folder)).toEqual(['.gitignore', 'src/a.js', 'src/new.js', 'with space/ü.js']);
    expect(await readFile(path.join(copy.folder, 'src/a.js'), 'utf8')).toBe('changed');
  });

  it('does not run what the repository names as its file system monitor', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'monitor.sh': '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\n' });
    git(base, 'init', '-q');
    git(base, 'config', 'core.fsmonitor', path.join(base, 'monitor.sh'));
    execFileSync('chmod', ['+x', path.join(base, 'monitor.sh')]);
    await copied(scratch, base);
    expect(await readdir(base)).not.toContain('was-run');
  });

  it('runs nothing that the repository names for fetching objects that are not there', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'in/a.js': 'a', 'out/deep/b.js': 'b' });
    git(base, 'init', '-q');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'first');
    // To list a sparse index Git reads trees, and to read one that is not there a partial clone runs the named program.
    git(base, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    git(base, 'sparse-checkout', 'set', 'in');
    const tree = execFileSync('git', ['-C', base, 'rev-parse', 'HEAD:out'], { encoding: 'utf8' }).trim();
    await rm(path.join(base, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    const marker = path.join(scratch.folder, 'was-run');
    const settings = {
      'core.repositoryformatversion': '1', 'extensions.partialClone': 'origin', 'remote.origin.promisor': 'true',
      'remote.origin.url': base, 'remote.origin.uploadpack': `touch ${marker}; false`,
    };
    for (const [key, value] of Object.entries(settings)) git(base, 'config', key, value);
    await copied(scratch, base);
    expect(existsSync(marker)).toBe(false);
  });

  it('is listed without Git where Git does not come to an end', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    git(base, 'init', '-q');
    execFileSync('mkfifo', [path.join(base, '.gitignore')]);
    expect((await listWorkspace(base, signal, 200)).files).toMatchObject([{ path: 'a.js' }]);
  });

  it('takes nothing from outside, whatever names the index holds', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'AA/AA/stolen.js': 'x' }, 'deep/er/project');
    await writeFile(path.join(scratch.folder, 'deep/stolen.js'), 'outside');
    git(base, 'init', '-q');
    git(base, 'add', '.');
    await rm(path.join(base, 'AA'), { recursive: true });
    // Git refuses to write such a name and lists it all the same.
    const index = path.join(base, '.git/index');
    const bytes = (await readFile(index)).subarray(0, -20);
    bytes.write('../../', bytes.indexOf('AA/AA/'));
    await writeFile(index, Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]));
    expect(execFileSync('git', ['-C', base, 'ls-files'], { encoding: 'utf8' })).toContain('../../stolen.js');
    const copy = await copied(scratch, base, 'copies/of/project');
    expect(await tree(copy.folder)).toEqual(['a.js']);
    expect(await readdir(path.join(scratch.folder, 'copies'))).toEqual(['of']);
  });

  it('takes nothing through a link that has taken the place of a folder', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'keys/id_rsa': 'x', 'keys/node_modules/p/index.js': 'x' });
    const outside = await scratch.project({ id_rsa: 'private', 'node_modules/p/index.js': 'x' }, 'outside');
    git(base, 'init', '-q');
    git(base, 'add', '-f', '.');
    await rm(path.join(base, 'keys'), { recursive: true });
    await symlink(outside, path.join(base, 'keys'));
    const copy = await copied(scratch, base);
    expect(await tree(copy.folder)).toEqual(['a.js']);
    expect(copy.sharedFolders).toEqual([]);
  });

  it('holds the files of a repository inside it', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'inner/b.js': 'b' });
    git(path.join(base, 'inner'), 'init', '-q');
    git(base, 'init', '-q');
    expect(await tree((await copied(scratch, base)).folder)).toEqual(['a.js', 'inner/b.js']);
  });
});

describe('a copy', () => {
  it('shares no file with the workspace: neither content nor inode', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    const copy = await copied(scratch, base);
    await writeFile(path.join(copy.folder, 'a.js'), 'changed in place');
    expect(await readFile(path.join(base, 'a.js'), 'utf8')).toBe('a');
    expect((await stat(path.join(base, 'a.js'))).nlink).toBe(1);
  });

  it('keeps links that stay inside, as links into the copy, and leaves out those that lead elsewhere', async () => {
    await using scratch = await makeScratch();
    const outside = await scratch.project({ secret: 'top secret' }, 'outside');
    const base = await scratch.project({
      'src/a.js': 'a',
      'relative.js': { link: 'src/a.js' },
      'absolute.js': { link: path.join(scratch.folder, 'project/src/a.js') },
      folder: { link: 'src' },
      out: { link: outside },
      'out-relative': { link: '../outside/secret' },
      through: { link: 'out/secret' },
      dangling: { link: 'src/none.js' },
    });
    const copy = await copied(scratch, base);
    expect(await tree(copy.folder)).toEqual(['absolute.js', 'dangling', 'folder', 'relative.js', 'src/a.js']);
    for (const link of ['relative.js', 'absolute.js', 'folder']) {
      expect(await realpath(path.join(copy.folder, link))).toMatch(new RegExp(`^${copy.folder}/src`));
    }
  });

  it('shares installed packages, with a node_modules folder of its own and links of a monorepo into the copy', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      'package.json': '{}',
      'node_modules/dep/index.js': 'dep',
      'node_modules/@scope/dep/index.js': 'scoped',
      'node_modules/@own/lib': { link: '../../packages/lib' },
      'packages/lib/index.js': 'own',
      'packages/lib/node_modules/deep/index.js': 'deep',
    });
    const copy = await copied(scratch, base);
    const inCopy = (file: string): string => path.join(copy.folder, file);
    expect((await lstat(inCopy('node_modules'))).isDirectory()).toBe(true);
    expect(await readlink(inCopy('node_modules/dep'))).toBe(path.join(base, 'node_modules/dep'));
    expect(await readFile(inCopy('node_modules/@scope/dep/index.js'), 'utf8')).toBe('scoped');
    expect(await realpath(inCopy('node_modules/@own/lib/index.js'))).toBe(inCopy('packages/lib/index.js'));
    expect(await readFile(inCopy('packages/lib/node_modules/deep/index.js'), 'utf8')).toBe('deep');
    expect(copy.sharedFolders.map((folder) => path.relative(base, folder)).sort()).toEqual([
      'node_modules',
      'packages/lib/node_modules',
    ]);
  });

  it('has the fingerprint of its contents', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'b.js': 'b' });
    const first = await copied(scratch, base, 'first');
    expect((await copied(scratch, base, 'second')).fingerprint).toBe(first.fingerprint);
    await writeFile(path.join(base, 'a.js'), 'A');
    expect((await copied(scratch, base, 'third')).fingerprint).not.toBe(first.fingerprint);
  });

  it('can be copied again', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'link.js': { link: 'a.js' }, 'node_modules/dep/index.js': 'dep' });
    const copy = await copied(scratch, base);
    const clone = path.join(scratch.folder, 'clone');
    await copy.cloneTo(clone);
    expect(await tree(clone)).toEqual(await tree(copy.folder));
    expect(await readFile(path.join(clone, 'node_modules/dep/index.js'), 'utf8')).toBe('dep');
  });

  it('ends with the signal', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    await expect(copyWorkspace(base, path.join(scratch.folder, 'copy'), AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});
