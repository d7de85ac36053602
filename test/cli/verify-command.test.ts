import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VerifyResult } from '../../backend/cli/judge-change.ts';
import { verifiedChangeSchema } from '../../backend/protocol/verified-change.ts';
import { GitRepository, type Contents } from '../verify/git-repository.ts';
import { processesWith, trySandbox } from '../verify/setup.ts';
import { tryProgram } from '../verify/runners/setup.ts';
import { conductorCommand, NO_STACK, type StartOptions } from './run-conductor.ts';

/* The command as people and their CI use it: its own process, real repositories, the real tests of small projects, no backend. */

const { places, start, run } = conductorCommand();
const sandbox = await trySandbox();
const python = tryProgram('python3', '--version');
const PATIENT_MS = 120_000;

const BROKEN = 'export const add = (a, b) => a - b;\n';
const FIXED = 'export const add = (a, b) => a + b;\n';
const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { add } from '../src/add.js';
test('adds', () => assert.equal(add(2, 3), 5));
test('adds nothing', () => assert.equal(add(7, 0), 7));
`;
const PROJECT: Readonly<Record<string, Contents>> = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
  'src/add.js': BROKEN,
  'test/add.test.js': TEST,
};
const NO_JUNK = `import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
test('no junk', () => assert.equal(existsSync('junk.txt'), false));
`;
const WAITS = `import test from 'node:test';
test('waits', () => new Promise((resolve) => setTimeout(resolve, 600_000)));
`;
const sleepingAs = (name: string): string => `import { spawn } from 'node:child_process';
spawn('sleep', ['600'], { argv0: '${name}', detached: true });
`;
const PYTHON_TEST = `import unittest
from shop.price import total

