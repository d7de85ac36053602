import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportedNames } from '../../backend/verify/patch/exported-names.ts';
import { parsePatch, type ParsePatchOptions } from '../../backend/verify/patch/parse-patch.ts';
import type { Patch } from '../../backend/verify/patch/patch.ts';
import { protectedReason } from '../../backend/verify/files/protected-paths.ts';
import { makeScratch } from './setup.ts';

const A = 'export const one = 1;\nexport const two = 2;\nexport const three = 3;\n';

const FILES = {
  'src/a.js': A,
  'src/b.js': 'export function twice(x) {\n  return x + x;\n}\n',
  'src/dos.js': 'const a = 1;\r\nconst b = 2;\r\n',
  'src/bom.js': '\uFEFFconst a = 1;\n',
  'src/no-end.js': 'const a = 1;',
  'src/repeated.js': 'a();\nb();\na();\n',
  'src/binary.js': 'a\0b',
  'math.js': 'export const pi = 3;\n',
  'test/a.test.js': 'import test from "node:test";\n',
  'package.json': '{}\n',
  'src/link.js': { link: 'a.js' },
  linked: { link: 'src' },
} as const;

async function parsed(answer: string, options?: ParsePatchOptions): Promise<Patch> {
  await using scratch = await makeScratch();
  return await parsePatch(answer, await scratch.project(FILES), options);
}

const fenced = (info: string, content: string, mark = '```'): string => `${mark}${info}\n${content}\n${mark}\n`;
const NEW_A = 'export const one = 10;\n';

describe('a fenced block that names a path is a whole file', () => {
  const forms: Record<string, string> = {
    'language and path': fenced('js src/a.js', NEW_A),
    'path alone': fenced('src/a.js', NEW_A),
    'language:path': fenced('js:src/a.js', NEW_A),
    'title="…"': fenced('js title="src/a.js"', NEW_A),
    'file=…': fenced('js {1,3} file=src/a.js', NEW_A),
    './path': fenced('js ./src/a.js', NEW_A),
    'bold line before': `Here it is.\n\n**src/a.js**\n${fenced('js', NEW_A)}`,
    'heading before': `### src/a.js\n\n${fenced('js', NEW_A)}`,
    'numbered heading with code before': `### 1. \`src/a.js\`\n${fenced('js', NEW_A)}`,
    '"File: path" before': `File: src/a.js\n${fenced('js', NEW_A)}`,
    '"**File: `path`**" before': `**File: \`src/a.js\`**\n${fenced('js', NEW_A)}`,
    'list item before': `1. \`src/a.js\` (updated):\n${fenced('js', NEW_A)}`,
    'line comment first': fenced('js', `// src/a.js\n${NEW_A}`),
    'block comment first': fenced('js', `/* src/a.js */\n${NEW_A}`),
    tildes: fenced('js src/a.js', NEW_A, '~~~'),
    'four backticks': fenced('js src/a.js', NEW_A, '````'),
    'indented in a list': `- change this:\n  \`\`\`js src/a.js\n  ${NEW_A.trim()}\n  \`\`\`\n`,
    'windows line ends': fenced('js src/a.js', NEW_A).replaceAll('\n', '\r\n'),
    'an existing bare name in a heading': `### math.js\n${fenced('js', 'export const pi = 3.14;')}`,
  };
  it.each(Object.entries(forms))('%s', async (_, answer) => {
    const { edits, refused } = await parsed(answer);
    expect(refused).toEqual([]);
    expect(edits).toHaveLength(1);
    expect(edits[0]).toMatchObject({ kind: 'modify' });
    if (edits[0]?.path === 'src/a.js') expect(edits[0].after?.trim()).toBe(NEW_A.trim());
    else expect(edits[0]).toMatchObject({ path: 'math.js', after: 'export const pi = 3.14;\n' });
  });

  it('creates a file that does not exist, in a new folder', async () => {
    expect(await parsed(fenced('js lib/deep/new.js', 'export {};'))).toEqual({
      edits: [{ path: 'lib/deep/new.js', kind: 'create', before: null, after: 'export {};\n' }],
      refused: [],
    });
  });

  it('takes the last of several blocks for one file', async () => {
    const { edits } = await parsed(fenced('js src/a.js', 'first();') + fenced('js src/a.js', 'second();'));
    expect(edits).toMatchObject([{ path: 'src/a.js', after: 'second();\n' }]);
  });

  it('keeps fences inside a longer fence as content', async () => {
    const { edits } = await parsed(fenced('md docs/guide.md', '# Guide\n```js\na();\n```', '````'));
    expect(edits).toMatchObject([{ path: 'docs/guide.md', after: '# Guide\n```js\na();\n```\n' }]);
  });

  it('keeps line ends, byte order mark and the missing last line end of the file it changes', async () => {
    const { edits } = await parsed(fenced('src/dos.js', 'const a = 1;\nconst b = 3;') + fenced('src/bom.js', 'const a = 2;'));
    expect(edits.map(({ after }) => after)).toEqual(['const a = 1;\r\nconst b = 3;\r\n', '\uFEFFconst a = 2;\n']);
  });

  it('is no edit where nothing changes', async () => {
    const answer =
      fenced('src/a.js', A) + fenced('src/dos.js', 'const a = 1;\nconst b = 2;') + fenced('src/no-end.js', 'const a = 1;');
    expect(await parsed(answer)).toEqual({ edits: [], refused: [] });
  });
});

