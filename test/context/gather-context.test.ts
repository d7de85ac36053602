import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import { tokensOf } from '../../backend/context/tokens.ts';
import { gather, numbered, paths, places, workspaceWith, type Files } from './workspaces.ts';

const INTERVALS = `import { byStart } from './order';

/** Merges what overlaps. */
export function mergeIntervals(intervals) {
  const sorted = [...intervals].sort(byStart);
  return sorted;
}
`;
const PROJECT: Files = {
  'src/intervals.js': INTERVALS,
  'src/order.js': 'export function byStart(a, b) {\n  return a[0] - b[0];\n}\n',
  'src/report.js':
    `${numbered(200, '//')}import { mergeIntervals } from './intervals';\nmergeIntervals([]);\n${numbered(200, '//')}`,
  'src/unrelated.js': 'export const colour = "green";\n',
  'test/intervals.test.js':
    "import { mergeIntervals as merge } from '../src/intervals';\ntest('keeps the last', () => merge([]));\n",
};

describe('what somebody pointed at', () => {
  test('the selection comes first, before files named by hand, which come before the open file', async () => {
    const workspace = workspaceWith({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const context = await gather(workspace, {
      files: [{ path: 'b.txt' }], selection: { path: 'c.txt', startLine: 1, endLine: 1 }, openFile: { path: 'a.txt' },
    });
    expect(context.pieces.map(({ path, reason }) => [path, reason])).toEqual([
      ['c.txt', 'selection, line 1'], ['b.txt', 'named by you'], ['a.txt', 'open file'],
    ]);
  });

  test('a selection in a large file is shown with just its lines', async () => {
    const workspace = workspaceWith({ 'large.txt': numbered(2_000) });
    const context = await gather(workspace, { selection: { path: 'large.txt', startLine: 500, endLine: 503 } });
    expect(places(context)).toEqual(['large.txt:500-503']);
    expect(context.text).toBe(
      '### large.txt, lines 500-503 of 2000 (selection, lines 500-503)\n```txt\nline 500\nline 501\nline 502\nline 503\n```',
    );
  });

  test('a selection in a small file brings the whole file, and the header says what is selected', async () => {
    const context = await gather(workspaceWith(PROJECT), { selection: { path: 'src/intervals.js', startLine: 5, endLine: 6 } });
    expect(context.text).toContain(`### src/intervals.js, whole file, 7 lines (selection, lines 5-6`);
    expect(context.text).toContain(INTERVALS);
  });

  test.each([
    ['#src/intervals.js', 'src/intervals.js:1-7'],
    ['what does #intervals.js do?', 'src/intervals.js:1-7'],
    ['(see #intervals.js).', 'src/intervals.js:1-7'],
    ['#file:src/intervals.js', 'src/intervals.js:1-7'],
    ['#"src/intervals.js"', 'src/intervals.js:1-7'],
    ['look at src/intervals.js', 'src/intervals.js:1-7'],
    ['look at `intervals.js`, please', 'src/intervals.js:1-7'],
    ['#report.js:150-151', 'src/report.js:150-151'],
    ['#report.js:150', 'src/report.js:150-150'],
    ['src/report.js:50 throws', 'src/report.js:30-70'],
  ])('a question that says %j is shown %s first', async (question, place) => {
    const context = await gather(workspaceWith(PROJECT), { question });
    expect(places(context)[0]).toBe(place);
    expect(context.pieces[0]?.reason).toMatch(/^named in the question/);
    expect(context.leftOut).toEqual([]);
  });

  test.each([
    'panic: boom\n\ngoroutine 1 [running]:\n\t/home/me/p/src/report.js:200 +0x1d',
    'see https://github.com/acme/p/blob/main/src/report.js#L200-L201', 'src/report.js(200,5): error TS2304: Cannot find it',
    '/home/me/p/src/report.js\n  200:5  error  Unexpected thing  no-thing', '   at A.B() in /src/report.js:line 200',
    'warum das? `src/report.js:200:5`', 'src/report.js:200: in f', '  --> src/report.js:200:5', '为什么 src/report.js:200 出错',
  ])('the place in %j is shown first', async (question) => {
    const [first] = (await gather(workspaceWith(PROJECT), { question })).pieces;
    expect(first).toMatchObject({ path: 'src/report.js' });
    expect(first?.startLine).toBeLessThanOrEqual(200);
    expect(first?.endLine).toBeGreaterThanOrEqual(200);
  });

  test('a mention that could mean several files says so and which', async () => {
    const context = await gather(workspaceWith({ 'a/x.txt': 'a\n', 'b/x.txt': 'b\n' }), { question: '#x.txt' });
    expect(context.leftOut).toEqual([{ path: 'x.txt', reason: '2 files are called so: write the path, such as #a/x.txt' }]);
  });

  test('an issue number, a heading and a word after # are no files', async () => {
    const context = await gather(workspaceWith(PROJECT), { question: '# Title\n#12 and #include and C#.' });
    expect(context.leftOut).toEqual([]);
  });

  test('a file that does not exist is said, when a person named it', async () => {
    const context = await gather(workspaceWith(PROJECT), {
      question: '#gone.js and lost/file.js', files: [{ path: 'absent.js' }],
    });
    expect(context.leftOut).toEqual([{ path: 'absent.js', reason: 'no such file' }, { path: 'gone.js', reason: 'no such file' }]);
  });

  test('an absolute path inside the workspace is shown as a relative one', async () => {
    const workspace = workspaceWith(PROJECT);
    expect(paths(await gather(workspace, { files: [{ path: `${workspace}/src/order.js` }] }))[0]).toBe('src/order.js');
  });

  test('a range beyond the end of the file shows its last line', async () => {
    const workspace = workspaceWith({ 'a.txt': numbered(300) });
    const context = await gather(workspace, { files: [{ path: 'a.txt', startLine: 900, endLine: 950 }] });
    expect(places(context)).toEqual(['a.txt:300-300']);
  });

  test('an empty file is a piece without lines', async () => {
    const context = await gather(workspaceWith({ 'empty.txt': '' }), { files: [{ path: 'empty.txt' }] });
    expect(context.pieces).toMatchObject([{ path: 'empty.txt', startLine: 1, endLine: 0 }]);
    expect(context.text).toBe('### empty.txt, whole file, 0 lines (named by you)\n```txt\n```');
  });

  test('problems bring their surrounding lines and their messages, errors before warnings', async () => {
    const workspace = workspaceWith({ 'a.txt': numbered(400), 'b.txt': numbered(400) });
    const context = await gather(workspace, {
      diagnostics: [
        { path: 'a.txt', line: 50, severity: 'warning', message: 'unused' },
        { path: 'b.txt', line: 300, severity: 'error', message: 'Type\n  mismatch' },
      ],
    });
    expect(places(context)).toEqual(['b.txt:288-312', 'a.txt:38-62', '(problems):1-2']);
    expect(context.text).toContain('b.txt:300: error: Type mismatch');
    expect(context.pieces[0]?.reason).toBe('error in line 300');
  });

  test('a problem in a file that may not be sent is not told, either', async () => {
    const workspace = workspaceWith({ '.conductorignore': 'private.js\n', 'private.js': 'x\n' });
    const context = await gather(workspace, {
      diagnostics: [{ path: 'private.js', line: 1, severity: 'error', message: 'quotes the file' }],
    });
    expect(context.text).toBe('');
    expect(context.leftOut).toMatchObject([{ path: 'private.js' }]);
  });

  test('the open file is shown around the cursor', async () => {
    const workspace = workspaceWith({ 'a.txt': numbered(900) });
    const context = await gather(workspace, { openFile: { path: 'a.txt', startLine: 450, endLine: 450 } });
    expect(places(context)).toEqual(['a.txt:410-490']);
  });

  test('pieces of one file that touch become one, with both reasons', async () => {
    const context = await gather(workspaceWith({ 'a.txt': numbered(400) }), {
      selection: { path: 'a.txt', startLine: 100, endLine: 110 }, files: [{ path: 'a.txt', startLine: 108, endLine: 120 }],
    });
    expect(context.pieces).toMatchObject([{ startLine: 100, endLine: 120, reason: 'selection, lines 100-110; named by you' }]);
  });
});

describe('the output of a failing test', () => {
  const files = { 'src/deep/thing.py': numbered(300), 'lib.go': numbered(300), 'node_modules/x/index.js': numbered(300) };

  test.each([
    ['  File "src/deep/thing.py", line 100, in f', 'src/deep/thing.py:88-112'],
    ['    at f (/somewhere/copy-7/src/deep/thing.py:100:5)', 'src/deep/thing.py:88-112'],
    ['    at file:///elsewhere/src/deep/thing.py:100:5', 'src/deep/thing.py:88-112'],
    ['lib.go:100: undefined: x', 'lib.go:88-112'],
    ['lib.go(100,3): error TS1', 'lib.go:88-112'],
    ['  --> lib.go:100:3', 'lib.go:88-112'],
    ['\u001b[31m ❯ lib.go:100:3\u001b[0m', 'lib.go:88-112'],
    ['❯ \u001b[36mlib.go\u001b[39m:\u001b[2m100\u001b[22m', 'lib.go:88-112'],
    ['(thing.py:100)', 'src/deep/thing.py:88-112'],
  ])('%j brings the lines around the one it names', async (testOutput, place) => {
    const context = await gather(workspaceWith(files), { testOutput });
    expect(places(context)).toEqual([place, '(test output):1-1']);
  });

  test('frames outside of the workspace and in node_modules bring nothing', async () => {
    const testOutput = 'at a (/usr/lib/node/lib.go:100:1)\nat b (node_modules/x/index.js:3:1)\nat c (node:internal/x:1:1)';
    const context = await gather(workspaceWith(files), { testOutput });
    expect(places(context)).toEqual(['(test output):1-3']);
    expect(context.leftOut).toEqual([]);
  });

  test('the frame nearest to the failure comes first: the first one, but the last one of Python', async () => {
    const workspace = workspaceWith(Object.fromEntries(['a.go', 'b.go', 'a.py', 'b.py'].map((name) => [name, numbered(300)])));
    const go = await gather(workspace, { testOutput: 'b.go:100\na.go:100\n' });
    expect(paths(go)).toEqual(['b.go', 'a.go', '(test output)']);
    const python = await gather(workspace, { testOutput: 'File "b.py", line 100, in f\nFile "a.py", line 100, in g\n' });
    expect(paths(python)).toEqual(['a.py', 'b.py', '(test output)']);
  });

  test('is sent with its middle left out where it is long', async () => {
    const context = await gather(undefined, { testOutput: numbered(3_000, 'not ok'), tokenBudget: 400 });
    expect(context.text).toMatch(/not ok 1\n[^]*\[… \d+ lines left out …\]\n[^]*not ok 3000\n/);
    expect(context.tokens).toBeLessThanOrEqual(100);
  });

  test('is all there is without a folder', async () => {
    const context = await gather(undefined, { testOutput: 'expected 2', files: [{ path: 'a.js' }] });
    expect(context.text).toBe('### (test output) (what the failing test printed)\n```\nexpected 2\n```');
    expect(context.leftOut).toEqual([{ path: 'a.js', reason: 'no folder is open' }]);
  });
});

describe('what the search finds', () => {
  test('definitions of a name in the question come before its uses', async () => {
    const context = await gather(workspaceWith(PROJECT), { question: 'Why does mergeIntervals lose the last one?' });
    expect(context.pieces[0]?.path).toBe('src/intervals.js');
    expect(context.pieces[0]?.reason).toContain('defines mergeIntervals');
    expect(paths(context)).toContain('src/report.js');
    expect(paths(context)).toContain('test/intervals.test.js');
    expect(paths(context)).not.toContain('src/unrelated.js');
    const use = context.pieces.find(({ path }) => path === 'src/report.js');
    expect(use?.startLine).toBeLessThanOrEqual(201);
    expect(use?.endLine).toBeGreaterThanOrEqual(202);
  });

  test('the words of a question find what is named like them', async () => {
    const context = await gather(workspaceWith(PROJECT), { question: 'Are intervals merged in the right order?' });
    expect(paths(context).slice(0, 3)).toEqual(expect.arrayContaining(['src/intervals.js', 'src/order.js']));
  });

  test('a path in the question is no name in code', async () => {
    const workspace = workspaceWith({ 'src/budget.js': 'let x;\n', 'src/other.js': 'useIt(budget);\n' });
    expect(paths(await gather(workspace, { question: '#budget.js or src/budget.js?' }))).toEqual(['src/budget.js']);
    expect(paths(await gather(workspace, { question: 'where is `budget`?' }))).toContain('src/other.js');
  });

  test('a selection brings the definitions of what it uses', async () => {
    const context = await gather(workspaceWith(PROJECT), { selection: { path: 'src/intervals.js', startLine: 5, endLine: 5 } });
    expect(context.pieces.find(({ path }) => path === 'src/order.js')?.reason).toBe('defines byStart');
  });

  test('a named file brings the tests that import it', async () => {
    const context = await gather(workspaceWith(PROJECT), { files: [{ path: 'src/intervals.js' }] });
    const piece = context.pieces.find(({ path }) => path === 'test/intervals.test.js');
    expect(piece?.reason).toContain('test that imports src/intervals.js');
  });

  test('a failing test brings what it imports', async () => {
    const files = { 'test/far.test.js': "import '../src/quiet.js';\nboom();\n", 'src/quiet.js': 'export const silence = 1;\n' };
    const context = await gather(workspaceWith({ ...PROJECT, ...files }), { testOutput: 'at test/far.test.js:2:1' });
    expect(context.pieces.find(({ path }) => path === 'src/quiet.js')?.reason).toContain('imported by test/far.test.js');
  });

  test('a name inside words without spaces is found', async () => {
    const context = await gather(workspaceWith(PROJECT), { question: '为什么mergeIntervals函数丢失最后一个？' });
    expect(paths(context)[0]).toBe('src/intervals.js');
  });

  test('names quoted by a problem are looked up', async () => {
    const context = await gather(workspaceWith(PROJECT), {
      diagnostics: [{ path: 'src/unrelated.js', line: 1, severity: 'error', message: "Cannot find name 'byStart'." }],
    });
    expect(context.pieces.find(({ path }) => path === 'src/order.js')?.reason).toBe('defines byStart');
  });

  test('a rare name says more than a common one', async () => {
    const common = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`src/many${index}.js`, 'useCommonThing();\n']));
    const workspace = workspaceWith({ ...common, 'src/zz.js': 'useRareThing();\n' });
    const context = await gather(workspace, { question: 'useCommonThing() or useRareThing()?' });
    expect(paths(context)[0]).toBe('src/zz.js');
  });

  test('names made of any characters are searched as they stand', async () => {
    const workspace = workspaceWith({ 'a.js': 'const $el_ = 1;\nconst größe_x = 2;\n' });
    expect(paths(await gather(workspace, { question: 'where is `$el_`' }))).toEqual(['a.js']);
    expect(paths(await gather(workspace, { question: 'where is `größe_x`' }))).toEqual(['a.js']);
    expect((await gather(workspace, { question: '`a.*[(` $^ `\\`' })).leftOut).toEqual([]);
  });
});