class TotalTest(unittest.TestCase):
    def test_sums(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_empty(self):
        self.assertEqual(total([]), 0)
`;
const FAILED_THEN_PASSED = [
  { id: 'test/add.test.js > adds', before: 'failed', after: 'passed' },
  { id: 'test/add.test.js > adds nothing', before: 'passed', after: 'passed' },
];

let projects = 0;
/** A repository of its own, with these files committed. */
function project(files: Readonly<Record<string, Contents>> = PROJECT): GitRepository {
  projects += 1;
  return new GitRepository(path.join(places.folder, `project-${projects}`), files);
}

interface Verified {
  readonly code: number | null;
  readonly result: VerifyResult;
  readonly stderr: string;
}

/** Standard output has to be one JSON object and nothing else. */
async function verify({ folder }: GitRepository, args: readonly string[] = [], options?: StartOptions): Promise<Verified> {
  const { code, stdout, stderr } = await run(['verify', '--workspace', folder, '--json', ...args], options);
  expect(stdout, stderr).toMatch(/^\{/);
  expect(await readdir(path.join(places.home, 'verify'))).toEqual([]);
  return { code, result: JSON.parse(stdout) as VerifyResult, stderr };
}

const told = ({ tests }: VerifyResult) => tests.map(({ id, before, after }) => ({ id, before, after }));

describe.skipIf(!sandbox.available)(`conductor verify, ${sandbox.note}`, { timeout: PATIENT_MS }, () => {
  it('says "passes" where nothing shows that the tests would notice a wrong change, which --require-verified does not accept', async () => {
    const smoke = `import test from 'node:test';\nimport { add } from '../src/add.js';\ntest('adds', () => void add(2, 3));\n`;
    const repository = project({ ...PROJECT, 'src/add.js': 'export const add = (a, b) => a.missing.b;\n', 'test/add.test.js': smoke });
    repository.write({ 'src/add.js': BROKEN });
    const { code, result } = await verify(repository);
    expect({ code, ...result }).toMatchObject({ code: 0, verified: false, outcome: 'passes', score: 1, reason: expect.stringContaining('It is not shown that') });
    expect((await verify(repository, ['--require-verified'])).code).toBe(1);
    repository.write({ 'test/add.test.js': smoke });
    const { stdout } = await run(['verify', '--workspace', repository.folder]);
    expect(stdout).toMatch(/^Passes {10}1 test that failed before passed/);
  });

  it('runs the tests with the programs of the person, not with those that a launcher puts before them', async () => {
    const [tools, launcher] = ['tools', 'launcher'].map((name) => path.join(places.folder, name)) as [string, string];
    for (const [folder, status] of [[tools, 0], [launcher, 1]] as const) {
      await mkdir(folder);
      await writeFile(path.join(folder, 'build-step'), `#!/bin/sh\nexit ${status}\n`, { mode: 0o755 });
    }
    const repository = project({ ...PROJECT, 'package.json': JSON.stringify({ type: 'module', scripts: { test: 'build-step && node --test' } }) });
    repository.write({ 'src/add.js': FIXED });
    const own = process.env['PATH'] ?? '';
    const environment = { PATH: `${launcher}:${own}`, CONDUCTOR_USER_PATH: `${tools}:${own}` };
    expect((await verify(repository, [], { environment })).result).toMatchObject({ verified: true });
  });

  it('verifies a fix that is not committed, and prints one JSON object with the fields that scripts rely on', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED });
    const { code, result, stderr } = await verify(repository);
    const fields = ['verified', 'score', 'outcome', 'reason', 'tests', 'notes', 'command', 'commit', 'sandboxed', 'durationMs'];
    expect(Object.keys(result)).toEqual(expect.arrayContaining(fields));
    expect(result).toMatchObject({
      verified: true,
      score: 1,
      outcome: 'verified',
      command: 'node --test',
      sandboxed: true,
      commit: repository.git('rev-parse', 'HEAD').trim(),
    });
    expect(told(result)).toEqual(FAILED_THEN_PASSED);
    expect(stderr).toContain('Running the tests before the change');
    expect(code).toBe(0);
    expect(repository.git('status', '--porcelain')).toBe(' M src/add.js\n');
  });

  it('says the same to people: what came out and why, then the tests that are not as they were', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED, 'test/add.test.js': '' });
    const { code, stdout } = await run(['verify', '--workspace', repository.folder], { environment: { NO_COLOR: '1' } });
    const lines = stdout.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
    expect(lines[0]).toMatch(/^Verified ✓ 1 test that failed before passed/);
    expect(lines.slice(1, 6)).toEqual([
      'Tests node --test, in the sandbox',
      `With Node ${process.versions.node}`,
      'test/add.test.js > adds failed → passed',
      '1 other passed → passed',
      'Notes test/add.test.js was left as it is: Tests are the judge and stay as they are.',
    ]);
    expect(code).toBe(0);
  });

  it('says how the tests of the change itself judge, where they were left out and the others show nothing', async () => {
    const repository = project();
    repository.commit({ 'src/add.js': FIXED });
    repository.write({ 'src/add.js': `${FIXED}// A remark.\n`, 'test/add.test.js': '' });
    const { stdout, stderr } = await run(['verify', '--workspace', repository.folder], { environment: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^Passes/);
    expect(stderr).toContain('To judge with the tests of the change itself: --tests head');
  });

  it('says where the project is, in a folder of it without tests', async () => {
    const repository = project();
    repository.commit({ 'docs/deep/page.md': 'x\n' });
    const { code, stderr } = await run(['verify', '--workspace', path.join(repository.folder, 'docs/deep')]);
    expect(code).toBe(2);
    expect(stderr).toContain(`A folder above it has tests: --workspace ${repository.folder}`);
  });

  it('fails a wrong fix with 1', async () => {
    const repository = project();
    repository.write({ 'src/add.js': 'export const add = (a, b) => a * b;\n' });
    const { code, result } = await verify(repository);
    expect(result).toMatchObject({ verified: false, outcome: 'failed' });
    expect(told(result)[0]).toEqual({ id: 'test/add.test.js > adds', before: 'failed', after: 'failed' });
    expect(code).toBe(1);
  });

  it('leaves out what the change does to the tests, and judges the rest', async () => {
    const repository = project();
    const looser = TEST.replaceAll('5', '-1');
    repository.write({ 'src/add.js': 'export const add = (a, b) => a - b; // fine\n', 'test/add.test.js': looser });
    const { code, result } = await verify(repository);
    expect(result).toMatchObject({ verified: false, outcome: 'failed' });
    expect(result.notes).toEqual(['test/add.test.js was left as it is: Tests are the judge and stay as they are.']);
    expect(code).toBe(1);
    repository.write({ 'src/add.js': BROKEN });
    expect((await verify(repository)).result).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('edits only protected files') as string,
    });
  });

  it('is judged by its own tests with --tests head, and then passes at most: what they expect, add and remove counts', async () => {
    const repository = project({ ...PROJECT, 'src/add.js': FIXED, 'test/old.test.js': `import test from 'node:test';\ntest('old', () => {});\n` });
    const base = repository.git('rev-parse', 'HEAD').trim();
    const expectsMore = TEST.replace('5)', '6)').replace('7)', '8)');
    repository.commit({ 'src/add.js': 'export const add = (a, b) => a + b + 1;\n', 'test/add.test.js': expectsMore, 'test/old.test.js': null });
    const byBase = await verify(repository, ['--base', base]);
    expect([byBase.code, byBase.result.outcome]).toEqual([1, 'failed']);
    const byHead = await verify(repository, ['--base', base, '--tests', 'head']);
    expect([byHead.code, byHead.result.outcome, byHead.result.verified], byHead.result.reason).toEqual([0, 'passes', false]);
    expect(byHead.result.reason).toMatch(/^2 tests that failed before passed.*The change's own tests judged: it changes 2 files of them\.$/);
    expect(byHead.result.notes).toEqual([
      'The change changes test/add.test.js, and is judged by it so.', 'The change removes test/old.test.js, and is judged by it so.',
    ]);
    expect((await verify(repository, ['--base', base, '--tests', 'head', '--require-verified'])).code).toBe(1);
    repository.commit({ 'src/add.js': FIXED });
    const wrong = await verify(repository, ['--base', base, '--tests', 'head']);
    expect([wrong.code, wrong.result.outcome]).toEqual([1, 'failed']);
  });

  it('judges with --tests head a branch of tests alone, and one whose tests do not load without its code', async () => {
    const repository = project({ ...PROJECT, 'src/add.js': FIXED });
    const base = repository.git('rev-parse', 'HEAD').trim();
    const run = async () => (await verify(repository, ['--base', base, '--tests', 'head'])).result;
    repository.write({ 'test/more.test.js': TEST.replace('5)', '6)') });
    expect((await run()).outcome).toBe('failed');
    repository.write({ 'test/more.test.js': TEST });
    const alone = await run();
    expect([alone.outcome, alone.reason], alone.reason).toEqual(['passes', expect.stringMatching(/^No test failed before the change, and 4 tests pass with it\. .* it changes 1 file of them\.$/)]);
    repository.write({ 'src/twice.js': 'export const twice = (a) => 2 * a;\n', 'test/more.test.js': TEST.replaceAll('add.js', 'twice.js').replace('{ add }', '{ twice as add }').replace('5)', '4)').replace('7)', '14)') });
    expect((await run()).outcome).toBe('passes');
  });

  it('calls a change verified with --tests head that leaves the tests alone', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED });
    expect((await verify(repository, ['--tests', 'head'])).result).toMatchObject({ outcome: 'verified', notes: [] });
  });

  it('writes the tests of a change through no symbolic link of the base', async () => {
    const repository = project({ ...PROJECT, 'src/checks/keep.js': 'kept\n', spec: { link: 'src/checks' } });
    const diff = '--- a/src/add.js\n+++ b/src/add.js\n@@ -1 +1 @@\n-export const add = (a, b) => a - b;\n+export const add = (a, b) => a + b;\n'
      + '--- /dev/null\n+++ b/spec/new.test.js\n@@ -0,0 +1 @@\n+// new\n';
    const { code, result } = await verify(repository, ['--tests', 'head', '--patch', '-'], { input: diff });
    expect([code, result.outcome, result.reason]).toEqual([1, 'refused', expect.stringMatching(/spec\/new\.test\.js.*symbolic link/)]);
  });

  it('lets what is not committed choose neither the tests nor how they are run', async () => {
    const repository = project();
    repository.write({
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test fake.js' } }),
      'src/add.js': 'export const add = () => 0;\n',
    });
    const { result } = await verify(repository);
    expect(result).toMatchObject({ verified: false, outcome: 'failed', command: 'node --test' });
  });

  it('judges a diff from a file or from standard input against the last commit, whatever lies in the working tree', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED });
    const diff = repository.git('diff');
    await writeFile(path.join(places.folder, 'fix.diff'), diff);
    repository.write({ 'src/add.js': 'export const add = 1;\n', 'src/new.js': 'x' });
    const fromFile = await verify(repository, ['--patch', 'fix.diff']);
    expect([fromFile.result.outcome, fromFile.code]).toEqual(['verified', 0]);
    const fromInput = await verify(repository, ['--patch', '-'], { input: diff });
    expect([fromInput.result.outcome, fromInput.code]).toEqual(['verified', 0]);
  });

  it('has renamed and deleted files where they are', async () => {
    const repository = project({
      ...PROJECT,
      'src/add.js': null,
      'src/sum.js': FIXED,
      'junk.txt': 'junk',
      'test/junk.test.js': NO_JUNK,
    });
    repository.git('mv', 'src/sum.js', 'src/add.js');
    repository.git('rm', '--quiet', 'junk.txt');
    const { result } = await verify(repository);
    expect(result.outcome, result.reason).toBe('verified');
    const diff = repository.git('diff', 'HEAD');
    expect(diff).toContain('rename from');
    repository.git('reset', '--quiet', '--hard');
    expect((await verify(repository, ['--patch', '-'], { input: diff })).result.outcome).toBe('verified');
  });

  it('judges a part of a repository by itself', async () => {
    const inFolder = (folder: string, files: Readonly<Record<string, Contents>>) =>
      Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));
    const repository = project({ ...inFolder('packages/a', PROJECT), ...inFolder('packages/b', PROJECT) });
    repository.write({ 'packages/a/src/add.js': FIXED, 'packages/b/src/add.js': 'no' });
    const folder = path.join(repository.folder, 'packages/a');
    const uncommitted = await run(['verify', '--json', '-w', folder]);
    expect(JSON.parse(uncommitted.stdout)).toMatchObject({ outcome: 'verified', tests: FAILED_THEN_PASSED });
    const diff = repository.git('diff', '--', 'packages/a');
    expect(JSON.parse((await run(['verify', '--json', '-w', folder, '--patch', '-'], { input: diff })).stdout)).toMatchObject({
      outcome: 'verified',
    });
  });

  it('judges a change to several packages by the tests that it mends, and to one by those of the innermost', async () => {
    const inFolder = (folder: string, files: Readonly<Record<string, Contents>>) =>
      Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));
    const green = { ...PROJECT, 'src/add.js': FIXED };
    const repository = project({ ...inFolder('packages/a', green), ...inFolder('packages/b', green), ...inFolder('packages/b/inner', PROJECT) });
    repository.write({ 'packages/a/src/add.js': `${FIXED}// As in the others.\n`, 'packages/b/inner/src/add.js': FIXED });
    expect((await verify(repository)).result).toMatchObject({
      outcome: 'verified', command: 'cd packages/b/inner && node --test', notes: ['Besides the tests, "cd packages/a && node --test" passes with the change.'],
    });
    repository.write({ 'packages/a/src/add.js': FIXED });
    expect((await verify(repository)).result).toMatchObject({ outcome: 'verified', command: 'cd packages/b/inner && node --test', notes: [] });
  }, PATIENT_MS);

  it('judges by the tests of the changed package where the command runs those of all, which then counts by its exit code', async () => {
    const repository = project({
      'package.json': JSON.stringify({ workspaces: ['a', 'b'], scripts: { test: 'npm test --workspaces' } }),
      ...Object.fromEntries(['a', 'b'].flatMap((name) => Object.entries(PROJECT).map(([file, text]) => [`${name}/${file}`, file === 'src/add.js' && name === 'b' ? FIXED : text]))),
      'a/package.json': JSON.stringify({ name: 'a', type: 'module', scripts: { test: 'node --test' } }),
      'b/package.json': JSON.stringify({ name: 'b', type: 'module', scripts: { test: 'node --test' } }),
      'b/test/other.test.js': `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { add } from '../../a/src/add.js';\ntest('others', () => assert.equal(add(0, 0), 0));\n`,
    });
    repository.write({ 'a/src/add.js': FIXED });
    expect((await verify(repository, ['--command', 'npm test'])).result).toMatchObject({
      outcome: 'verified', command: 'cd a && node --test', notes: ['Besides the tests, "npm test" passes with the change.'],
    });
    // It was red before because of the tests of "a".
    repository.write({ 'a/src/add.js': 'export const add = (a, b) => a + b || 1;\n' });
    const { result } = await verify(repository, ['--command', 'npm test']);
    expect(result).toMatchObject({ outcome: 'failed', verified: false });
    expect(result.reason).toMatch(/^The tests passed, but "cd b && node --test" passed before the change and fails with it\./);
  }, PATIENT_MS);

  // With the real home folder, hidden as for a user: there this machine's Python may lie.
  it.skipIf(!python.isHere)(`judges a Python project (${python.note})`, async () => {
    const repository = project({
      'shop/__init__.py': '',
      'shop/price.py': 'def total(prices):\n    return sum(prices[1:])\n',
      'tests/__init__.py': '',
      'tests/test_price.py': PYTHON_TEST,
    });
    repository.write({ 'shop/price.py': 'def total(prices):\n    return sum(prices)\n' });
    const { code, result } = await verify(repository, ['--runner', 'unittest'], { environment: { HOME: homedir() } });
    expect(result.outcome, result.reason).toBe('verified');
    expect(result.tests.map(({ before, after }) => `${before} → ${after}`).toSorted()).toEqual([
      'failed → passed',
      'passed → passed',
    ]);
    expect(code).toBe(0);
  });

  it("reads the JUnit files that a command of the user's own writes", async () => {
    const judge = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const passes = readFileSync('src/add.js', 'utf8').includes('+');
mkdirSync('out', { recursive: true });
const failure = passes ? '' : '<failure message="no"/>';
writeFileSync('out/r.xml', \`<testsuite name="own"><testcase classname="own" name="adds">\${failure}</testcase></testsuite>\`);
process.exit(passes ? 0 : 1);
`;
    const repository = project({ ...PROJECT, 'test/judge.mjs': judge });
    repository.write({ 'src/add.js': FIXED });
    const { result } = await verify(repository, ['--command', 'node test/judge.mjs', '--reports', 'out/*.xml']);
    expect(result, result.reason).toMatchObject({ outcome: 'passes', command: 'node test/judge.mjs' });
    const taken = await verify(repository, ['--command', 'node test/judge.mjs']);
    expect(taken.result.reason).toMatch(/taken for node-test\. If it is not, name its runner, or "exit-code"\.$/);
    const without = await verify(repository, ['--command', 'node test/judge.mjs', '--runner', 'exit-code']);
    expect(without.result, without.result.reason).toMatchObject({ outcome: 'passes', reason: expect.stringContaining('exit code alone') as string });
    const missing = await verify(repository, ['--command', './judge.sh']);
    expect(missing.result).toMatchObject({ outcome: 'infrastructure', reason: expect.stringContaining('could not be started') as string });
    expect(missing.code).toBe(4);
  });

  it('asks for the named tests alone where tests are named', async () => {
    const repository = project({
      ...PROJECT,
      'test/other.test.js': `import test from 'node:test';\ntest('never', () => { throw new Error('never'); });\n`,
    });
    repository.write({ 'src/add.js': FIXED });
    expect((await verify(repository)).result.outcome).toBe('failed');
    expect((await verify(repository, ['--test', 'test/add.test.js > adds'])).result.outcome).toBe('verified');
  });

  it('passes at most where the tests that failed before are left out, and says how many these are', async () => {
    const repository = project({ ...PROJECT, 'src/more.js': 'export const more = 1;\n' });
    repository.write({ 'src/more.js': 'export const more = 2;\n' });
    expect((await verify(repository, ['--failed-before', 'must-pass'])).result.outcome).toBe('failed');
    const { code, result } = await verify(repository, ['--failed-before', 'leave-out']);
    expect(code).toBe(0);
    expect(result).toMatchObject({ outcome: 'passes', reason: expect.stringContaining('1 test failed before and was left out.') as string });
  });

  it('learns nothing where the tests of the last commit do not end in time, and ends with 4', async () => {
    const repository = project({
      ...PROJECT,
      'test/add.test.js': WAITS,
    });
    repository.write({ 'src/add.js': FIXED });
    const { code, result } = await verify(repository, ['--timeout', '3']);
    expect(result).toMatchObject({
      verified: false,
      score: 0,
      outcome: 'infrastructure',
      reason: expect.stringContaining('within 3 s') as string,
    });
    expect(code).toBe(4);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind when %s ends it in the middle', async (signal) => {
    const marker = `verify-command-test-${signal}-${process.pid}`;
    const repository = project({
      ...PROJECT,
      'test/add.test.js': `${sleepingAs(marker)}${WAITS}`,
    });
    repository.write({ 'src/add.js': FIXED });
    const { child, result } = start(['verify', '--json', '--workspace', repository.folder]);
    await expect.poll(() => processesWith(marker), { timeout: 60_000 }).not.toEqual([]);
    child.kill(signal);
    const { code, stdout, stderr } = await result;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toContain('Cancelling');
    expect(await readdir(path.join(places.home, 'verify'))).toEqual([]);
    await expect.poll(() => processesWith(marker)).toEqual([]);
  });

  it("asks the workspace's own repository, also when it is run by a hook of another", async () => {
    const repository = project();
    const other = project();
    repository.write({ 'src/add.js': FIXED });
    const environment = {
      GIT_DIR: path.join(other.folder, '.git'),
      GIT_INDEX_FILE: path.join(other.folder, '.git/index'),
      GIT_WORK_TREE: other.folder,
    };
    expect((await verify(repository, [], { environment })).result.outcome).toBe('verified');
    expect(other.git('status', '--porcelain')).toBe('');
  });

  it('prints nothing that could command a terminal', async () => {
    const repository = project({ ...PROJECT, 'test/add.test.js': TEST.replace("'adds'", "'adds \\u001b[31m red'") });
    repository.write({ 'src/add.js': FIXED, 'test/\u001b[32m.bin': Buffer.from([0]) });
    const { stdout } = await run(['verify', '--workspace', repository.folder], { environment: { NO_COLOR: '1' } });
    expect(stdout).toContain('adds [31m red');
    expect(stdout).toContain('test/[32m.bin was left as it is');
    expect(stdout).not.toContain('\u001b');
    expect((await verify(repository)).result.tests[0]?.id).toContain('\u001b');
  });
});