describe('a block that names no path is no edit', () => {
  const forms: Record<string, string> = {
    'no path': fenced('js', 'a();'),
    'a command': fenced('bash', 'npm test'),
    'a heading that is a product, not a file': `### Node.js\n${fenced('js', 'a();')}`,
    'prose that mentions a file': `Look at src/a.js and then run this:\n${fenced('js', 'a();')}`,
    'a quotation of lines': fenced('12:40:src/a.js', 'a();'),
    'a shebang': fenced('js', '#!/usr/bin/env node\na();'),
    'a url': fenced('js', '// https://example.org/a.js\na();'),
  };
  it.each(Object.entries(forms))('%s', async (_, answer) => {
    expect(await parsed(answer)).toEqual({ edits: [], refused: [] });
  });
});

describe('the only block without a path', () => {
  const answer = `Use this:\n${fenced('js', 'export function twice(x) {\n  return 2 * x;\n}')}`;

  it('is the file among the candidates that exports the same names', async () => {
    const { edits } = await parsed(answer, { candidates: ['src/a.js', 'src/b.js', 'test/a.test.js', '../b.js'] });
    expect(edits).toMatchObject([
      { path: 'src/b.js', kind: 'modify', after: 'export function twice(x) {\n  return 2 * x;\n}\n' },
    ]);
  });

  it.each([
    ['no candidate exports them', answer, ['src/a.js']],
    ['there is no candidate', answer, []],
    ['there are two blocks', answer + answer, ['src/b.js']],
    ['it exports only some of the names', fenced('js', 'export const one = 10;'), ['src/a.js']],
    ['it exports nothing', fenced('js', 'twice(2);'), ['src/b.js']],
  ])('is no edit if %s', async (_, text, candidates) => {
    expect(await parsed(text, { candidates })).toEqual({ edits: [], refused: [] });
  });
});