describe('the budget', () => {
  const budgets = [0, 1, 20, 60, 150, 400, 1_500, 6_000];
  test.each(budgets)('of %d tokens is never exceeded, and what it leaves out is said', async (tokenBudget) => {
    const workspace = workspaceWith({ ...PROJECT, 'large.txt': numbered(3_000), 'wide.txt': 'x'.repeat(50_000) });
    const context = await gather(workspace, {
      question: 'mergeIntervals in #large.txt', tokenBudget, files: [{ path: 'src/report.js' }, { path: 'wide.txt' }],
      selection: { path: 'src/intervals.js', startLine: 4, endLine: 7 }, testOutput: numbered(100, 'not ok'),
      diagnostics: [{ path: 'src/order.js', line: 2, severity: 'error', message: 'wrong' }],
    });
    expect(tokensOf(context.text)).toBe(context.tokens);
    expect(context.tokens).toBeLessThanOrEqual(tokenBudget);
    for (const file of ['large.txt', 'wide.txt']) expect(context.leftOut.map(({ path }) => path)).toContain(file);
  });

  test('when it is tight, the selection stays and what the search found goes', async () => {
    const context = await gather(workspaceWith(PROJECT), {
      question: 'mergeIntervals', selection: { path: 'src/order.js', startLine: 1, endLine: 3 }, tokenBudget: 60,
    });
    expect(paths(context)).toEqual(['src/order.js']);
    expect(context.leftOut.some(({ reason }) => reason === 'found by the search, over the token budget')).toBe(true);
  });

  test('every named file gets a share before the first is shown whole', async () => {
    const workspace = workspaceWith({ 'a.txt': numbered(900), 'b.txt': numbered(900) });
    const context = await gather(workspace, { files: [{ path: 'a.txt' }, { path: 'b.txt' }], tokenBudget: 800 });
    expect(paths(context)).toEqual(['a.txt', 'b.txt']);
    expect(context.leftOut).toHaveLength(2);
    for (const { path, reason } of context.leftOut) {
      const piece = context.pieces.find((one) => one.path === path);
      expect(reason).toBe(`all but lines ${piece?.startLine}-${piece?.endLine}: over the token budget`);
    }
  });

  test('of a named file that is too large, its beginning and the lines about the question are shown', async () => {
    const lines = numbered(3_000).split('\n');
    lines[2_000] = 'function findMeHere() {';
    const workspace = workspaceWith({ 'big.js': lines.join('\n') });
    const context = await gather(workspace, { question: 'findMeHere in #big.js', tokenBudget: 1_000 });
    expect(places(context)[0]).toMatch(/^big\.js:1-/);
    expect(context.pieces.some(({ startLine, endLine }) => startLine <= 2_001 && endLine >= 2_001)).toBe(true);
    expect(context.text).toContain('function findMeHere() {');
  });
});

