import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, readlink, realpath, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CopyPool, type LeasedCopy, type WorkspaceSnapshot } from '../../backend/verify/copies/copy-pool.ts';
import { Slices } from '../../backend/common/slices.ts';
import { listWorkspace, WorkspaceCopyError } from '../../backend/verify/copies/workspace-listing.ts';
import { makeScratch, type Scratch } from './setup.ts';

const { signal } = new AbortController();

async function copied(scratch: Scratch, folder: string, installed?: string): Promise<LeasedCopy & WorkspaceSnapshot> {
  const snapshot = await scratch.copies.snapshot({ folder, ...(installed !== undefined && { installed }) }, signal);
  const { fingerprint, paths, secret } = snapshot;
  return { ...(await scratch.copies.lease(snapshot, signal)), fingerprint, paths, secret };
}

/** All files and links below a folder, without what is in `node_modules` packages and the empty `.git`. */
async function tree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('.git/'))
    .sort();
}

function git(base: string, ...args: string[]): void {
  execFileSync('git', ['-C', base, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { stdio: 'pipe' });
}

describe('a copy of a checkout', () => {
  it('holds what Git does not ignore, committed or not, and nothing of what Git itself keeps', async () => {
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
    expect([...copy.paths].sort()).toEqual(await tree(copy.folder));
    expect(await readFile(path.join(copy.folder, 'src/a.js'), 'utf8')).toBe('changed');
  });

  it('holds no file of this machine whose name says that it holds secrets, unless that is wanted', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'test/server.pem': 'a fixture', '.env': 'KEY=1', 'deploy/id_rsa': 'key', 'src/secrets.js': 'no secret' });
    git(base, 'init', '-q');
    git(base, 'add', 'test');
    const copy = await copied(scratch, base);
    expect(await tree(copy.folder)).toEqual(['a.js', 'src/secrets.js', 'test/server.pem']);
    expect([...copy.secret].sort()).toEqual(['.env', 'deploy/id_rsa']);
    const asked = new CopyPool({ folders: scratch.folders, withSecrets: true });
    const whole = await asked.lease(await asked.snapshot({ folder: base }, signal), signal);
    expect(await tree(whole.folder)).toEqual(['.env', 'a.js', 'deploy/id_rsa', 'src/secrets.js', 'test/server.pem']);
    await whole.release();
    await asked.close();
  });

  it('is a repository of its own, with nothing in it: no commit, branch, remote, reflog, hook', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    git(base, 'init', '-q');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'the fix');
    git(base, 'remote', 'add', 'origin', 'https://example.org/a.git');
    const { folder } = await copied(scratch, base);
    const ask = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
    expect(await realpath(ask('rev-parse', '--show-toplevel'))).toBe(folder);
    expect(ask('for-each-ref') + ask('remote') + ask('ls-files') + ask('rev-list', '--all', '--reflog')).toBe('');
    expect(() => ask('log')).toThrow();
    const kept = await readdir(path.join(folder, '.git'), { recursive: true });
    expect(kept.sort()).toEqual(['HEAD', 'config', 'objects', 'refs']);
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
    const slices = new Slices();
    expect((await listWorkspace(base, { slices, signal, gitTimeoutMs: 200 })).files).toMatchObject([{ path: 'a.js' }]);
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
    const copy = await copied(scratch, base);
    expect(await tree(copy.folder)).toEqual(['a.js']);
    expect(existsSync(path.join(copy.folder, '../../stolen.js'))).toBe(false);
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

  it('shares what is installed elsewhere, for a checkout without it', async () => {
    await using scratch = await makeScratch();
    const installed = await scratch.project({
      'node_modules/dep/index.js': 'dep',
      'node_modules/own': { link: '../packages/own' },
      'packages/own/index.js': 'of the workspace',
      'packages/own/node_modules/deep/index.js': 'deep',
      'packages/other/node_modules/none/index.js': 'none',
      'evil/a.js': '',
    }, 'workspace');
    await scratch.project({ 'node_modules/stolen/index.js': 'stolen' }, 'outside');
    await rm(path.join(installed, 'evil'), { recursive: true });
    await symlink(path.join(scratch.folder, 'outside'), path.join(installed, 'evil'));
    const checkout = await scratch.project({ 'packages/own/index.js': 'of the checkout', 'evil/a.js': '' }, 'checkout');
    const copy = await copied(scratch, checkout, installed);
    const read = (file: string): Promise<string> => readFile(path.join(copy.folder, file), 'utf8');
    expect(await read('node_modules/dep/index.js')).toBe('dep');
    expect(await read('node_modules/own/index.js')).toBe('of the checkout');
    expect(await read('packages/own/node_modules/deep/index.js')).toBe('deep');
    expect(copy.sharedFolders.map((folder) => path.relative(installed, folder)).sort()).toEqual([
      'node_modules',
      'packages/own/node_modules',
    ]);
    expect([...copy.paths].sort()).toEqual(['evil/a.js', 'packages/own/index.js']);
  });

  it('copies the packages that Git has been told to keep, and links the others beside them', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      '.gitignore': '/node_modules/\n',
      'node_modules/dep/index.js': 'dep',
      'test/fixtures/node_modules/kept/index.js': 'kept',
      'unversioned/index.js': 'x',
      'unversioned/node_modules/dep/index.js': 'x',
    });
    git(base, 'init', '-q');
    git(base, 'add', '.gitignore', 'test');
    await scratch.project({ 'test/fixtures/node_modules/loose/index.js': 'loose' });
    const { folder } = await copied(scratch, base);
    expect(await readlink(path.join(folder, 'node_modules/dep'))).toBe(path.join(base, 'node_modules/dep'));
    const fixtures = 'test/fixtures/node_modules';
    expect((await lstat(path.join(folder, fixtures, 'kept'))).isDirectory()).toBe(true);
    expect(await readFile(path.join(folder, fixtures, 'kept/index.js'), 'utf8')).toBe('kept');
    expect(await readlink(path.join(folder, fixtures, 'loose'))).toBe(path.join(base, fixtures, 'loose'));
    expect((await lstat(path.join(folder, 'unversioned/node_modules/dep'))).isSymbolicLink()).toBe(true);
  });

  it('leaves out the caches in node_modules that tools write while tests run', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'node_modules/.vite-temp/x': '', 'node_modules/.bin/tool': '' });
    expect(await readdir(path.join((await copied(scratch, base)).folder, 'node_modules'))).toEqual(['.bin']);
  });

  it.each([['with Git', true], ['without', false]])('shares Python environments, whatever they are called, %s', async (_, withGit) => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      'a.py': '',
      'venv/pyvenv.cfg': 'home = /usr/bin\n',
      'venv/lib/python3.12/site-packages/dep.py': 'dep = 1\n',
      'service/b.py': '',
      'service/.venv/pyvenv.cfg': 'home = /usr/bin\n',
      'env/settings.py': 'no environment of Python',
    });
    if (withGit) git(base, 'init', '-q');
    const copy = await copied(scratch, base);
    expect([...copy.paths].sort()).toEqual(['a.py', 'env/settings.py', 'service/b.py']);
    expect(await readFile(path.join(copy.folder, 'venv/lib/python3.12/site-packages/dep.py'), 'utf8')).toBe('dep = 1\n');
    const shared = ['service/.venv', 'venv'];
    expect(copy.sharedFolders.map((folder) => path.relative(base, folder)).sort()).toEqual(shared);
    for (const folder of shared) expect(await readlink(path.join(copy.folder, folder))).toBe(path.join(base, folder));
  });

  it('leaves out what may not be read and what is no file', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a', 'private/data': 'x' });
    execFileSync('mkfifo', [path.join(base, 'pipe')]);
    execFileSync('chmod', ['0', path.join(base, 'private/data'), path.join(base, 'private')]);
    try {
      const expected = process.getuid?.() === 0 ? ['a.js', 'private/data'] : ['a.js'];
      expect(await tree((await copied(scratch, base)).folder)).toEqual(expected);
    } finally {
      execFileSync('chmod', ['700', path.join(base, 'private')]);
    }
  });

  it('keeps the modes of files, but can always be written', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'run.sh': '#!/bin/sh\n', 'own.txt': 'own', 'fixed.txt': 'x', 'shared.txt': 'x' });
    const modes = { 'run.sh': 0o755, 'own.txt': 0o600, 'fixed.txt': 0o444, 'shared.txt': 0o666 };
    for (const [file, mode] of Object.entries(modes)) await chmod(path.join(base, file), mode);
    const { folder } = await copied(scratch, base);
    for (const [file, mode] of Object.entries(modes))
      expect((await stat(path.join(folder, file))).mode & 0o777, file).toBe(mode | 0o600);
  });

  it('holds large files too', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    const large = Buffer.alloc(5 * 1024 * 1024, 'large');
    await writeFile(path.join(base, 'large.bin'), large, { mode: 0o444 });
    const { folder } = await copied(scratch, base);
    expect(large.equals(await readFile(path.join(folder, 'large.bin')))).toBe(true);
    expect((await stat(path.join(folder, 'large.bin'))).mode & 0o777).toBe(0o644);
  });

  it('is of the repository that it is in, whatever repository a hook of Git runs in', async () => {
    await using scratch = await makeScratch();
    const other = await scratch.project({ 'other.js': 'x' }, 'other');
    const base = await scratch.project({ 'a.js': 'a', '.gitignore': 'ignored\n', ignored: 'x' });
    for (const folder of [other, base]) git(folder, 'init', '-q');
    git(base, 'add', '-f', 'ignored');
    process.env['GIT_DIR'] = path.join(other, '.git');
    try {
      expect(await tree((await copied(scratch, base)).folder)).toEqual(['.gitignore', 'a.js', 'ignored']);
    } finally {
      delete process.env['GIT_DIR'];
    }
  });
});

