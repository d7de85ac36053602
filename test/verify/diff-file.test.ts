import { execFileSync } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReadChange } from '../../backend/verify/patch/change-draft.ts';
import { parseDiffFile } from '../../backend/verify/patch/diff-file.ts';
import { readHead, writeHead, type WrittenHead } from '../../backend/verify/git/git-head.ts';
import { uncommittedChange } from '../../backend/verify/git/uncommitted-change.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GitRepository, type Contents } from './git-repository.ts';

const { signal } = new AbortController();

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
const TEXT = LINES.join('');
const changed = (line: number, to: string, text = LINES): string => text.with(line, to).join('');

const BASE: Readonly<Record<string, Contents>> = {
  'src/a.js': TEXT,
  'src/old.js': 'old\n',
  'src/to rename.js': TEXT,
  'src/windows.js': TEXT.replaceAll('\n', '\r\n'),
  'src/no-end.js': 'x\ny',
  'src/end.js': 'x\ny\n',
  'a/b/c.js': TEXT,
  'b/c.js': 'c\n',
  'empty.js': '',
  'ü mlaut "q".js': 'u\n',
  'dashes.sql': '-- a\n-- b\n++ c\n',
  'test/a.test.js': 't\n',
  'bom.js': '\uFEFFone\ntwo\n',
};
const CHANGE: Readonly<Record<string, Contents>> = {
  'src/a.js': changed(3, 'three\n').replace('line 25\n', ''),
  'src/old.js': null,
  'src/to rename.js': null,
  'lib/renamed it.js': changed(9, 'nine\n'),
  'src/windows.js': changed(20, 'twenty\n').replaceAll('\n', '\r\n'),
  'src/no-end.js': 'x\ny2\n',
  'src/end.js': 'x\ny',
  'a/b/c.js': changed(0, ''),
  'b/c.js': null,
  'empty.js': 'no more\n',
  'new-empty.js': '',
  'ü mlaut "q".js': 'v\n',
  'dashes.sql': '-- a\n++ d\n',
  'test/a.test.js': 't2\n',
  'bom.js': '\uFEFF1\ntwo\n',
  'new.js': 'n\nn',
};

async function headOf(files: Readonly<Record<string, Contents>>): Promise<{ repository: GitRepository; head: WrittenHead }> {
  const repository = new GitRepository(path.join(await temporaryFolder(), 'project'), files);
  return {
    repository,
    head: await writeHead(await readHead(repository.folder, signal), path.join(await temporaryFolder(), 'head'), signal),
  };
}

const sorted = ({ patch: { edits, refused } }: ReadChange) => ({
  edits: edits.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  refused,
});

/** What the diff makes of these files: each one's text after it, or why it is refused. */
async function apply(
  diff: string,
  files: Readonly<Record<string, Contents>> = { 'src/a.js': TEXT },
): Promise<Record<string, string | null>> {
  const { head } = await headOf(files);
  const {
    patch: { edits, refused },
  } = await parseDiffFile(diff, head.folder);
  return Object.fromEntries([
    ...edits.map(({ path: file, after }) => [file, after] as const),
    ...refused.map(({ path: file, reason }) => [file, `refused: ${reason}`] as const),
  ]);
}

const diffOf = (file: string, ...lines: string[]): string => [`--- a/${file}`, `+++ b/${file}`, ...lines, ''].join('\n');
const BINARY = 'GIT binary patch\nliteral 2\nJcmZQz00961\n\nliteral 0\nHcmV?d00001\n\n';
const RENAMED = ['@@ -1,4 +1,4 @@', ' line 0', '-line 1', '+one', ' line 2', ' line 3'];