describe('a unified diff', () => {
  const body = ' export const one = 1;\n-export const two = 2;\n+export const two = 22;\n export const three = 3;';
  const after = A.replace('= 2', '= 22');
  const forms: Record<string, string> = {
    'of git, fenced': fenced(
      'diff',
      `diff --git a/src/a.js b/src/a.js\nindex 1..2 100644\n--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n${body}`,
    ),
    'without a fence': `I change one line.\n\n--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n${body}\n\nThat is all.`,
    'without a/ and b/': fenced('diff', `--- src/a.js\n+++ src/a.js\n@@ -1,3 +1,3 @@\n${body}`),
    'in a fence of another language': fenced('js', `--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n${body}`),
    'with wrong line counts': fenced('diff', `--- a/src/a.js\n+++ b/src/a.js\n@@ -1,9 +1,7 @@\n${body}`),
    'with wrong line numbers': fenced('diff', `--- a/src/a.js\n+++ b/src/a.js\n@@ -40,3 +41,3 @@\n${body}`),
    'with the file beside the fence': `**src/a.js**\n${fenced('diff', `@@ -1,3 +1,3 @@\n${body}`)}`,
    'of bare lines, with the file in the info string': fenced('diff src/a.js', body),
    'without line numbers': fenced('diff', `--- a/src/a.js\n+++ b/src/a.js\n@@ @@\n${body}`),
  };
  it.each(Object.entries(forms))('%s changes what it says', async (_, answer) => {
    const { edits, refused } = await parsed(answer);
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/a.js', kind: 'modify', after }]);
  });

  it('creates, deletes and renames files', async () => {
    const answer = fenced(
      'diff',
      [
        'diff --git a/src/new.js b/src/new.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/new.js\n@@ -0,0 +1,2 @@\n+one();\n+two();',
        'diff --git a/math.js b/math.js\ndeleted file mode 100644\n--- a/math.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-export const pi = 3;',
        'diff --git a/src/b.js b/src/double.js\nsimilarity index 100%\nrename from src/b.js\nrename to src/double.js',
      ].join('\n'),
    );
    const { edits, refused } = await parsed(answer);
    expect(refused).toEqual([]);
    expect(edits).toEqual([
      { path: 'src/new.js', kind: 'create', before: null, after: 'one();\ntwo();\n' },
      { path: 'math.js', kind: 'delete', before: FILES['math.js'], after: null },
      { path: 'src/b.js', kind: 'delete', before: FILES['src/b.js'], after: null },
      { path: 'src/double.js', kind: 'create', before: null, after: FILES['src/b.js'] },
    ]);
  });

  it('fits files with Windows line ends and without a last one', async () => {
    const answer = ['src/dos.js', 'src/no-end.js']
      .map((file) => fenced('diff', `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-const a = 1;\n+const a = 9;`))
      .join('\n');
    const { edits, refused } = await parsed(answer);
    expect(refused).toEqual([]);
    expect(edits.map((edit) => edit.after)).toEqual(['const a = 9;\r\nconst b = 2;\r\n', 'const a = 9;']);
  });

  it('tolerates context that the file has differently, and leaves it as the file has it', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'x.js': 'a();\nb();\nc();\nd();\n' });
    const { edits, refused } = await parsePatch(
      fenced('diff', '--- a/x.js\n+++ b/x.js\n@@ -1,4 +1,4 @@\n a(); // remembered wrongly\n b();\n-c();\n+C();\n d();'),
      base,
    );
    expect({ refused, after: edits[0]?.after }).toEqual({ refused: [], after: 'a();\nb();\nC();\nd();\n' });
  });

  it('reads a deleted line that looks like a header as a deleted line', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'q.sql': 'select 1;\n-- old remark\nselect 2;\n' });
    const { edits, refused } = await parsePatch(
      fenced('diff', '--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n select 1;\n--- old remark\n select 2;'),
      base,
    );
    expect({ refused, after: edits[0]?.after }).toEqual({ refused: [], after: 'select 1;\nselect 2;\n' });
  });
});

describe('a path with folders that the project does not have', () => {
  const diff = (file: string): string => fenced('diff', `--- a/${file}\n+++ b/${file}\n@@ -1,3 +1,3 @@\n export const one = 1;\n-export const two = 2;\n+export const two = 22;\n export const three = 3;`);
  const options = { candidates: ['src/a.js', 'src/b.js'] };

  it('is that of the file that was shown', async () => {
    for (const answer of [diff('packages/core/src/a.js'), fenced('js packages/core/src/a.js', A.replace('= 2', '= 22'))]) {
      const { edits, refused } = await parsed(answer, options);
      expect(refused).toEqual([]);
      expect(edits).toMatchObject([{ path: 'src/a.js', kind: 'modify', after: A.replace('= 2', '= 22') }]);
    }
  });

  it('is taken as written where the project has the first of them', async () => {
    const { edits } = await parsed(fenced('js test/src/a.js', A), options);
    expect(edits.map(({ path: file }) => file)).not.toContain('src/a.js');
  });
});

