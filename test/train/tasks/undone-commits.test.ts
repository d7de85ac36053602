import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { undoneCommits, type HistoryLimits, type UndoneHistory } from '../../../backend/train/tasks/undone-commits.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { GitRepository, type Contents } from '../../verify/git-repository.ts';

const { signal } = new AbortController();

const emptyRepository = async (): Promise<GitRepository> => new GitRepository(path.join(await temporaryFolder(), 'project'));

/** Returns the commit's id. */
function commit(repository: GitRepository, message: string, files: Readonly<Record<string, Contents>>): string {
  repository.write(files);
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '--allow-empty', `--message=${message}`);
  return repository.git('rev-parse', 'HEAD').trim();
}

const historyOf = (workspace: string, limits?: HistoryLimits): Promise<UndoneHistory> => undoneCommits({ workspace, folder: workspace }, signal, limits);

/** What became of each commit, by its id: the edits that undo it, or why it is left out. */
const fates = ({ undone, leftOut }: UndoneHistory): Record<string, unknown> => Object.fromEntries([
  ...undone.map(({ commit: id, edits }) => [id, edits.map(({ path: file, before, after }) => [file, before, after])]),
  ...leftOut.map(({ commit: id, reason }) => [id, reason]),
]);

const lines = (count: number, of = 'line'): string => Array.from({ length: count }, (_, index) => `${of} ${index}\n`).join('');
const NO_SOURCES = 'It changes no sources: only tests, documentation, configuration, generated files, or files of others.';

