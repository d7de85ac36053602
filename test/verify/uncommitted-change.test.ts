import { chmod, mkdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReadChange } from '../../backend/verify/patch/change-draft.ts';
import { readHead, writeHead } from '../../backend/verify/git/git-head.ts';
import { MAX_FILE_BYTES } from '../../backend/verify/files/text-file.ts';
import { uncommittedChange } from '../../backend/verify/git/uncommitted-change.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GitRepository, type Contents } from './git-repository.ts';

const { signal } = new AbortController();
const TESTS_STAY = 'Tests are the judge and stay as they are.';
const WHAT_TO_DO = 'Commit it, or let .gitignore name it, if it is no part of the change.';

async function repositoryOf(files: Readonly<Record<string, Contents>>): Promise<GitRepository> {
  return new GitRepository(path.join(await temporaryFolder(), 'project'), files);
}

const changeOf = async ({ folder }: GitRepository): Promise<ReadChange> =>
  uncommittedChange(await writeHead(await readHead(folder, signal), path.join(await temporaryFolder(), 'head'), signal), signal);

const edited = ({ patch }: ReadChange): Record<string, string | null> =>
  Object.fromEntries(patch.edits.map(({ path: file, after }) => [file, after]));

describe('an uncommitted change', () => {
  it('is what is modified, created, deleted or renamed, staged or not, and no file that Git ignores', async () => {
    const repository = await repositoryOf({
      '.gitignore': '*.log\n/out/\n',
      'a.js': 'a\n',
      'b.js': 'b\n',
      'c.js': 'c\n',
      'old name.js': 'r\n',
      'same.js': 's\n',
      'kept.log': 'k\n',
      'ü/x.js': 'x\n',
    });
    repository.write({
      'a.js': 'a2\n',
      'b.js': null,
      'c.js': 'c2\n',
      'lib/n.js': 'n\n',
      'x.log': 'x',
      'out/x.js': 'x',
      'kept.log': 'k2\n',
      'ü/x.js': 'y\n',
    });
    repository.git('add', 'c.js', 'lib/n.js');
    repository.git('mv', 'old name.js', 'lib/new.js');
    const change = await changeOf(repository);
    expect(edited(change)).toEqual({
      'a.js': 'a2\n',
      'b.js': null,
      'c.js': 'c2\n',
      'kept.log': 'k2\n',
      'old name.js': null,
      'lib/new.js': 'r\n',
      'lib/n.js': 'n\n',
      'ü/x.js': 'y\n',
    });
    expect(change.patch.edits.find(({ path: file }) => file === 'a.js')).toEqual({
      path: 'a.js',
      kind: 'modify',
      before: 'a\n',
      after: 'a2\n',
    });
    expect([change.patch.refused, change.notes]).toEqual([[], []]);
  });

  it('has edits to protected files in it, and leaves out those that are no text', async () => {
    const repository = await repositoryOf({
      'test/a.test.js': 't\n',
      'test/x.bin': Buffer.from([0, 1]),
      'test/gone.bin': Buffer.from([0, 1]),
      'package.json': '{}\n',
    });
    repository.write({
      'test/a.test.js': 't2\n',
      'test/x.bin': Buffer.from([0, 2]),
      'test/gone.bin': null,
      'test/new.bin': Buffer.from([0]),
      'package.json': '{ }\n',
      '.vscode/settings.json': '{}',
    });
    const change = await changeOf(repository);
    expect(edited(change)).toEqual({ 'test/a.test.js': 't2\n', 'package.json': '{ }\n', '.vscode/settings.json': '{}' });
    expect(change.patch.refused).toEqual([]);
    expect(change.notes).toEqual(['gone', 'x', 'new'].map((name) => `test/${name}.bin was left as it is: ${TESTS_STAY}`));
  });

  const inadmissible: [name: string, files: Record<string, Contents>, reason: string][] = [
    ['a picture', { 'logo.png': Buffer.from([0, 1]) }, 'The file is not text.'],
    ['a new file that is no text', { 'new.bin': Buffer.from([0]) }, 'The file is not text.'],
    ['text in another encoding', { 'a.js': Buffer.from([0x63, 0xe9]) }, 'The file is not text in UTF-8.'],
    ['a file of more than a megabyte', { 'a.js': 'a'.repeat(MAX_FILE_BYTES + 1) }, 'The file is larger than 1024 KiB.'],
    ['a deleted picture', { 'logo.png': null }, 'The file is not text.'],
    ['a new symbolic link', { 'link.js': { link: 'a.js' } }, 'A symbolic link is new, or has changed.'],
    ['a file that became a link', { 'a.js': { link: '/etc/passwd' } }, 'A symbolic link is new, or has changed.'],
    ['a link that leads elsewhere now', { 'to-a': { link: 'b.js' } }, 'A symbolic link is new, or has changed.'],
    ['a link that became a file', { 'to-a': 'a\n' }, 'A symbolic link is new, or has changed.'],
    ['a link that is gone', { 'to-a': null }, 'A symbolic link is new, or has changed.'],
  ];
  it.each(inadmissible)('is refused for %s', async (_name, files, reason) => {
    const repository = await repositoryOf({ 'a.js': 'a\n', 'logo.png': Buffer.from([0, 0]), 'to-a': { link: 'a.js' } });
    repository.write(files);
    const [file] = Object.keys(files);
    expect((await changeOf(repository)).patch).toEqual({
      edits: [],
      refused: [{ path: file, reason: `${reason} ${WHAT_TO_DO}` }],
    });
  });

  it('is refused where a folder has become a link, through which nothing is read', async () => {
    const repository = await repositoryOf({ 'src/a.js': 'a\n', 'b.js': 'b\n' });
    const outside = path.join(path.dirname(repository.folder), 'outside');
    await mkdir(outside);
    repository.write({ '../outside/a.js': 'secret\n', src: { link: outside } });
    const { patch } = await changeOf(repository);
    expect(patch.refused).toEqual([{ path: 'src', reason: `A symbolic link is new, or has changed. ${WHAT_TO_DO}` }]);
    expect(JSON.stringify(patch)).not.toContain('secret');
  });

  it('is refused for a name that means something else on another machine', async () => {
    const repository = await repositoryOf({ 'a.js': 'a\n' });
    repository.write({ 'con:fig.js': 'x\n' });
    expect((await changeOf(repository)).patch.refused).toEqual([{ path: 'con:fig.js', reason: 'The path holds a colon.' }]);
  });

  it('is refused where it is more than a change', async () => {
    const repository = await repositoryOf({ 'a.js': 'a\n' });
    repository.write(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`generated/${index}.js`, 'x\n'])));
    expect((await changeOf(repository)).patch.refused).toEqual([
      { path: '(change)', reason: expect.stringContaining('more than 1000 files') as string },
    ]);
  });

  it('has no part in what is installed without a .gitignore, and is refused where that is committed and changed', async () => {
    const repository = await repositoryOf({ 'a.js': 'a\n', 'node_modules/kept/index.js': 'k\n' });
    repository.write({ 'node_modules/x/index.js': 'x', '.venv/lib/x.py': 'x', 'src/__pycache__/a.pyc': Buffer.from([0]) });
    expect((await changeOf(repository)).patch).toEqual({ edits: [], refused: [] });
    repository.write({ 'node_modules/kept/index.js': 'fake\n' });
    expect((await changeOf(repository)).patch.refused).toEqual([
      { path: 'node_modules/kept/index.js', reason: expect.stringContaining('installed dependency') as string },
    ]);
  });

  it('has no part in a repository inside it, which is noted', async () => {
    const repository = await repositoryOf({ 'a.js': 'a\n' });
    const inner = new GitRepository(path.join(repository.folder, 'vendor/inner'), { 'x.js': 'x' });
    expect(await changeOf(repository)).toEqual({
      patch: { edits: [], refused: [] },
      notes: ['vendor/inner is a repository of its own and is left out.'],
    });
    expect(inner.git('status', '--porcelain')).toBe('');
  });

  it('notes permissions, which it does not change, and only where the file system keeps them', async () => {
    const repository = await repositoryOf({ 'a.sh': 'a\n' });
    await chmod(path.join(repository.folder, 'a.sh'), 0o755);
    expect(await changeOf(repository)).toEqual({
      patch: { edits: [], refused: [] },
      notes: ['a.sh keeps its permissions: only contents are judged.'],
    });
    repository.git('config', 'core.fileMode', 'false');
    expect((await changeOf(repository)).notes).toEqual([]);
  });

  it('does not look at files of which the index says so', async () => {
    const repository = await repositoryOf({ 'sparse.js': 's\n', 'assumed.js': 'a\n', 'c.js': 'c\n' });
    repository.git('update-index', '--skip-worktree', 'sparse.js');
    repository.git('update-index', '--assume-unchanged', 'assumed.js');
    repository.write({ 'sparse.js': null, 'assumed.js': 'a2\n', 'c.js': 'c2\n' });
    expect(edited(await changeOf(repository))).toEqual({ 'c.js': 'c2\n' });
  });

  it('has files that lost their place in the index and are ignored now as deleted', async () => {
    const repository = await repositoryOf({ 'secret.env.js': 's\n' });
    repository.write({ '.gitignore': 'secret*\n' });
    repository.git('rm', '--quiet', '--cached', 'secret.env.js');
    expect(edited(await changeOf(repository))).toEqual({ '.gitignore': 'secret*\n', 'secret.env.js': null });
  });

  describe('and what Git converts', () => {
    it.each([
      ['the attribute text', '* text\n', undefined],
      ['the attribute text=auto', '* text=auto\n', undefined],
      ['the attribute eol=crlf', '* eol=crlf\n', undefined],
      ['core.autocrlf', '', 'true'],
    ])('takes line ends as they are committed: %s', async (_name, attributes, autocrlf) => {
      const repository = await repositoryOf({ '.gitattributes': attributes, 'a.js': 'a\nb\n', 'b.js': 'a\nb\n' });
      if (autocrlf) repository.git('config', 'core.autocrlf', autocrlf);
      repository.write({ 'a.js': 'a\r\nb\r\n', 'b.js': 'a\r\nb2\r\n', 'n.js': 'n\r\n' });
      expect(edited(await changeOf(repository))).toEqual({ 'b.js': 'a\nb2\n', 'n.js': 'n\r\n' });
    });

    it.each([
      ['nothing says so', ''],
      ['the attribute -text', '* -text\n'],
    ])('takes them as they are where %s', async (_name, attributes) => {
      const repository = await repositoryOf({ '.gitattributes': attributes, 'a.js': 'a\nb\n' });
      repository.git('config', 'core.autocrlf', attributes === '' ? 'false' : 'true');
      repository.write({ 'a.js': 'a\r\nb\r\n' });
      expect(edited(await changeOf(repository))).toEqual({ 'a.js': 'a\r\nb\r\n' });
    });

    it('knows a file behind a filter to be unchanged by the time at which Git wrote it, and refuses it otherwise', async () => {
      const repository = await repositoryOf({ 'a.js': 'a\n' });
      // As git-crypt does it: what is committed is not what lies in the working tree.
      repository.git('config', 'filter.upper.clean', 'tr a-z A-Z');
      repository.git('config', 'filter.upper.smudge', 'tr A-Z a-z');
      repository.commit({ '.gitattributes': 'secret.txt filter=upper\n', 'secret.txt': 'abc\n' });
      const file = path.join(repository.folder, 'secret.txt');
      // Git does not trust a time that is also the index's own.
      await utimes(file, 1_000_000, 1_000_000);
      repository.git('update-index', '--refresh');
      expect(repository.git('show', 'HEAD:secret.txt')).toBe('ABC\n');
      expect((await changeOf(repository)).patch).toEqual({ edits: [], refused: [] });
      repository.write({ 'secret.txt': 'abcd\n' });
      expect((await changeOf(repository)).patch.refused).toEqual([
        { path: 'secret.txt', reason: `Git passes it through "upper" when it is committed, which is not run. ${WHAT_TO_DO}` },
      ]);
    });
  });
});