it('code with signs before its lines is a diff, in a block of its language too', async () => {
  const { edits, refused } = await parsed(`In \`src/b.js\`:\n\n${fenced('js', ' export function twice(x) {\n-  return x + x;\n+  return 2 * x;\n }')}`);
  expect(refused).toEqual([]);
  expect(edits).toMatchObject([{ path: 'src/b.js', after: 'export function twice(x) {\n  return 2 * x;\n}\n' }]);
});

describe('search/replace blocks', () => {
  const marks = (search: string, replace: string): string => `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE`;
  const one = marks('export const two = 2;', 'export const two = 22;');
  const forms: Record<string, string> = {
    'fenced with a path in the info string': fenced('js src/a.js', one),
    'fenced behind a line with the path': `src/a.js\n${fenced('js', one)}`,
    'fenced around path and block': fenced('', `src/a.js\n${one}`),
    bare: `I change one line.\n\nsrc/a.js\n${one}\nDone.`,
  };
  it.each(Object.entries(forms))('%s', async (_, answer) => {
    const { edits, refused } = await parsed(answer);
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/a.js', kind: 'modify', after: A.replace('= 2', '= 22') }]);
  });

  it('are applied one after the other, several to a file', async () => {
    const { edits } = await parsed(
      fenced('js src/a.js', `${one}\n${marks('export const two = 22;\nexport const three = 3;', 'export const two = 4;')}`),
    );
    expect(edits[0]?.after).toBe('export const one = 1;\nexport const two = 4;\n');
  });

  it('create a file with an empty search', async () => {
    const { edits } = await parsed(fenced('js src/new.js', '<<<<<<< SEARCH\n=======\na();\n>>>>>>> REPLACE'));
    expect(edits).toEqual([{ path: 'src/new.js', kind: 'create', before: null, after: 'a();\n' }]);
  });

  // Aider asks for such tags where a file has fences of its own.
  it.each(['source', 'code', 'pre', 'codeblock', 'sourcecode'])('stand in a tag below their path: <%s>', async (tag) => {
    const { edits, refused } = await parsed(`Here it is:\n\nsrc/a.js\n<${tag}>javascript\n${one}\n</${tag}>\n`);
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/a.js', after: A.replace('= 2', '= 22') }]);
  });

  it('hold fences that are text of the file', async () => {
    await using scratch = await makeScratch();
    const text = '# Use\n\n```sh\nold\n```\n\nThe end.\n';
    const base = await scratch.project({ 'docs/use.md': text });
    const block = marks('```sh\nold\n```', '```sh\nnew\n```\n\n```js\nrun();\n```');
    for (const answer of [`docs/use.md\n${block}\n`, `docs/use.md\n${fenced('markdown', block)}`, `docs/use.md\n${fenced('', block)}Done.`]) {
      const { edits, refused } = await parsePatch(answer, base);
      expect(refused).toEqual([]);
      expect(edits).toMatchObject([{ path: 'docs/use.md', after: text.replace('old\n```', 'new\n```\n\n```js\nrun();\n```') }]);
    }
  });

  it('of two ways, of which none is chosen, are refused', async () => {
    const other = marks('export const three = 3;', 'export const three = 33;');
    const { edits, refused } = await parsed(`Option 1:\n\nsrc/a.js\n${fenced('js', one)}\nAlternatively, option 2:\n\nsrc/a.js\n${fenced('js', other)}`);
    expect(edits).toEqual([]);
    expect(refused).toMatchObject([{ path: 'src/a.js', reason: expect.stringContaining('more than one way') as string }]);
  });

  it('are meant once where the answer repeats them', async () => {
    const { edits, refused } = await parsed(`src/a.js\n${fenced('', one)}\nHere is the final answer:\n\nsrc/a.js\n${fenced('', one)}`);
    expect(refused).toEqual([]);
    expect(edits).toMatchObject([{ path: 'src/a.js', after: A.replace('= 2', '= 22') }]);
  });

  it('say which of their lines the file lacks', async () => {
    const lacking = await parsed(fenced('js src/a.js', marks('export const two = 2;\nexport const four = 4;', 'x')));
    expect(lacking.refused).toMatchObject([{ reason: 'The text to search for is not in the file: it has no line "export const four = 4;".' }]);
    const apart = await parsed(fenced('js src/a.js', marks('export const two = 2;\nexport const one = 1;', 'x')));
    expect(apart.refused).toMatchObject([{ reason: expect.stringContaining('"export const two = 2;" and the lines below it do not stand together') as string }]);
  });

  it('find whole lines only', async () => {
    const { refused } = await parsed(fenced('js src/a.js', marks('export const two', 'x')));
    expect(refused).toMatchObject([{ path: 'src/a.js', reason: expect.stringContaining('not in the file') as string }]);
  });
});