describe('conductor verify refuses, and runs nothing', { timeout: PATIENT_MS }, () => {
  async function refusal(repository: GitRepository, args: readonly string[] = [], options?: StartOptions): Promise<VerifyResult> {
    const { code, result, stderr } = await verify(repository, args, options);
    expect(stderr).not.toContain('Running');
    expect(code).toBe(1);
    expect(result).toMatchObject({ verified: false, score: 0, outcome: 'refused', tests: [] });
    return result;
  }

  it('where nothing has changed, and says how commits are judged', async () => {
    const { stderr } = await run(['verify', '--workspace', project().folder]);
    expect(stderr).toContain('To judge commits, name where they began: --base main');
    expect((await refusal(project())).reason).toBe('There is no uncommitted change to judge.');
    expect((await refusal(project(), ['--patch', '-'], { input: '\n' })).reason).toBe('The diff has no change to judge.');
  });

  it('a diff that does not apply', async () => {
    const diff = '--- a/src/add.js\n+++ b/src/add.js\n@@ -1 +1 @@\n-something else\n+x\n';
    expect((await refusal(project(), ['--patch', '-'], { input: diff })).reason).toBe(
      'The change cannot be judged: src/add.js: The diff does not fit the file as it is at HEAD.',
    );
  });

  it('a diff that reaches out of the workspace', async () => {
    const diff = '--- a/../x.js\n+++ b/../x.js\n@@ -1 +1 @@\n-x\n+y\n';
    expect((await refusal(project(), ['--patch', '-'], { input: diff })).reason).toContain('leads out of its folder');
  });

  it('a change that no text can say', async () => {
    const repository = project();
    repository.write({ 'logo.png': Buffer.from([0, 1]), 'src/add.js': FIXED });
    expect((await refusal(repository)).reason).toMatch(
      /^The change cannot be judged: logo\.png: The file is not text\. Commit it/,
    );
  });
});