describe('the history of a project', () => {
  it('has commits that are undone in the project as it is, in their sources alone', async () => {
    const repository = await emptyRepository();
    const root = commit(repository, 'Begin', { 'src/list.js': `one\n${lines(9)}last\n`, 'src/gone.js': 'gone\n', 'README.md': 'x' });
    const fix = commit(repository, 'Fix one', { 'src/list.js': `ONE\n${lines(9)}last\n`, 'README.md': 'y' });
    const feature = commit(repository, 'Add new', { 'src/new.js': 'new\n', 'test/new.test.js': 'new\n', 'src/gone.js': null });
    const later = commit(repository, 'Change last', { 'src/list.js': `ONE\n${lines(9)}LAST\n` });
    // Nobody has committed this one.
    const now = `first\nsecond\nONE\n${lines(9)}LAST\n`;
    repository.write({ 'src/list.js': now });
    const history = await historyOf(repository.folder);
    expect(fates(history)).toEqual({
      [root]: 'The history begins with it.',
      [fix]: [['src/list.js', now, now.replace('ONE', 'one')]],
      [feature]: [['src/gone.js', null, 'gone\n'], ['src/new.js', 'new\n', null]],
      [later]: [['src/list.js', now, now.replace('LAST', 'last')]],
    });
    // Those with tests come first.
    expect(history.undone.map(({ commit: id, message }) => [id, message])).toEqual([[feature, 'Add new\n'], [later, 'Change last\n'], [fix, 'Fix one\n']]);
    expect(history.note).toBe('Of the last 4 commits, 3 can be undone and may become tasks.');
  });

  it('has others, which are left out with a reason', async () => {
    const repository = await emptyRepository();
    commit(repository, 'Begin', {
      'src/a.js': 'one\n', 'src/old.js': lines(20), 'src/long.js': lines(400), 'src/bytes.js': Buffer.from([0, 1]), 'src/lib.rs': 'fn a() {}\n', 'src/gen.js': '// @generated\n1\n',
    });
    const hidden = commit(repository, 'Change a', { 'src/a.js': 'two\n' });
    const wrong = commit(repository, 'Change a again', { 'src/a.js': 'three\n' });
    const revert = commit(repository, `Revert "Change a again"\n\nThis reverts commit ${wrong}.`, { 'src/a.js': 'two\n' });
    const rewritten = commit(repository, 'Rewrite a\n\nrevert it no more', { 'src/a.js': 'four\n' });
    const reasons = {
      [hidden]: 'It cannot be undone: src/a.js is not text, or has changed since.',
      [wrong]: 'It cannot be undone: src/a.js is not text, or has changed since.',
      [revert]: 'It reverts another commit.',
      [commit(repository, 'Say it', { 'README.md': 'x' })]: NO_SOURCES,
      [commit(repository, 'Test it', { 'test/a.test.js': 'x', 'package.json': '{}' })]: NO_SOURCES,
      [commit(repository, 'Take in another project', { 'vendor/b.js': 'x', 'src/x.min.js': 'x' })]: NO_SOURCES,
      [commit(repository, 'Generate', { 'src/gen.js': '// @generated\n2\n' })]: 'It changes no sources: only permissions, or generated files.',
      [commit(repository, 'Move', { 'src/old.js': null, 'src/moved.js': lines(20) })]: 'It moves files.',
      [commit(repository, 'Change much', { 'src/long.js': lines(400, 'other') })]: 'It is too large for a task: it changes more than 300 lines.',
      [commit(repository, 'Change many', Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((name) => [`src/${name}.js`, 'x'])))]:
        'It is too large for a task: it changes more than 6 sources.',
      [commit(repository, 'Change bytes', { 'src/bytes.js': Buffer.from([0, 2]) })]: 'It cannot be undone: src/bytes.js is not text, or has changed since.',
      [commit(repository, 'Link', { 'src/link.js': { link: 'a.js' } })]: 'It cannot be undone: src/link.js is not text, or has changed since.',
      [commit(repository, 'Test inside', { 'src/lib.rs': 'fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n' })]: 'It changes tests that are in src/lib.rs.',
    };
    repository.git('checkout', '--quiet', '-b', 'side', rewritten);
    const side = commit(repository, 'Add b', { 'src/b.js': 'x\n' });
    repository.git('checkout', '--quiet', 'main');
    const ours = commit(repository, 'Add c', { 'src/c.js': 'x\n' });
    repository.git('merge', '--quiet', '--no-edit', 'side');
    const merge = repository.git('rev-parse', 'HEAD').trim();
    const early = commit(repository, 'Add d', { 'src/d.js': 'x\n' });
    commit(repository, 'Take it away', { 'src/d.js': null });
    const again = commit(repository, 'Add d after all', { 'src/d.js': 'x\n' });
    const found = fates(await historyOf(repository.folder));
    expect(found).toMatchObject({ ...reasons, [merge]: 'It is a merge.', [early]: `It makes the same change as ${again.slice(0, 12)}.` });
    expect([rewritten, side, ours, again].map((id) => typeof found[id])).toEqual(['object', 'object', 'object', 'object']);
  });

  it('is looked at so far and so long', async () => {
    const repository = await emptyRepository();
    for (const text of ['a', 'b', 'c', 'd']) commit(repository, text, { [`${text}.js`]: 'x\n' });
    expect((await historyOf(repository.folder, { commits: 2, milliseconds: 60_000 })).undone.map(({ message }) => message)).toEqual(['d\n', 'c\n']);
    expect(await historyOf(repository.folder, { commits: 2, milliseconds: 0 })).toMatchObject({ undone: [], leftOut: [] });
  });

  it('of a shallow clone is what was cloned', async () => {
    const repository = await emptyRepository();
    for (const text of ['a', 'b', 'c', 'd']) commit(repository, text, { [`${text}.js`]: 'x\n' });
    const clone = path.join(await temporaryFolder(), 'clone');
    repository.git('clone', '--quiet', '--depth=2', `file://${repository.folder}`, clone);
    const { undone, leftOut, note } = await historyOf(clone);
    expect(undone.map(({ message }) => message)).toEqual(['d\n']);
    expect(leftOut.map(({ reason }) => reason)).toEqual(['The history begins with it.']);
    expect(note).toBe('Of the last 2 commits, 1 can be undone and may become tasks.');
  });

  it('of a clone without the old contents has what is there: nothing is fetched', async () => {
    const repository = await emptyRepository();
    for (const text of ['one', 'two', 'three']) commit(repository, text, { 'src/a.js': `${text}\n` });
    repository.git('config', 'uploadpack.allowFilter', 'true');
    const clone = path.join(await temporaryFolder(), 'clone');
    repository.git('clone', '--quiet', '--filter=blob:none', `file://${repository.folder}`, clone);
    const { undone, leftOut } = await historyOf(clone);
    expect(undone).toEqual([]);
    expect(leftOut.map(({ reason }) => reason)).toEqual(
      ['This clone does not have all of its contents.', 'This clone does not have all of its contents.', 'The history begins with it.']);
  });

  it('is undone in files whose lines end otherwise than Git keeps them', async () => {
    const repository = await emptyRepository();
    commit(repository, 'Begin', { 'src/a.js': 'a\none\nb\n' });
    commit(repository, 'Change', { 'src/a.js': 'a\ntwo\nb\n' });
    repository.write({ 'src/a.js': 'a\r\ntwo\r\nb\r\n' });
    expect((await historyOf(repository.folder)).undone[0]?.edits).toMatchObject([{ before: 'a\r\ntwo\r\nb\r\n', after: 'a\r\none\r\nb\r\n' }]);
  });

  it('of a folder below the top of its repository is what changed that folder', async () => {
    const repository = await emptyRepository();
    commit(repository, 'Begin', { 'packages/a/src/a.js': 'one\n', 'packages/b/b.js': 'one\n' });
    commit(repository, 'Both', { 'packages/a/src/a.js': 'two\n', 'packages/b/b.js': 'two\n' });
    commit(repository, 'The other', { 'packages/b/b.js': 'three\n' });
    const { undone, leftOut } = await historyOf(path.join(repository.folder, 'packages/a'));
    expect(undone.map(({ message, edits }) => [message, edits])).toEqual([
      ['Both\n', [{ path: 'src/a.js', kind: 'modify', before: 'two\n', after: 'one\n' }]],
    ]);
    expect(leftOut).toHaveLength(1);
    await mkdir(path.join(repository.folder, 'new'));
    expect((await historyOf(path.join(repository.folder, 'new'))).note).toBe('No tasks are made of the project\'s history: no commit has changed this folder.');
  });

  it('need not be there, which is said', async () => {
    expect(await historyOf(await temporaryFolder())).toEqual(
      { undone: [], leftOut: [], note: 'No tasks are made of the project\'s history: the folder is in no Git repository.' });
    expect((await historyOf((await emptyRepository()).folder)).note).toBe('No tasks are made of the project\'s history: its repository has no commit yet.');
  });

  it('is read without running anything that the repository names', async () => {
    const repository = await emptyRepository();
    const mark = path.join(await temporaryFolder(), 'ran');
    const program = path.join(repository.folder, 'program.sh');
    commit(repository, 'Begin', { 'src/a.js': 'one\n', '.gitattributes': '*.js diff=evil filter=evil', 'program.sh': `#!/bin/sh\ntouch ${mark}\ncat "$1"\n` });
    await chmod(program, 0o755);
    const fix = commit(repository, 'Fix', { 'src/a.js': 'two\n' });
    for (const setting of [
      'core.pager', 'pager.rev-list', 'pager.diff-tree', 'core.fsmonitor', 'diff.external', 'diff.evil.command', 'diff.evil.textconv', 'filter.evil.smudge',
      'filter.evil.clean', 'gpg.program', 'trailer.evil.command', 'alias.rev-list',
    ]) repository.git('config', setting, program);
    repository.git('config', 'log.showSignature', 'true');
    repository.git('config', 'color.ui', 'always');
    repository.git('config', 'diff.noprefix', 'true');
    repository.git('config', 'diff.context', '0');
    expect(fates(await historyOf(repository.folder))[fix]).toEqual([['src/a.js', 'two\n', 'one\n']]);
    expect(existsSync(mark)).toBe(false);
    expect(await readFile(path.join(repository.folder, 'src/a.js'), 'utf8')).toBe('two\n');
  });
});