describe('a class with the rest left out', () => {
  const COUNTER = 'export class Counter {\n  constructor() {\n    this.n = 0;\n  }\n\n  up() {\n    this.n += 1;\n  }\n\n  down() {\n    this.n -= 1;\n  }\n}\n';
  const changed = async (content: string): Promise<string | null | undefined> => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'src/counter.js': COUNTER });
    const { edits, refused } = await parsePatch(fenced('js src/counter.js', content), base);
    expect(refused).toEqual([]);
    return edits[0]?.after;
  };

  it('gets a method that stands below the gap', async () => {
    const reset = '  reset() {\n    this.n = 0;\n  }\n';
    expect(await changed(`export class Counter {\n  // ... existing code ...\n\n${reset}}\n`)).toBe(COUNTER.replace(/\}\n$/, `\n${reset}}\n`));
  });

  it('gets a function beside it that stands below the gap', async () => {
    const make = 'export function makeCounter() {\n  return new Counter();\n}\n';
    expect(await changed(`// ... existing code ...\n\n${make}`)).toBe(`${COUNTER}\n${make}`);
  });

  it('gets comments of methods that stay as they are', async () => {
    const up = '  up() {\n    this.n += 1;\n  }\n';
    const said = `  /** One more. */\n${up}`;
    expect(await changed(`// ... existing code ...\n\n${said}\n// ... existing code ...\n`)).toBe(COUNTER.replace(up, said));
    expect(await changed(`export class Counter {\n  // ... existing code ...\n\n${said}\n  // ... existing code ...\n}\n`)).toBe(COUNTER.replace(up, said));
  });
});