describe('the text', () => {
  test('keeps content inside its fence, whatever it holds', async () => {
    const content = 'a\n```\nb\n`````js\n# heading\n';
    const context = await gather(workspaceWith({ 'a.md': content }), { files: [{ path: 'a.md' }] });
    expect(context.text).toBe(`### a.md, whole file, 5 lines (named by you)\n\`\`\`\`\`\`md\n${content}\`\`\`\`\`\``);
  });

  test('names files with spaces, quotes, line breaks and any script so that they cannot be mistaken', async () => {
    const names = ['with space.txt', 'line\nbreak.txt', 'quo"te`.txt', 'größe 大.txt', '-dash.txt', '#hash.txt', "it's.txt"];
    const workspace = workspaceWith(Object.fromEntries(names.map((name) => [name, 'uniqueNeedle_1\n'])));
    const context = await gather(workspace, { question: 'uniqueNeedle_1', files: names.map((path) => ({ path })) });
    expect(paths(context).sort()).toEqual([...names].sort());
    expect(context.leftOut).toEqual([]);
    expect(context.text).toContain('### "line\\nbreak.txt", whole file, 1 line (');
    expect(context.text.split('\n').filter((line) => line.startsWith('### '))).toHaveLength(names.length);
  });

  test('is the same for the same question and workspace', async () => {
    const workspace = workspaceWith(PROJECT);
    const ask = () => gather(workspace, { question: 'mergeIntervals and byStart in #report.js', tokenBudget: 700 });
    const first = await ask();
    for (let repeat = 0; repeat < 4; repeat += 1) expect(await ask()).toEqual(first);
  });
});

