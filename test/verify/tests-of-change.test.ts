import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHead, writeHead } from '../../backend/verify/git/git-head.ts';
import { takeTests } from '../../backend/verify/git/tests-of-change.ts';
import { PatchNotApplicableError } from '../../backend/verify/patch/apply-patch.ts';
import type { FileEdit } from '../../backend/verify/patch/patch.ts';
import { GitRepository, type Contents } from './git-repository.ts';
import { makeScratch, type Scratch } from './setup.ts';

const signal = new AbortController().signal;

async function headOf(scratch: Scratch, files: Readonly<Record<string, Contents>>) {
  const { folder } = new GitRepository(path.join(scratch.folder, 'repository'), files);
  return await writeHead(await readHead(folder, signal), path.join(scratch.folder, 'base'), signal);
}

const changeOf = (...edits: FileEdit[]) => ({ patch: { edits, refused: [] }, notes: ['It was read.'] });
const create = (file: string): FileEdit => ({ path: file, kind: 'create', before: null, after: 'new\n' });

describe('taking the tests of a change into the commit that it is judged on', () => {
  it('writes and removes tests, their data, snapshots and set-up, lists new ones in the index, and leaves the rest in the change', async () => {
    await using scratch = await makeScratch();
    const head = await headOf(scratch, { '.gitignore': '*.pem\n', 'src/a.js': 'a\n', 'test/a.test.js': 'old\n', 'test/gone.test.js': 'gone\n' });
    const rest = [create('src/b.js'), create('package.json'), create('test/package.json'), create('jest.config.js'), create('yarn.lock'), create('.vscode/tests/x.js')];
    const { patch, ownTests, notes } = await takeTests(head, changeOf(
      { path: 'test/a.test.js', kind: 'modify', before: 'old\n', after: 'new\n' },
      { path: 'test/gone.test.js', kind: 'delete', before: 'gone\n', after: null },
      ...['test/fixtures/key.pem', 'src/__snapshots__/a.snap', 'tests/conftest.py'].map(create), ...rest,
    ), signal);
    expect(patch.edits).toEqual(rest);
    expect(ownTests).toEqual(['test/a.test.js', 'test/gone.test.js', 'test/fixtures/key.pem', 'src/__snapshots__/a.snap', 'tests/conftest.py']);
    expect(notes.slice(0, 3)).toEqual([
      'The change changes test/a.test.js, and is judged by it so.', 'The change removes test/gone.test.js, and is judged by it so.',
      'The change adds test/fixtures/key.pem, and is judged by it so.',
    ]);
    expect(notes.at(-1)).toBe('It was read.');
    for (const file of ['test/a.test.js', 'test/fixtures/key.pem', 'src/__snapshots__/a.snap', 'tests/conftest.py'])
      expect(readFileSync(path.join(head.folder, file), 'utf8')).toBe('new\n');
    expect(readdirSync(path.join(head.folder, 'test'))).toEqual(['a.test.js', 'fixtures']);
    expect(existsSync(path.join(head.folder, 'package.json'))).toBe(false);
    expect(execFileSync('git', ['ls-files', '--', 'test'], { cwd: head.folder, encoding: 'utf8' })).toContain('test/fixtures/key.pem');
  });

  const secret = { path: 'test/a.test.js', kind: 'modify', before: 'kept\n', after: 'new\n' } as const;
  const rows: [name: string, files: Readonly<Record<string, Contents>>, edit: FileEdit][] = [
    ['a folder of tests that is a link', { 'kept/a.test.js': 'kept\n', test: { link: 'kept' } }, secret],
    ['a folder for new tests that is a link', { 'kept/a.test.js': 'kept\n', test: { link: 'kept' } }, create('test/b.test.js')],
    ['a test that is a link', { 'kept/a.test.js': 'kept\n', 'test/a.test.js': { link: '../kept/a.test.js' } }, secret],
    ['a link to nothing', { 'kept/a.test.js': 'kept\n', 'test/a.test.js': { link: '../kept/new.js' } }, create('test/a.test.js')],
    // Each link of the commit stays inside by its text, and the two together lead out of the copy.
    ['links that lead out together', { 'kept/a.test.js': 'kept\n', 'd/e/f/short': { link: '../../../kept' }, test: { link: 'd/e/f/short/../../outside' } }, create('test/b.test.js')],
    ['a path that leads out', { 'kept/a.test.js': 'kept\n' }, create('../test/b.test.js')],
    ['an absolute path', { 'kept/a.test.js': 'kept\n' }, create('/test/b.test.js')],
    ['a file where a folder is needed', { 'kept/a.test.js': 'kept\n', test: 'file' }, create('test/b.test.js')],
  ];
  it.each(rows)('writes nothing at all where there is %s', async (_name, files, edit) => {
    await using scratch = await makeScratch();
    const head = await headOf(scratch, files);
    const before = readdirSync(scratch.folder, { recursive: true }).toSorted();
    await expect(takeTests(head, changeOf(create('spec/first.js'), edit), signal)).rejects.toThrow(PatchNotApplicableError);
    expect(readdirSync(scratch.folder, { recursive: true }).toSorted()).toEqual(before);
    expect(readFileSync(path.join(head.folder, 'kept/a.test.js'), 'utf8')).toBe('kept\n');
  });
});
