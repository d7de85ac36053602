import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { makeScratch, trySandbox, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();
const { signal } = new AbortController();

/** A verifier that takes each suite for a long one, and the commands of its runs. */
function watched({ sandbox, folders, copies }: Scratch): { verifier: Verifier; runs: () => { all: number; some: number }; alone: () => number } {
  const commands: string[] = [];
  const verifier = new Verifier({
    sandbox: {
      pinnedImage: (image) => sandbox.pinnedImage(image),
      run: (command) => {
        // The version of Node is asked for in the sandbox, too.
        if (command.command.includes('--test')) commands.push(command.command);
        return sandbox.run(command);
      },
    },
    folders, copies, baseRuns: new MemoryBaseRunCache(), paysToRunFirst: () => true,
  });
  const some = (): number => commands.filter((command) => command.includes('list.test.js')).length;
  return {
    verifier,
    runs: () => ({ all: commands.length - some(), some: some() }),
    alone: () => commands.filter((command) => !command.includes('a.test.js')).length,
  };
}

const LIST = 'export const first = (list) => list[1];\nexport const last = (list) => list[list.length - 1];\n';
const FIXED = LIST.replace('list[1]', 'list[0]');
const test = (imports: string, ...lines: string[]): string =>
  ['import assert from "node:assert/strict";', 'import { it } from "node:test";', imports, ...lines, ''].join('\n');

const FILES = {
  'package.json': '{"type":"module"}',
  'src/list.js': LIST,
  'src/wait.js': 'export const wait = () => new Promise((done) => { setTimeout(done, 700); });\n',
  'test/list.test.js': test('import { first, last } from "../src/list.js";',
    'it("has a first", () => assert.equal(first([4, 5, 6]), 4));', 'it("has a last", () => assert.equal(last([4, 5, 6]), 6));'),
  // It takes most of the time, and what it loads is known to nobody but itself.
  'test/slow.test.js': test('import { wait } from "../src/wait.js";', 'const name = ["li", "st"].join("");',
    'const { last, first } = await import(`../src/${name}.js`);',
    'it("ends", async () => { await wait(); assert.equal(last([1, 2]), 2); });', 'it("begins with something", () => assert.notEqual(first([7, 8]), 9));'),
};

const edit = (before: string, after: string) => ({ path: 'src/list.js', kind: 'modify' as const, before, after });

async function judged(scratch: Scratch, after: string): Promise<{ verdict: Verdict; runs: { all: number; some: number } }> {
  const base = await scratch.project(FILES);
  const { verifier, runs } = watched(scratch);
  const verdict = await verifier.verify({ base, command: 'node --test', patch: { edits: [edit(LIST, after)], refused: [] }, signal });
  return { verdict, runs: runs() };
}

describe.skipIf(!available)(`tests that a change reaches (${note})`, { timeout: 120_000 }, () => {
  it('refute a wrong answer by themselves, and the verdict says that the others were not run', async () => {
    await using scratch = await makeScratch();
    const { verdict, runs } = await judged(scratch, LIST.replace('list[1]', 'list[2]'));
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0, reason: 'Of 1 test that failed before, 1 still did not pass.' });
    expect(verdict.tests.map(({ id }) => id)).toEqual(['test/list.test.js > has a first', 'test/list.test.js > has a last']);
    expect(verdict.notes.join()).toContain('(2 of 4)');
    // The base twice; then the tests alone, without and with the change.
    expect(runs).toEqual({ all: 2, some: 2 });
  });

  it('refute what breaks a test that passed, once they have said so twice', async () => {
    await using scratch = await makeScratch();
    const { verdict, runs } = await judged(scratch, FIXED.replace('list.length - 1', '0'));
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', reason: 'Of 3 tests that passed before, 1 did not pass any more.' });
    expect(runs).toEqual({ all: 2, some: 3 });
  });

  it('verify nothing: a right answer is verified by all tests, in each run', async () => {
    await using scratch = await makeScratch();
    const { verdict, runs } = await judged(scratch, FIXED);
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified' });
    expect(verdict.tests).toHaveLength(4);
    expect(verdict.notes).toEqual([]);
    // Twice without the change, twice with it, and the negative control.
    expect(runs).toEqual({ all: 5, some: 2 });
  });

  it('miss what is loaded by a computed name, which all tests then catch', async () => {
    await using scratch = await makeScratch();
    const { verdict, runs } = await judged(scratch, FIXED.replace('list.length - 1', 'list.length > 2 ? list.length - 1 : 0'));
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', reason: 'Of 3 tests that passed before, 1 did not pass any more.' });
    expect(verdict.tests.find(({ after }) => after === 'failed')?.id).toBe('test/slow.test.js > ends');
    expect(runs).toEqual({ all: 4, some: 2 });
  });

  it('are not run first if they end in another way without the others', async () => {
    await using scratch = await makeScratch();
    // Both files share a process, and the first one prepares the second.
    const { 'test/slow.test.js': _, ...others } = FILES;
    const base = await scratch.project({
      ...others,
      'test/a.test.js': test('import { wait } from "../src/wait.js";', 'globalThis.prepared = true;', 'it("waits", () => wait());'),
      'test/list.test.js': `${FILES['test/list.test.js']}it("is prepared", () => assert.equal(globalThis.prepared, true));\n`,
    });
    const { verifier, alone } = watched(scratch);
    const verdict = await verifier.verify({
      base, command: 'node --test --test-isolation=none test/a.test.js test/list.test.js', patch: { edits: [edit(LIST, FIXED)], refused: [] }, signal,
    });
    expect(verdict.reason).toBe('1 test that failed before passed, and 3 tests that passed still did.');
    expect(verdict.verified).toBe(true);
    // Without the change the tests were tried alone, and with it never.
    expect(alone()).toBe(1);
  });

  it('say of a bug that they do not notice it; all tests are asked of a bug that they notice, and of one that they do not reach', async () => {
    await using scratch = await makeScratch();
    const ALONE = 'export const one = 1;\n';
    const base = await scratch.project({ ...FILES, 'src/list.js': FIXED, 'src/alone.js': ALONE });
    const { verifier, runs } = watched(scratch);
    const notices = (baseEdits: readonly ReturnType<typeof edit>[]) => verifier.notices({ base, baseEdits, command: 'node --test', signal });
    expect(await notices([edit(FIXED, FIXED.replace('list.length - 1', 'list.length > 2 ? list.length - 1 : 0'))])).toEqual({ state: 'unnoticed', reason: 'None of the tests that reach it notices it.' });
    // The workspace twice; then the reached tests without the bug, and with it.
    expect(runs()).toEqual({ all: 2, some: 2 });
    expect(await notices([edit(FIXED, LIST)])).toEqual({ state: 'noticed' });
    expect(runs()).toEqual({ all: 3, some: 3 });
    expect(await notices([{ ...edit(ALONE, 'export const one = 2;\n'), path: 'src/alone.js' }])).toEqual({ state: 'unnoticed', reason: 'No test notices it.' });
    expect(runs()).toEqual({ all: 4, some: 3 });
    // Both of its runs are there already: of the reached tests, and of all. The test that is judged to notice it fails in both.
    const told = await verifier.testBase({ base, baseEdits: [edit(FIXED, LIST)], command: 'node --test', signal });
    expect(told).toMatchObject({ total: 4, failed: 1, flaky: 0 });
    expect(runs()).toEqual({ all: 4, some: 3 });
  });

  it('do not stand for a second run of all tests where others end otherwise with the bug', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...FILES, 'src/list.js': FIXED });
    const { verifier, runs } = watched(scratch);
    const options = { base, baseEdits: [edit(FIXED, 'export const first = (list) => list[1];\nexport const last = (list) => list[0];\n')], command: 'node --test', signal };
    expect(await verifier.notices(options)).toEqual({ state: 'noticed' });
    expect(runs()).toEqual({ all: 3, some: 2 });
    expect(await verifier.testBase(options)).toMatchObject({ total: 4, failed: 3, flaky: 0 });
    expect(runs()).toEqual({ all: 4, some: 2 });
  });

  it('of a bug that makes the tests endless are stopped, and nothing else is run', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...FILES, 'src/list.js': FIXED });
    const { verifier, runs } = watched(scratch);
    const endless = edit(FIXED, FIXED.replace('list[0]', '{ for (;;); }'));
    const found = await verifier.notices({ base, baseEdits: [endless], command: 'node --test', signal, timeoutMs: 5_000 });
    expect(found).toEqual({ state: 'unusable', reason: 'The tests could not be run before the change: The tests did not end within 5 s.' });
    expect(runs()).toEqual({ all: 3, some: 2 });
  });

  it('are enough for the control of a patch that makes the workspace as it is, whose runs were made before', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...FILES, 'src/list.js': FIXED });
    const { verifier, runs } = watched(scratch);
    const verify = (before: string, after: string) =>
      verifier.verify({ base, baseEdits: [edit(FIXED, before)], command: 'node --test', patch: { edits: [edit(before, after)], refused: [] }, signal });
    expect(await verify(LIST, FIXED)).toMatchObject({ verified: true, outcome: 'verified' });
    // Two runs with the bug, two without it; the reached tests once as they are, and once altered.
    expect(runs()).toEqual({ all: 4, some: 2 });
    const other = LIST.replace('list[1]', 'list[2]');
    expect(await verify(other, FIXED)).toMatchObject({ verified: true, outcome: 'verified' });
    expect(runs()).toEqual({ all: 6, some: 3 });
    // The same by other code is judged by its own runs.
    expect(await verify(other, FIXED.replace('list[0]', 'list.at(0)'))).toMatchObject({ verified: true, outcome: 'verified' });
    expect(runs()).toEqual({ all: 9, some: 5 });
  });
});

