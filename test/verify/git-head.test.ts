import { chmod, lstat, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { NoHeadError, readHead, writeHead, type WrittenHead } from '../../backend/verify/git/git-head.ts';
import { GitError } from '../../backend/verify/git/git-safety.ts';
import { uncommittedChange } from '../../backend/verify/git/uncommitted-change.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GitRepository, type Contents } from './git-repository.ts';
import { makeScratch } from './setup.ts';

const { signal } = new AbortController();

async function repositoryOf(files: Readonly<Record<string, Contents>>): Promise<GitRepository> {
  return new GitRepository(path.join(await temporaryFolder(), 'project'), files);
}

const written = async (repository: GitRepository, workspace = repository.folder): Promise<WrittenHead> =>
  writeHead(await readHead(workspace, signal), path.join(await temporaryFolder(), 'head'), signal);

/** Every file and link, by path. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const absolute = path.join(entry.parentPath, entry.name);
    const relative = path.relative(folder, absolute);
    if (relative.startsWith('.git/') || entry.isDirectory()) continue;
    found[relative] = entry.isSymbolicLink() ? `-> ${await readlink(absolute)}` : await readFile(absolute, 'latin1');
  }
  return found;
}

const pointerTo = (sha256: string, size: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`;

describe('the last commit in a folder of its own', () => {
  it('has what was committed, byte by byte, whatever lies in the working tree or the index now', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 0]);
    const repository = await repositoryOf({
      'src/a.js': 'old\r\n',
      'data/x.bin': bytes,
      'empty.txt': '',
      'run.sh': '#!/bin/sh\n',
      'to-a': { link: 'src/a.js' },
    });
    await chmod(path.join(repository.folder, 'run.sh'), 0o755);
    repository.commit({});
    repository.write({ 'src/a.js': 'new\n', 'src/new.js': 'new\n', 'data/x.bin': null });
    repository.git('add', '--all');
    const { folder, notes } = await written(repository);
    expect(await filesIn(folder)).toEqual({
      'src/a.js': 'old\r\n',
      'data/x.bin': bytes.toString('latin1'),
      'empty.txt': '',
      'run.sh': '#!/bin/sh\n',
      'to-a': '-> src/a.js',
    });
    expect([
      (await stat(path.join(folder, 'run.sh'))).mode & 0o100,
      (await stat(path.join(folder, 'empty.txt'))).mode & 0o100,
    ]).toEqual([0o100, 0]);
    expect(notes).toEqual([]);
  });

  it('is written, and compared with the working tree, without running what the repository names', async () => {
    const repository = await repositoryOf({ '.gitattributes': '*.js filter=evil diff=evil\n', 'a.js': 'a\n', 'b.js': 'b\n' });
    const trap = path.join(path.dirname(repository.folder), 'trap.sh');
    const sprung = `${trap}.sprung`;
    await writeFile(trap, `#!/bin/sh\ntouch '${sprung}'\ncat\n`, { mode: 0o755 });
    for (const name of ['post-checkout', 'post-index-change', 'pre-auto-gc', 'reference-transaction'])
      await writeFile(path.join(repository.folder, '.git/hooks', name), `#!/bin/sh\ntouch '${sprung}'\n`, { mode: 0o755 });
    for (const name of [
      'core.fsmonitor',
      'filter.evil.clean',
      'filter.evil.smudge',
      'filter.evil.process',
      'diff.evil.textconv',
      'core.pager',
      'core.sshCommand',
    ])
      repository.git('config', name, trap);
    repository.write({ 'b.js': 'c\n', 'n.js': 'n\n' });
    const head = await written(repository);
    const { patch } = await uncommittedChange(head, signal);
    expect(patch.refused).toEqual([{ path: 'b.js', reason: expect.stringContaining('"evil"') as string }]);
    await expect(lstat(sprung)).rejects.toThrow('ENOENT');
    // The trap does spring where Git is asked for such a thing.
    repository.git('status');
    await lstat(sprung);
  });

  it('leaves out links that lead out of the workspace, and says so', async () => {
    const { folder, notes } = await written(
      await repositoryOf({
        'a.txt': 'a',
        'deep/up': { link: '../a.txt' },
        'deep/out': { link: '../../a.txt' },
        etc: { link: '/etc/passwd' },
      }),
    );
    expect(await filesIn(folder)).toEqual({ 'a.txt': 'a', 'deep/up': '-> ../a.txt' });
    expect(notes).toEqual(
      ['deep/out', 'etc'].map((file) => `The symbolic link ${file} leads out of the workspace and is left out.`),
    );
  });

  it('leaves out names that are no text, and those that would lead elsewhere', async () => {
    const repository = await repositoryOf({ 'a.txt': 'a' });
    const blob = Buffer.from(repository.git('rev-parse', 'HEAD:a.txt').trim(), 'hex');
    const entry = (mode: string, name: Buffer, id: Buffer): Buffer =>
      Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), id]);
    const tree = (...entries: Buffer[]): Buffer =>
      Buffer.from(
        repository.gitWith({ input: Buffer.concat(entries) }, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin').trim(),
        'hex',
      );
    const evil = tree(entry('100644', Buffer.from('evil.txt'), blob));
    const root = tree(
      entry('40000', Buffer.from('..'), evil),
      entry('40000', Buffer.from('.GIT'), evil),
      entry('100644', Buffer.from([0x63, 0xe9]), blob),
      entry('100644', Buffer.from('fine.txt'), blob),
    );
    repository.git('update-ref', 'HEAD', repository.git('commit-tree', '-m', 'evil', root.toString('hex')).trim());
    const { folder, notes } = await written(repository);
    expect(await filesIn(folder)).toEqual({ 'fine.txt': 'a' });
    expect(await readdir(path.dirname(folder))).toEqual(['head']);
    expect(notes).toEqual(['Left out of the last commit: 3 files with a name that cannot be written here.']);
  });

  it('has the files of submodules as the commit names them, and says so', async () => {
    const innermost = await repositoryOf({ 'y.js': 'y' });
    const inner = await repositoryOf({ 'x.js': 'x', '.gitignore': '*.txt' });
    inner.git('submodule', '--quiet', 'add', innermost.folder, 'deep');
    inner.commit({ 'data.txt': 'kept' });
    const repository = await repositoryOf({ 'a.js': 'a' });
    repository.git('submodule', '--quiet', 'add', inner.folder, 'lib/inner');
    repository.git('submodule', '--quiet', 'update', '--init', '--recursive');
    repository.commit({});
    // What is there is not what the commit names.
    repository.write({ 'lib/inner/x.js': 'later' });
    repository.gitWith({ cwd: path.join(repository.folder, 'lib/inner') }, 'commit', '--quiet', '--all', '--message=later');
    const head = await written(repository);
    const files = await filesIn(head.folder);
    expect(files).toMatchObject({ 'a.js': 'a', 'lib/inner/x.js': 'x', 'lib/inner/data.txt': 'kept', 'lib/inner/deep/y.js': 'y' });
    expect(head.notes).toEqual(['lib/inner', 'deep'].map((folder) => `${folder} is a submodule. The tests see it as the last commit names it.`));
    expect((await uncommittedChange(head, signal)).patch).toEqual({ edits: [], refused: [] });
  });

  it('lacks the files of a submodule that is not checked out, and says so', async () => {
    const inner = await repositoryOf({ 'x.js': 'x' });
    const repository = await repositoryOf({ 'a.js': 'a' });
    repository.git('submodule', '--quiet', 'add', inner.folder, 'lib/inner');
    repository.commit({});
    repository.git('submodule', '--quiet', 'deinit', '--force', 'lib/inner');
    const head = await written(repository);
    expect(Object.keys(await filesIn(head.folder)).toSorted()).toEqual(['.gitmodules', 'a.js']);
    expect(head.notes).toEqual([
      'lib/inner is a submodule that is not here as the last commit names it, so its files are left out. Update it with "git submodule update --init".',
    ]);
    expect((await uncommittedChange(head, signal)).patch).toEqual({ edits: [], refused: [] });
  });

  it('takes what a pointer of Git LFS names from the workspace, where that is there and the same', async () => {
    const sha256 = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
    const repository = await repositoryOf({
      'here.bin': pointerTo(sha256, 1),
      'changed.bin': pointerTo(sha256, 1),
      'missing.bin': pointerTo(sha256, 1),
      'test/changed.bin': pointerTo(sha256, 1),
    });
    repository.write({ 'here.bin': 'x', 'changed.bin': 'y', 'test/changed.bin': 'z' });
    const head = await written(repository);
    expect(await filesIn(head.folder)).toMatchObject({
      'here.bin': 'x',
      'changed.bin': pointerTo(sha256, 1),
      'missing.bin': pointerTo(sha256, 1),
    });
    expect(head.notes).toEqual(['The tests see a pointer in place of 3 files: what Git LFS held at HEAD is not here.']);
    const { patch, notes } = await uncommittedChange(head, signal);
    expect(patch).toEqual({
      edits: [],
      refused: [{ path: 'changed.bin', reason: 'Git LFS holds it, and what it was at HEAD is not here.' }],
    });
    expect(notes).toEqual(['test/changed.bin was left as it is: Tests are the judge and stay as they are.']);
  });

  it('has every file when it is copied, also those that a .gitignore names or that lie where others build', async () => {
    await using scratch = await makeScratch();
    const repository = await repositoryOf({
      '.gitignore': 'kept.log\n',
      'kept.log': 'k',
      'target/a.txt': 'a',
      '.cache/b.txt': 'b',
    });
    const { folder } = await written(repository);
    const snapshot = await scratch.copies.snapshot({ folder, installed: repository.folder }, signal);
    const copy = await scratch.copies.lease(snapshot, signal);
    expect(Object.keys(await filesIn(copy.folder)).toSorted()).toEqual([
      '.cache/b.txt',
      '.gitignore',
      'kept.log',
      'target/a.txt',
    ]);
    await copy.release();
    await scratch.copies.close();
  });

  it('is that of the folder, where the workspace is a part of its repository', async () => {
    const repository = await repositoryOf({ 'packages/a/src/x.js': 'x', 'packages/b/y.js': 'y', 'z.js': 'z' });
    const head = await written(repository, path.join(repository.folder, 'packages/a'));
    expect(await filesIn(head.folder)).toEqual({ 'src/x.js': 'x' });
    expect(head.prefix).toBe('packages/a/');
    repository.write({ 'packages/a/src/x.js': 'x2', 'packages/b/y.js': 'y2' });
    expect((await uncommittedChange(head, signal)).patch.edits).toEqual([
      { path: 'src/x.js', kind: 'modify', before: 'x', after: 'x2' },
    ]);
  });

  it('is read from a repository with the longer hash, too', async () => {
    const folder = path.join(await temporaryFolder(), 'project');
    const repository = new GitRepository(folder);
    repository.write({ '.git': null });
    repository.git('init', '--quiet', '--object-format=sha256');
    repository.commit({ 'a.js': 'a', 'b.js': 'b' });
    repository.write({ 'b.js': 'c' });
    const head = await written(repository);
    expect(await filesIn(head.folder)).toEqual({ 'a.js': 'a', 'b.js': 'b' });
    expect((await uncommittedChange(head, signal)).patch.edits.map(({ path: file }) => file)).toEqual(['b.js']);
  });

  it('is not there without a repository, a commit or a file, which is said', async () => {
    const folder = await temporaryFolder();
    await expect(readHead(folder, signal)).rejects.toThrow(NoHeadError);
    const repository = new GitRepository(path.join(folder, 'project'));
    await expect(readHead(repository.folder, signal)).rejects.toThrow(/has no commit yet/);
    repository.commit({ 'a.js': 'a' });
    repository.write({ 'new/b.js': 'b' });
    await expect(readHead(path.join(repository.folder, 'new'), signal)).rejects.toThrow(/The last commit has no file of/);
    await expect(readHead(path.join(repository.folder, '.git'), signal)).rejects.toThrow(/no working tree/);
  });

  it('is an error of Git where the repository is damaged', async () => {
    const repository = await repositoryOf({ 'a.js': 'a' });
    const id = repository.git('rev-parse', 'HEAD:a.js').trim();
    await chmod(path.join(repository.folder, '.git/objects', id.slice(0, 2), id.slice(2)), 0o644);
    repository.write({ [`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`]: null });
    await expect(written(repository)).rejects.toThrow(GitError);
  });

  it('stops at an abort', async () => {
    const controller = new AbortController();
    const repository = await repositoryOf({ 'a.js': 'a' });
    const head = await readHead(repository.folder, controller.signal);
    controller.abort(new Error('enough'));
    await expect(readHead(repository.folder, controller.signal)).rejects.toThrow('enough');
    await expect(writeHead(head, path.join(await temporaryFolder(), 'head'), controller.signal)).rejects.toThrow('enough');
  });
});