describe('conductor verify says what is wrong, with 2', { timeout: PATIENT_MS }, () => {
  async function mistake(args: readonly string[], options?: StartOptions): Promise<string> {
    const { code, stdout, stderr } = await run(['verify', ...args], options);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toMatch(NO_STACK);
    return stderr;
  }

  it('where there is nothing to judge against', async () => {
    await mkdir(path.join(places.folder, 'plain'));
    expect(await mistake(['--workspace', 'plain', '--json'])).toContain('is not in a Git repository');
    const unborn = new GitRepository(path.join(places.folder, 'unborn'));
    expect(await mistake(['--workspace', unborn.folder])).toContain('has no commit yet');
    expect(await mistake(['--workspace', 'nowhere'])).toContain(`There is no folder ${path.join(places.folder, 'nowhere')}.`);
  });

  it('where no test command is found or readable', async () => {
    const repository = project({ 'readme.md': 'hello\n' });
    repository.write({ 'readme.md': 'hi\n' });
    expect(await mistake(['--workspace', repository.folder])).toContain('name the one that runs the tests with --command');
    const made = project({ Makefile: 'test:\n\t./run\n', 'readme.md': 'hello\n' });
    made.write({ 'readme.md': 'hi\n' });
    expect(await mistake(['--workspace', made.folder])).toMatch(/Scripts and files of vitest, .* were looked for\. The tests may be run by "make test" \(Makefile\)/);
    expect(await mistake(['--workspace', project().folder, '--runner', 'pytest'])).toContain(
      'No test command of pytest was found',
    );
    expect(await readdir(path.join(places.home, 'verify'))).toEqual([]);
  });

  it.each([
    ['a word that is no option', ['fix.diff'], /takes options only: --patch FILE\.diff \(left over: fix\.diff\)/],
    ['a runner that is none', ['--runner', 'karma'], /There is no runner "karma"; there are vitest, /],
    ['reports of no command', ['--reports', '*.xml'], /--reports goes with --command/],
    ['an empty command', ['--command', ' '], /--command takes a command/],
    ['tests that failed before', ['--failed-before', 'mine'], /--failed-before takes leave-out or must-pass/],
    ['tests of nobody', ['--tests', 'mine'], /--tests takes base or head/],
    ['a time that is none', ['--timeout', '0'], /--timeout takes a whole number from 1/],
    ['a diff that is not there', ['--patch', 'gone.diff'], /gone\.diff could not be read \(ENOENT\)/],
    ['an unknown option', ['--force'], /--force/],
  ])('%s', async (_name, args, says) => {
    expect(await mistake(args)).toMatch(says);
  });

  it('a diff that is no text', async () => {
    expect(await mistake(['--patch', '-'], { input: Buffer.from([0x63, 0xe9, 0x0a]) })).toContain(
      'Standard input is not text in UTF-8',
    );
  });
});