const NODE_MODULES = path.resolve(import.meta.dirname, '../../node_modules');
const linked = (...names: string[]): Parameters<Scratch['project']>[0] =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(NODE_MODULES, name) }]));
const js = (imports: string): Parameters<Scratch['project']>[0] => ({
  'package.json': '{"type":"module"}', 'src/one.js': 'export const one = () => 2;\n', 'src/two.js': 'export const two = () => 2;\n',
  ...Object.fromEntries(['one', 'two'].map((name, index) => [`test/${name}.test.js`,
    `${imports}import assert from "node:assert/strict";\nimport { ${name} } from "../src/${name}.js";\n`
    + `it("is ${name}", async () => { await new Promise((done) => { setTimeout(done, ${index * 300}); }); assert.equal(${name}(), ${index + 1}); });\n`])),
});

/** Each with one test that fails, and another that takes longer and that the change does not reach. */
const PROJECTS: readonly [string, Parameters<Scratch['project']>[0], string][] = [
  ['vitest run', { ...linked('.bin', 'vitest', 'vite'), ...js('import { it } from "vitest";\n') }, 'src/one.js'],
  ['mocha test/*.js', { ...linked('.bin', 'mocha'), ...js('') }, 'src/one.js'],
  ['python3 -m pytest', {
    'one.py': 'def one():\n    return 2\n', 'two.py': 'def two():\n    return 2\n',
    'tests/test_one.py': 'from one import one\n\ndef test_one():\n    assert one() == 1\n',
    'tests/test_two.py': 'import time\nfrom two import two\n\ndef test_two():\n    time.sleep(0.3)\n    assert two() == 2\n',
  }, 'one.py'],
  ['go test ./...', {
    'go.mod': 'module example.com/shop\n\ngo 1.21\n',
    'one/one.go': 'package one\n\nfunc One() int { return 2 }\n', 'two/two.go': 'package two\n\nfunc Two() int { return 2 }\n',
    'one/one_test.go': 'package one\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(One())\n\t}\n}\n',
    'two/two_test.go': 'package two\n\nimport (\n\t"testing"\n\t"time"\n)\n\nfunc TestTwo(t *testing.T) {\n\ttime.Sleep(300 * time.Millisecond)\n\tif Two() != 2 {\n\t\tt.Fatal(Two())\n\t}\n}\n',
  }, 'one/one.go'],
];

describe.skipIf(!available)(`tests that a change reaches (${note}), by the real runner`, { timeout: 240_000 }, () => {
  it.each(PROJECTS)('%s: run alone and refute a wrong answer; a right one is verified by all', async (command, files, file) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(files);
    const { folders, copies, baseRuns } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders });
    const verifier = new Verifier({ sandbox, folders, copies, baseRuns, paysToRunFirst: () => true });
    const before = String(files[file]);
    const verdictOn = (result: string): Promise<Verdict> => verifier.verify({
      base, command, signal, patch: { edits: [{ path: file, kind: 'modify', before, after: before.replace('2', result) }], refused: [] },
    });
    const wrong = await verdictOn('3');
    expect([wrong.outcome, wrong.reason]).toEqual(['failed', 'Of 1 test that failed before, 1 still did not pass.']);
    expect(wrong.tests).toHaveLength(1);
    expect(wrong.notes.join()).toContain('(1 of 2)');
    const right = await verdictOn('1');
    expect(right).toMatchObject({ verified: true, outcome: 'verified' });
    expect(right.tests).toHaveLength(2);
  });
});