describe('a fingerprint', () => {
  it('is that of names, modes and contents, wherever the workspace lies', async () => {
    await using scratch = await makeScratch();
    const files = { 'a.js': 'a', 'b.js': 'b', 'link.js': { link: 'a.js' } };
    const base = await scratch.project(files);
    const seen = [(await copied(scratch, base)).fingerprint];
    expect((await copied(scratch, base)).fingerprint).toBe(seen[0]);
    expect((await copied(scratch, await scratch.project(files, 'elsewhere'))).fingerprint).toBe(seen[0]);
    const changes = [
      () => writeFile(path.join(base, 'a.js'), 'A'),
      () => chmod(path.join(base, 'a.js'), 0o755),
      () => rename(path.join(base, 'b.js'), path.join(base, 'c.js')),
      () => writeFile(path.join(base, 'empty.js'), ''),
      () => rm(path.join(base, 'link.js')),
    ];
    for (const change of changes) {
      await change();
      const { fingerprint } = await scratch.copies.snapshot({ folder: base }, signal);
      expect(seen).not.toContain(fingerprint);
      seen.push(fingerprint);
    }
  });

  it('changes with what is installed', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({
      'a.py': '',
      'node_modules/dep/index.js': '',
      'node_modules/.package-lock.json': '{}',
      '.venv/pyvenv.cfg': '',
      '.venv/lib/python3.12/site-packages/dep.py': '',
    });
    const long = new Date('2020-01-01');
    const seen = [(await scratch.copies.snapshot({ folder: base }, signal)).fingerprint];
    for (const changed of ['node_modules/.package-lock.json', '.venv/pyvenv.cfg', '.venv/lib/python3.12/site-packages']) {
      await utimes(path.join(base, changed), long, long);
      const { fingerprint } = await scratch.copies.snapshot({ folder: base }, signal);
      expect(seen).not.toContain(fingerprint);
      seen.push(fingerprint);
    }
    // What tests of the user's own leave in a cache is not installed.
    await scratch.project({ 'node_modules/.vite/results.json': '{}' });
    expect((await scratch.copies.snapshot({ folder: base }, signal)).fingerprint).toBe(seen.at(-1));
  });
});

describe('a workspace that cannot be copied', () => {
  it('is said so where it is not there', async () => {
    await using scratch = await makeScratch();
    const folder = path.join(scratch.folder, 'none');
    await expect(scratch.copies.snapshot({ folder }, signal)).rejects.toThrow(/^The workspace cannot be read: .*none/);
    await expect(scratch.copies.snapshot({ folder }, signal)).rejects.toBeInstanceOf(WorkspaceCopyError);
  });

  it('is left alone once the signal says so', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'a.js': 'a' });
    const aborted = AbortSignal.abort();
    await expect(scratch.copies.snapshot({ folder: base }, aborted)).rejects.toBe(aborted.reason);
    const snapshot = await scratch.copies.snapshot({ folder: base }, signal);
    await expect(scratch.copies.lease(snapshot, aborted)).rejects.toBe(aborted.reason);
  });
});