describe('conductor verify --list', { timeout: PATIENT_MS }, () => {
  it('writes its result to a file, too, and why there is none', async () => {
    const untested = project({ 'README.md': 'Nothing here runs.\n' });
    untested.write({ 'README.md': 'Nothing at all.\n' });
    const file = path.join(places.folder, 'verdict.json');
    const { code, stderr } = await run(['verify', '--workspace', untested.folder, '--out', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('No test command was found');
    const written = verifiedChangeSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    expect(written).toMatchObject({ outcome: 'infrastructure', command: null, commit: null, reason: expect.stringContaining('No test command was found') });
    const unchanged = project();
    expect((await run(['verify', '--workspace', unchanged.folder, '--json', '--out', file])).stdout).toBe(await readFile(file, 'utf8'));
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ outcome: 'refused', command: 'node --test' });
  });

  it('shows the test commands that are found, the likeliest first, and needs no repository', async () => {
    const folder = path.join(places.folder, 'listed');
    await mkdir(path.join(folder, 'test'), { recursive: true });
    for (const file of ['package.json', 'test/add.test.js']) await writeFile(path.join(folder, file), PROJECT[file] as string);
    const shown = await run(['verify', '--list', '--workspace', folder]);
    expect(shown.stdout).toMatch(/^node --test {2}node-test\n/);
    const { code, stdout } = await run(['verify', '--list', '--json', '--workspace', folder]);
    expect(JSON.parse(stdout)).toContainEqual({ command: 'node --test', runner: 'node-test', folder: '' });
    expect(code).toBe(0);
  });
});