describe('whatever happens', () => {
  test('any question, any named path and any test output are answered within the budget', async () => {
    const workspace = workspaceWith(PROJECT);
    const part = fc.constantFrom(
      '#', '"', '`', '../', '/', ':', '1-', '-', 'src/', 'intervals.js', 'mergeIntervals', '(', '\n', '\u0000', ' ', 'File "',
      '", line 3',
    );
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.array(part).map((parts) => parts.join('')));
    await fc.assert(fc.asyncProperty(text, text, text, async (question, path, testOutput) => {
      const context = await gather(workspace, { question, files: [{ path, startLine: 2 }], testOutput, tokenBudget: 300 });
      expect(context.tokens).toBeLessThanOrEqual(300);
    }), { numRuns: 60 });
  });

  test('an aborted gathering rejects with the reason, before it began and in the middle', async () => {
    const workspace = workspaceWith(PROJECT);
    const reason = new Error('no longer wanted');
    await expect(gather(workspace, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const gathering = gather(workspace, { question: 'mergeIntervals', signal: controller.signal });
    controller.abort(reason);
    await expect(gathering).rejects.toBe(reason);
  });

  const absent = [undefined, '/no/such/ripgrep'];
  test.each(absent)('without ripgrep (%s) named files are still shown, and it is said', async (ripgrepPath) => {
    const workspace = workspaceWith({ ...PROJECT, '.env': 'x=1\n' });
    const context = await new ContextGatherer({ ripgrepPath }).gather({
      workspace, question: '#src/intervals.js mergeIntervals', files: [{ path: '.env' }], diagnostics: [], tokenBudget: 1_000,
      signal: new AbortController().signal,
    });
    expect(paths(context)).toEqual(['src/intervals.js']);
    expect(context.leftOut).toEqual([
      { path: '(search)', reason: expect.stringMatching(/ripgrep.*Nothing was searched/) as string },
      { path: '.env', reason: 'its name says that it holds secrets' },
    ]);
  });

  test('without ripgrep nothing is sent from a folder that has a .conductorignore', async () => {
    const workspace = workspaceWith({ ...PROJECT, '.conductorignore': 'src/order.js\n' });
    const context = await new ContextGatherer({ ripgrepPath: undefined }).gather({
      workspace, question: '', files: [{ path: 'src/order.js' }], diagnostics: [], tokenBudget: 1_000,
      signal: new AbortController().signal,
    });
    expect(context.text).toBe('');
    expect(context.leftOut).toContainEqual({ path: 'src/order.js', reason: 'could not be checked against .conductorignore' });
  });

  test('a folder that is not there is said', async () => {
    const context = await gather('/no/such/folder', { question: 'x' });
    expect(context.leftOut).toEqual([{ path: '/no/such/folder', reason: 'no such folder' }]);
  });

  test('a workspace of 5,000 files that all hold the name stays within the budget', async () => {
    const files = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) =>
      [`pkg${index % 50}/file${index}.js`, `export const value${index} = everywhereName(${index});\n`.repeat(20)]));
    const workspace = workspaceWith({ ...files, 'src/home.js': 'export function everywhereName(x) {\n  return x;\n}\n' });
    const context = await gather(workspace, { question: 'What does everywhereName() do?', tokenBudget: 2_000 });
    expect(context.tokens).toBeLessThanOrEqual(2_000);
    expect(paths(context)[0]).toBe('src/home.js');
    expect(context.leftOut.length).toBeLessThanOrEqual(3);
  });
});