describe('what is refused, with the reason', () => {
  const whole = (file: string): string => fenced(`js ${file}`, 'evil();');
  const marks = (search: string): string => `<<<<<<< SEARCH\n${search}\n=======\nx\n>>>>>>> REPLACE`;
  const rows: [name: string, answer: string, reason: RegExp][] = [
    ['an absolute path', whole('/etc/passwd.js'), /absolute/],
    ['a path up', whole('../outside.js'), /"\.\."/],
    ['a path up in the middle', whole('src/../../outside.js'), /"\.\."/],
    ['a drive letter', whole('C:/windows/a.js'), /absolute/],
    ['a drive letter with backslashes', whole('C:\\windows\\a.js'), /absolute/],
    ['backslashes', whole('src\\..\\..\\a.js'), /backslash/],
    ['the home folder', whole('~/.bashrc'), /absolute/],
    ['an invisible character', fenced('js title="src/\u200Ba.js"', 'evil();'), /invisible/],
    ['a NUL', fenced('js title="src/a\0.js"', 'evil();'), /invisible/],
    ['a name that ends with a dot', whole('.git./config'), /dot/],
    ['a folder', fenced('js title="src/"', 'evil();'), /folder/],
    ['a file as a folder', whole('src/a.js/b.js'), /as if it were a folder/],
    ['a link', whole('src/link.js'), /symbolic link/],
    ['a linked folder', whole('linked/a.js'), /symbolic link/],
    ['Git', whole('.git/hooks/pre-commit.sh'), /Git/],
    ['Git in other letters', whole('.GIT/config.x'), /Git/],
    ['Git by the short name that Windows gives it', whole('GIT~1/hooks/pre-commit.sh'), /short form/],
    ['the editor in letters that macOS takes for the same', whole('.v\u017Fcode/tasks.json'), /outside the tests/],
    ['a fixture in letters that macOS takes for the same', whole('src/__\uFB01xtures__/x.js'), /data that tests read/],
    ['the editor', whole('.vscode/tasks.json'), /outside the tests/],
    ['our own folder', whole('.conductor/workers.json'), /outside the tests/],
    ['a dependency', whole('node_modules/x/index.js'), /dependency/],
    ['a test', whole('test/a.test.js'), /judge/],
    ['a new test', whole('src/new.spec.ts'), /judge/],
    ['a new test of Python', whole('pkg/test_x.py'), /judge/],
    ['a fixture', whole('src/__fixtures__/x.js'), /data that tests read/],
    ['a case of a codemod', whole('src/__testfixtures__/x/output.js'), /data that tests read/],
    ['data that Go leaves alone', whole('extension/_test/table.json'), /data that tests read/],
    ['a snapshot', whole('src/x.js.snap'), /snapshot/],
    ['package.json', fenced('json package.json', '{"scripts":{"test":"true"}}'), /how the tests are run/],
    ['a lock file', fenced('json package-lock.json', '{}'), /lock file/],
    ['a configuration of the runner', whole('vitest.config.ts'), /configures the test runner/],
    ['what makes a folder an environment of Python', fenced('env/pyvenv.cfg', 'home = /usr/bin'), /installed dependency/],
    ['what makes a folder an environment of conda', fenced('env/conda-meta/history', 'x'), /installed dependency/],
    ['an environment of tox', fenced('.tox/py312/bin/python', 'x'), /installed dependency/],
    ['.npmrc', fenced('.npmrc', 'node-options=--require ./x.js'), /tools that tests run with/],
    [
      'a test, by a diff',
      fenced('diff', '--- a/test/a.test.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-import test from "node:test";'),
      /judge/,
    ],
    [
      'a test, by renaming',
      fenced('diff', 'diff --git a/test/a.test.js b/src/x.js\nrename from test/a.test.js\nrename to src/x.js'),
      /judge/,
    ],
    ['a file that is not text', whole('src/binary.js'), /not text/],
    ['a block that is empty', fenced('js src/a.js', ''), /deleted by a diff only/],
    ['a block that leaves parts out', fenced('js src/a.js', 'one();\n// ... existing code ...'), /leaves parts/],
    ['a block that is cut off', '```js src/a.js\nexport const', /cut off/],
    ['a block with two names', `**src/a.js**\n${fenced('js src/b.js', 'x();')}`, /two files/],
    ['a search that finds nothing', fenced('js src/a.js', marks('nothing')), /not in the file/],
    ['a search that finds two', fenced('js src/repeated.js', marks('a();')), /more than once/],
    ['a search without a file', fenced('', marks('a();')), /which file/],
    ['a search in a new file', fenced('js src/new.js', marks('a();')), /does not exist/],
    ['a search that is cut off', fenced('js src/a.js', '<<<<<<< SEARCH\na'), /cut off/],
    ['a diff that does not fit', fenced('diff', '--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-nothing\n+x'), /does not fit/],
    ['a diff that names no file', fenced('diff', '@@ -1 +1 @@\n-a\n+b'), /which file/],
    ['a diff that creates what exists', fenced('diff', '--- /dev/null\n+++ b/src/a.js\n@@ -0,0 +1 @@\n+x'), /exists already/],
    [
      'a diff of a file that is not there',
      fenced('diff', '--- a/src/x.js\n+++ b/src/x.js\n@@ -1 +1 @@\n-a\n+b'),
      /does not exist/,
    ],
    [
      'two kinds for one file',
      fenced('js src/a.js', 'x();') + fenced('js src/a.js', marks('export const two = 2;')),
      /two different ways/,
    ],
    ['a file that grows too large', fenced('js src/a.js', 'x'.repeat(1024 * 1024 + 1)), /larger than/],
  ];
  it.each(rows)('%s', async (_, answer, reason) => {
    const { edits, refused } = await parsed(answer);
    expect(edits).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatch(reason);
  });

  it('more files than a person could review', async () => {
    const { edits, refused } = await parsed(Array.from({ length: 205 }, (_, index) => whole(`src/f${index}.js`)).join(''));
    expect(edits).toHaveLength(200);
    expect(refused).toHaveLength(5);
  });
});