describe('conductor verify on a machine without a sandbox', { timeout: PATIENT_MS }, () => {
  /** A PATH with Git and Node, and nothing of what a sandbox needs. */
  async function bareMachine(): Promise<StartOptions> {
    const programs = path.join(places.folder, 'programs');
    await mkdir(programs, { recursive: true });
    for (const program of ['git', 'sh', 'env'])
      await symlink(execFileSync('which', [program], { encoding: 'utf8' }).trim(), path.join(programs, program)).catch(() => {});
    await writeFile(path.join(programs, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
    await chmod(path.join(programs, 'node'), 0o755);
    return { environment: { PATH: programs, CONDUCTOR_WALLS: 'bubblewrap' } };
  }

  it('learns nothing, says what to install, and ends with 4', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED });
    const { code, result } = await verify(repository, [], await bareMachine());
    expect(result).toMatchObject({
      verified: false,
      outcome: 'infrastructure',
      reason: expect.stringContaining('apt-get install bubblewrap') as string,
    });
    expect(code).toBe(4);
  });

  it('runs the tests without one only where that is asked for, and says so', async () => {
    const repository = project();
    repository.write({ 'src/add.js': FIXED });
    const { code, result } = await verify(repository, ['--no-sandbox'], await bareMachine());
    expect(result, result.reason).toMatchObject({ verified: true, outcome: 'verified', sandboxed: false });
    expect(code).toBe(0);
    const { stdout } = await run(['verify', '--no-sandbox', '--workspace', repository.folder], await bareMachine());
    expect(stdout).toContain('(without a sandbox)');
  });

  it('learns nothing without Git, and says so', async () => {
    const { code, stdout } = await run(['verify', '--json', '--workspace', project().folder], {
      environment: { PATH: '/nowhere' },
    });
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'infrastructure', reason: 'Git is not installed, or not on the PATH.' });
    expect(code).toBe(4);
  });
});

it('conductor verify --help says what its exit codes mean', async () => {
  const { code, stdout } = await run(['verify', '--help']);
  expect(stdout).toContain('0 verified or passes, 1 failed or refused, 2 wrong usage, 4 not verifiable');
  const documented = await readFile(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  for (const [, option] of stdout.matchAll(/^ +(?:-\w, )?(--[\w-]+)/gm)) expect(documented).toContain(`\`${option}`);
  expect(code).toBe(0);
});