describe('a diff file', () => {
  it.each([
    ['git diff', []],
    ['git diff without looking for renames', ['--no-renames']],
    ['git diff with looking for copies', ['--find-copies-harder', '-C']],
    ['git diff with little context', ['-U1']],
    ['git diff with all of it', ['-U1000']],
    ['git diff with other prefixes', ['--src-prefix=i/', '--dst-prefix=w/', '--no-renames']],
    ['git diff in words of its own', ['--patience', '--full-index', '--stat', '--patch', '--binary']],
  ])('says the same as the working tree it was made of: %s', async (_name, options) => {
    const { repository, head } = await headOf(BASE);
    repository.write(CHANGE);
    const change = await uncommittedChange(head, signal);
    repository.git('add', '--all');
    const diff = repository.git('diff', '--cached', ...options, 'HEAD');
    expect(sorted(await parseDiffFile(diff, head.folder))).toEqual(sorted(change));
    expect(change.patch.edits).toHaveLength(Object.keys(CHANGE).length);
  });

  it('may be a series of mails, in which the same file changes again and again', async () => {
    const { repository, head } = await headOf(BASE);
    repository.commit({ 'src/a.js': changed(3, 'three\n'), 'n.js': 'n\n' });
    repository.commit({ 'src/a.js': changed(3, 'drei\n'), 'n.js': null, 'm.js': 'n\n' });
    const mails = repository.git('format-patch', '--stdout', 'HEAD~2');
    expect(mails.match(/^-- $/gm)).toHaveLength(2);
    expect(sorted(await parseDiffFile(mails, head.folder)).edits.map(({ path: file, after }) => [file, after])).toEqual([
      ['m.js', 'n\n'],
      ['src/a.js', changed(3, 'drei\n')],
    ]);
  });

  it('may count its paths from the top of the repository, or from the workspace in it', async () => {
    const repository = new GitRepository(path.join(await temporaryFolder(), 'project'), {
      'packages/x/src/a.js': TEXT,
      'b.js': 'b\n',
    });
    const workspace = path.join(repository.folder, 'packages/x');
    const head = await writeHead(await readHead(workspace, signal), path.join(await temporaryFolder(), 'head'), signal);
    repository.write({ 'packages/x/src/a.js': changed(1, 'one\n') });
    for (const diff of [
      repository.git('diff'),
      repository.gitWith({ cwd: workspace }, 'diff', '--relative'),
      repository.git('diff', '--no-prefix'),
    ])
      expect((await parseDiffFile(diff, head.folder, head)).patch).toEqual({
        edits: [{ path: 'src/a.js', kind: 'modify', before: TEXT, after: changed(1, 'one\n') }],
        refused: [],
      });
    repository.write({ 'b.js': 'b2\n' });
    expect(
      (await parseDiffFile(repository.git('diff'), head.folder, head)).patch.refused.map(({ path: file }) => file),
    ).toContain('packages/x/src/a.js');
  });

  it('may be of diff -u, with or without prefixes, and say that a file is new by its lines alone', async () => {
    const folder = await temporaryFolder();
    const repository = new GitRepository(path.join(folder, 'old'), { 'src/a.js': TEXT });
    await cp(repository.folder, path.join(folder, 'new'), { recursive: true });
    await writeFile(path.join(folder, 'new/src/a.js'), changed(2, 'two\n'));
    await writeFile(path.join(folder, 'new/src/n.js'), 'n\n');
    let diff = '';
    try {
      execFileSync('diff', ['-ruN', '-x', '.git', 'old', 'new'], { cwd: folder, encoding: 'utf8' });
    } catch (error) {
      // It ends with 1 where there is a difference.
      diff = (error as { stdout: string }).stdout;
    }
    expect(await apply(diff)).toEqual({ 'src/a.js': changed(2, 'two\n'), 'src/n.js': 'n\n' });
    expect(await apply(['--- src/a.js', '+++ src/a.js', ...RENAMED].join('\n'))).toEqual({ 'src/a.js': changed(1, 'one\n') });
  });

  it('may have been saved with the line ends of Windows, or be of files that have them', async () => {
    const diff = diffOf('src/a.js', ...RENAMED);
    const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
    expect(await apply(crlf(diff))).toEqual({ 'src/a.js': changed(1, 'one\n') });
    expect(await apply(diff, { 'src/a.js': crlf(TEXT) })).toEqual({ 'src/a.js': crlf(changed(1, 'one\n')) });
    expect(await apply(crlf(diff), { 'src/a.js': crlf(TEXT) })).toEqual({ 'src/a.js': crlf(changed(1, 'one\n')) });
  });

  it('fits where its lines have moved, and not where they have changed', async () => {
    const farAway = ['@@ -9000000000000000,4 +9000000000000000,4 @@', ...RENAMED.slice(1)];
    expect(await apply(diffOf('src/a.js', ...farAway))).toEqual({ 'src/a.js': changed(1, 'one\n') });
    const moved = `${'new\n'.repeat(40)}${TEXT}`;
    expect(await apply(diffOf('src/a.js', ...RENAMED), { 'src/a.js': moved })).toEqual({
      'src/a.js': moved.replace('line 1\n', 'one\n'),
    });
    expect(await apply(diffOf('src/a.js', ...RENAMED), { 'src/a.js': changed(3, 'three\n') })).toEqual({
      'src/a.js': 'refused: The diff does not fit the file as it is at HEAD.',
    });
  });

  const edit = (file: string): string => diffOf(file, '@@ -1 +1 @@', '-x', '+y');
  const create = (file: string, mode = '100644'): string =>
    [`diff --git a/${file} b/${file}`, `new file mode ${mode}`, '--- /dev/null', `+++ b/${file}`, '@@ -0,0 +1 @@', '+y', ''].join(
      '\n',
    );
  const refused: [name: string, diff: string, path: string, reason: RegExp][] = [
    ['a file that is not there', edit('gone.js'), 'gone.js', /does not exist/],
    ['a new file in place of another', create('src/a.js'), 'src/a.js', /exists already/],
    ['other lines', edit('src/a.js'), 'src/a.js', /does not fit/],
    [
      'a deletion that leaves lines',
      [
        'diff --git a/src/a.js b/src/a.js',
        'deleted file mode 100644',
        '--- a/src/a.js',
        '+++ /dev/null',
        '@@ -1 +0,0 @@',
        '-line 0',
        '',
      ].join('\n'),
      'src/a.js',
      /not all of its lines/,
    ],
    [
      'a rename onto another file',
      'diff --git a/src/a.js b/x.js\nsimilarity index 100%\nrename from src/a.js\nrename to x.js\n',
      'x.js',
      /exists already/,
    ],
    ['a path that leads out', edit('../x.js'), '../x.js', /leads out/],
    ['an absolute path', '--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-x\n+y\n', '/etc/passwd', /absolute/],
    ['a file of Git', create('.git/hooks/post-checkout', '100755'), '.git/hooks/post-checkout', /belongs to Git/],
    ['settings of an editor', create('.vscode/tasks.json'), '.vscode/tasks.json', /outside the tests/],
    ['the same in other letters', create('sub/.VSCode/tasks.json'), 'sub/.VSCode/tasks.json', /outside the tests/],
    ['a file behind a link', create('to-src/n.js'), 'to-src/n.js', /symbolic link/],
    ['a link itself', edit('to-src'), 'to-src', /symbolic link/],
    ['a new link', create('l.js', '120000'), 'l.js', /symbolic link/],
    ['a new submodule', create('l', '160000'), 'l', /submodule/],
    [
      'a picture',
      'diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n',
      'x.png',
      /not text/,
    ],
    ['a picture with its bytes', `diff --git a/n.png b/n.png\nnew file mode 100644\nindex 0..2\n${BINARY}`, 'n.png', /not text/],
    [
      'a merge of three',
      'diff --cc src/a.js\n--- a/src/a.js\n+++ b/src/a.js\n@@@ -1,1 -1,1 +1,1 @@@\n- x\n -y\n++z\n',
      'src/a.js',
      /does not say what changes/,
    ],
    ['a hunk without a file', RENAMED.join('\n'), '(diff)', /which file/],
    ['a hunk without numbers', diffOf('src/a.js', '@@ ... @@', '+x'), '(diff)', /cannot be read|which lines/],
    ['a hunk with wrong numbers', diffOf('src/a.js', '@@ -1,9 +1,9 @@', ' line 0', '-line 1'), '(diff)', /cannot be read/],
    ['half a header', '--- a/src/a.js\n@@ -1 +1 @@\n-line 0\n+x\n', '(diff)', /cannot be read/],
    ['words', 'I think the bug is in line 3.\n', '(diff)', /no diff/],
    [
      'more files than anybody reads',
      Array.from({ length: 2_001 }, (_, index) => create(`n${index}.js`)).join(''),
      '(diff)',
      /more than 2000/,
    ],
    [
      'lines that take too long to find',
      diffOf('blank.js', '@@ -1,20001 +1,20001 @@', ...Array.from({ length: 20_000 }, () => ' '), '-x', '+y'),
      '(diff)',
      /too long/,
    ],
  ];
  it.each(refused)('is refused for %s', async (_name, diff, file, reason) => {
    const found = await apply(diff, {
      'src/a.js': TEXT,
      'x.js': 'y\n',
      'x.png': Buffer.from([0]),
      'to-src': { link: 'src' },
      'blank.js': '\n'.repeat(40_000),
    });
    expect(Object.keys(found)).toEqual([file]);
    expect(found[file]).toMatch(/^refused: /);
    expect(found[file]).toMatch(reason);
  });

  it('is refused as a whole for one file that does not fit', async () => {
    expect(await apply(diffOf('src/a.js', ...RENAMED) + edit('x.js'), { 'src/a.js': TEXT, 'x.js': 'other\n' })).toEqual({
      'src/a.js': changed(1, 'one\n'),
      'x.js': 'refused: The diff does not fit the file as it is at HEAD.',
    });
  });

  it('is no change where it is empty', async () => {
    expect(await apply('\n')).toEqual({});
  });

  it('keeps edits to protected files, and notes those that cannot be read and permissions', async () => {
    const { head } = await headOf({ 'test/a.test.js': 'x\n', 'test/x.png': Buffer.from([0]), 'run.sh': 'x\n' });
    const diff = [
      edit('test/a.test.js'),
      `diff --git a/test/x.png b/test/x.png\nindex 1..2 100644\n${BINARY}`,
      'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n',
      create('new.sh', '100755'),
    ].join('');
    const { patch, notes } = await parseDiffFile(diff, head.folder);
    expect(patch.edits.map(({ path: file }) => file)).toEqual(['test/a.test.js', 'new.sh']);
    expect(patch.refused).toEqual([]);
    expect(notes).toEqual([
      'test/x.png was left as it is: Tests are the judge and stay as they are.',
      ...['run.sh', 'new.sh'].map((file) => `${file} keeps its permissions: only contents are judged.`),
    ]);
  });

  it('does not follow a link that lies in the folder though no commit has it', async () => {
    const { head } = await headOf({ 'src/a.js': TEXT });
    const outside = await temporaryFolder();
    await mkdir(path.join(outside, 'sub'));
    await symlink(outside, path.join(head.folder, 'out'));
    const { patch } = await parseDiffFile(create('out/sub/n.js'), head.folder);
    expect(patch).toEqual({ edits: [], refused: [{ path: 'out/sub/n.js', reason: 'The path leads through a symbolic link.' }] });
  });
});