describe('where tests are asked for', () => {
  const read = (file: string, newTests = true): Promise<Patch> => parsed(fenced(`js ${file}`, NEW_A), { newTests });

  it.each(['test/new.test.js', 'src/b.spec.js', 'tests/fixtures/list.js'])('a new file of tests or their data is an edit: %s', async (file) => {
    expect(await read(file)).toMatchObject({ edits: [{ path: file, kind: 'create' }], refused: [] });
    expect(await read(file, false)).toMatchObject({ edits: [], refused: [{ path: file, isForbidden: true }] });
  });

  it('tests are added to those that are there, which stay as they are', async () => {
    const added = fenced('js test/a.test.js', 'import test from "node:test";\n\ntest("b", () => {});\n');
    expect(await parsed(added, { newTests: true })).toMatchObject({ edits: [{ path: 'test/a.test.js', kind: 'modify' }], refused: [] });
    expect(await parsed(added)).toMatchObject({ edits: [], refused: [{ path: 'test/a.test.js', isForbidden: true }] });
  });

  it('a change of tests that are there can be given back, and is left out of another change', async () => {
    const reason = expect.stringMatching(/^Tests that are there stay as they are, and /) as string;
    expect(await read('test/a.test.js')).toEqual({ edits: [], refused: [{ path: 'test/a.test.js', reason, isOfTests: true }] });
    expect(await parsed(fenced('js src/a.js', NEW_A) + fenced('js test/a.test.js', NEW_A), { newTests: true })).toMatchObject({
      edits: [{ path: 'src/a.js' }], refused: [], leftOut: [{ path: 'test/a.test.js', reason }],
    });
  });

  it.each(['tests/conftest.py', 'test/__snapshots__/a.js', 'package.json', 'test/tsconfig.json', 'test/../.git/hooks/test.js', '.vscode/test.js'])('what decides about tests is refused all the same: %s', async (file) => {
    expect(await read(file)).toMatchObject({ edits: [], refused: [{ isForbidden: true }] });
  });
});

describe('where nobody asks for tests', () => {
  const fix = fenced('js src/a.js', NEW_A);

  it.each(['test/new.test.js', 'test/a.test.js', 'tests/fixtures/list.js', 'tests/conftest.py', 'test/__snapshots__/a.js'])('those beside a change are left out of it: %s', async (file) => {
    const { edits, refused, leftOut } = await parsed(fix + fenced(`js ${file}`, NEW_A));
    expect(edits.map(({ path }) => path)).toEqual(['src/a.js']);
    expect(refused).toEqual([]);
    expect(leftOut).toMatchObject([{ path: file, isForbidden: true, reason: expect.any(String) as string }]);
  });

  it.each(['package.json', 'test/tsconfig.json', 'test/../.git/hooks/test.js', '../test/a.test.js', 'node_modules/test/a.test.js'])('what else decides about tests, or is dangerous, is refused with the change: %s', async (file) => {
    const { refused, leftOut } = await parsed(fix + fenced(`js ${file}`, NEW_A));
    expect(refused).toMatchObject([{ isForbidden: true }]);
    expect(leftOut).toBeUndefined();
  });
});

describe('whatever an answer holds', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('```', '~~~', '````', '```js src/a.js', '```diff', '**src/a.js**', '// src/a.js', 'src/a.js', '\n', '\r\n'),
    fc.constantFrom(
      '<<<<<<< SEARCH',
      '=======',
      '>>>>>>> REPLACE',
      '@@ -1,3 +1,3 @@',
      '@@',
      ' export const one = 1;',
      '-x',
      '+y',
    ),
    fc.constantFrom(
      '--- a/src/a.js',
      '+++ b/src/a.js',
      '--- /dev/null',
      '+++ /dev/null',
      'diff --git a/src/a.js b/../x',
      'rename to ../../y.js',
    ),
    fc.constantFrom(
      '../x.js',
      '/etc/passwd',
      'C:\\x.js',
      '.git/config',
      'test/a.test.js',
      'linked/a.js',
      'src/link.js',
      'package.json',
    ),
  );
  const answers = fc.array(
    fc.oneof(
      piece,
      fc.tuple(fc.constantFrom('```', '```js ', '--- a/', '+++ b/'), piece).map(([a, b]) => a + b),
    ),
    { maxLength: 30 },
  );

  it('parsePatch does not throw and yields no path outside the workspace, protected or linked', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(FILES);
    await fc.assert(
      fc.asyncProperty(answers, async (pieces) => {
        const { edits } = await parsePatch(pieces.join('\n'), base, { candidates: ['src/b.js', '../x.js'] });
        for (const edit of edits) {
          expect(path.relative(base, path.resolve(base, edit.path)).split(path.sep)).not.toContain('..');
          expect(path.isAbsolute(edit.path)).toBe(false);
          expect(protectedReason(edit.path)).toBeUndefined();
          expect(edit.path).not.toMatch(/^linked|src\/link\.js/);
          expect(edit.before).not.toBe(edit.after);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('a diff that names a line far beyond the end of its file is read at once', async () => {
    const diff = '--- a/src/a.js\n+++ b/src/a.js\n@@ -999999999,1 +999999999,1 @@\n-not there\n+x';
    const { edits, refused } = await parsed(fenced('diff', diff));
    expect(edits).toEqual([]);
    expect(refused).toEqual([{ path: 'src/a.js', reason: 'The diff does not fit the file as it is: it has no line "not there".' }]);
  });

  it('a diff with more parts than can be looked for in so long a file is refused', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'long.js': `${'x\n'.repeat(200_000)}${'y\n'.repeat(1_000)}` });
    const parts = Array.from({ length: 1_000 }, (_, index) => `@@ -${index % 2 ? 1 : 201_000},1 +1,1 @@\n-y\n+z\n`);
    const { edits, refused } = await parsePatch(fenced('diff', `--- a/long.js\n+++ b/long.js\n${parts.join('')}`), base);
    expect(edits).toEqual([]);
    expect(refused).toEqual([{ path: 'long.js', reason: expect.stringContaining('too many parts') }]);
  });

  it('a list of exports that is no list is read in one pass', () => {
    const name = 'a'.repeat(3_990);
    expect(exportedNames(`export { ${name}- }\n`.repeat(2_000))).toEqual(new Set());
    expect(exportedNames('export { a, b as c, };\nmodule.exports = { d, e: f };')).toEqual(new Set(['a', 'c', 'd', 'e']));
  });

  it('a 10 MB answer is read in one pass', async () => {
    const nasty = [
      '`'.repeat(3) + 'js src/a.js\n',
      '<<<<<<< SEARCH\n',
      '--- a/x\n+++ b/x\n',
      '@@\n',
      '* '.repeat(50),
      '\n\n\n',
    ].join('');
    const { edits } = await parsed(nasty.repeat(Math.ceil(10_000_000 / nasty.length)));
    expect(edits).toEqual([]);
  });
});
