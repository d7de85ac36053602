import { chmod, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { SandboxUnavailableError, type SandboxedCommand } from '../../backend/verify/sandbox/sandbox.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Patch } from '../../backend/verify/patch/patch.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import type { VerifyOptions } from '../../backend/verify/verify-options.ts';
import { makeScratch, processesWith, trySandbox, PATIENTLY, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();

/** A small library with one bug (an off-by-one in \`last\`), a test that shows it, and tests that pass. */
const PROJECT = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }),
  'src/list.js': 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length];\n',
  'test/list.test.js': `
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { first, last } from '../src/list.js';
describe('list', () => {
  it('finds the first', () => assert.equal(first([1, 2, 3]), 1));
  it('finds the last', () => assert.equal(last([1, 2, 3]), 3));
  it('finds nothing in nothing', () => assert.equal(first([]), undefined));
});
`,
};
const FIX = 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length - 1];\n';

const block = (file: string, content: string): string => `**${file}**\n\`\`\`js\n${content}\n\`\`\`\n`;

async function judge(scratch: Scratch, answer: string, files: Parameters<Scratch['project']>[0] = PROJECT, newTests?: 'alone' | 'beside'): Promise<Verdict> {
  const base = await scratch.project(files);
  const patch = await parsePatch(answer, base, { newTests: newTests !== undefined });
  return await scratch.verifier.verify({
    base,
    patch,
    newTests,
    command: 'node --test',
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  });
}

/** A file of tests with one for each value that `first` is to find. */
const newTests = (...expected: number[]): string => block('test/more.test.js', [
  'import assert from \'node:assert/strict\';', 'import { it } from \'node:test\';', 'import { first } from \'../src/list.js\';',
  ...expected.map((value, index) => `it('finds ${value} in list ${index}', () => assert.equal(first([7]), ${value}));`),
].join('\n'));

const statuses = (verdict: Verdict): Record<string, string> =>
  Object.fromEntries(verdict.tests.map(({ id, before, after }) => [id.split(' > ').at(-1), `${before} → ${after}`]));

/** Two red tests: the bug, and one that no change can mend here. */
const WITH_OTHER_RED = { ...PROJECT, 'test/zone.test.js': "import { it } from 'node:test';\nit('needs another machine', () => { throw new Error('not this one'); });\n" };

describe.skipIf(!available)(`tests that failed before and are left out (${note})`, { timeout: 120_000 }, () => {
  const judged = async (answer: string, how: Pick<VerifyOptions, 'leaveOut' | 'targets'>): Promise<Verdict> => {
    await using scratch = await makeScratch();
    const base = await scratch.project(WITH_OTHER_RED);
    return await scratch.verifier.verify({ base, patch: await parsePatch(answer, base), command: 'node --test', nothingFailed: 'run', signal: new AbortController().signal, timeoutMs: 60_000, ...how });
  };
  const zone = 'test/zone.test.js > needs another machine';

  it('by name: the others verify a change, with their control', async () => {
    const verdict = await judged(block('src/list.js', FIX), { leaveOut: [zone] });
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified', reason: '1 test that failed before passed, and 2 tests that passed still did. 1 test failed before and was left out.' });
    expect(verdict.tests).toContainEqual(expect.objectContaining({ id: zone, before: 'failed', after: 'failed', leftOut: true }));
    const cheat = 'export const first = (list) => list[0];\nexport const last = () => new Proxy({}, { get: () => 3 });\n';
    expect(await judged(block('src/list.js', cheat), { leaveOut: [zone] })).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('all: a change passes at most, and fails if it breaks a test', async () => {
    expect(await judged(block('src/list.js', FIX), { leaveOut: 'failed before' })).toMatchObject({
      verified: false, outcome: 'passes', score: 0,
      reason: 'No other test failed before the change, and 2 tests pass with it. It is not shown that they would notice a wrong change. 2 tests failed before and were left out.',
    });
    expect(await judged(block('src/list.js', FIX.replace('list[0]', 'list[1]')), { leaveOut: 'failed before' }))
      .toMatchObject({ outcome: 'failed', reason: 'No other test failed before the change, and 1 test does not pass with it. 2 tests failed before and were left out.' });
  });

  it('but for one that must pass: that one verifies', async () => {
    const verdict = await judged(block('src/list.js', FIX), { leaveOut: 'failed before', targets: ['test/list.test.js > list > finds the last'] });
    expect(verdict).toMatchObject({ verified: true, reason: expect.stringMatching(/^1 named test passed, .* 1 test failed before and was left out\.$/) as string });
  });
});

describe.skipIf(!available)(`new tests that were asked for (${note})`, { timeout: 120_000 }, () => {
  it('are tried on the code as it is and never verified, whatever else is red', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, newTests(7, 7), PROJECT, 'alone');
    expect(verdict).toMatchObject({ verified: false, outcome: 'passes', score: 0, reason: 'All 2 new tests pass on the code as it is. Whether they notice a fault was not tried.' });
    expect(statuses(verdict)).toMatchObject({ 'finds 7 in list 1': 'missing → passed', 'finds the last': 'failed → failed' });
  });

  it('are said to be wrong, or to have found a fault, where they fail', async () => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, newTests(7, 8), PROJECT, 'alone'))
      .toMatchObject({ verified: false, outcome: 'failed', reason: 'Of 2 new tests, 1 fails on the code as it is: a new test is wrong, or it found a fault.' });
  });

  it('verify no change that comes with them where nothing else was asked for', async () => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, block('src/list.js', FIX) + newTests(7), PROJECT, 'alone'))
      .toMatchObject({ verified: false, outcome: 'passes', reason: expect.stringContaining('with the changes of the answer') as string });
  });

  it('may be the first of a project, and are told from a file that the command does not run', async () => {
    await using scratch = await makeScratch();
    const { 'test/list.test.js': _none, ...untested } = PROJECT;
    expect(await judge(scratch, newTests(7), untested, 'alone')).toMatchObject({ outcome: 'passes', reason: expect.stringMatching(/^The new test passes/) as string });
    expect(await judge(scratch, block('test/fixtures/data.js', 'export const data = [];'), PROJECT, 'alone')).toMatchObject({ outcome: 'failed', reason: 'The test command runs none of the new tests.' });
  });

  it('are refused where no tests were asked for', async () => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, newTests(7))).toMatchObject({ verified: false, outcome: 'refused' });
  });
});

describe.skipIf(!available)(`new tests beside a change (${note})`, { timeout: 120_000 }, () => {
  /** Tests of `last`, which is wrong before the change. */
  const testsOfLast = (...expected: number[]): string => newTests(...expected).replaceAll('first', 'last').replace('finds 7', 'finds the last 7');

  it('take nothing from a change that the tests of the project verify, and it is said whether they notice the fault', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, block('src/list.js', FIX) + testsOfLast(7), PROJECT, 'beside');
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified', score: 1 });
    expect(verdict.notes).toContain('The new test passes with the change. Without it, it fails.');
    expect(statuses(verdict)).toMatchObject({ 'finds the last 7 in list 0': 'missing → passed', 'finds the last': 'failed → passed' });
    const green = await judge(scratch, block('src/list.js', FIX) + newTests(7, 7), PROJECT, 'beside');
    expect(green).toMatchObject({ verified: true });
    expect(green.notes).toContain('All 2 new tests pass with the change. Without it, all of them pass, too.');
  });

  it('spoil the change where one of them fails, and save none that the tests of the project refute', async () => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, block('src/list.js', FIX) + testsOfLast(7, 8), PROJECT, 'beside'))
      .toMatchObject({ verified: false, outcome: 'failed', score: 0, reason: 'Of 2 new tests, 1 fails with the change: a new test is wrong, or it found a fault.' });
    expect(await judge(scratch, block('src/list.js', FIX.replace('length - 1', 'length - 2')) + newTests(7), PROJECT, 'beside'))
      .toMatchObject({ verified: false, outcome: 'failed', reason: expect.stringMatching(/still did not pass\.$/) as string });
  });

  it('help no change that cheats: it is judged in runs without them', async () => {
    await using scratch = await makeScratch();
    const cheat = 'export const first = (list) => list[0];\nexport const last = () => new Proxy({}, { get: () => 3 });\n';
    expect(await judge(scratch, block('src/list.js', cheat) + newTests(7), PROJECT, 'beside')).toMatchObject({ verified: false });
    const byTests = 'export const first = (list) => list[0];\nexport const last = (list) => (globalThis.isNew ? list[0] : list[list.length - 2]);\n';
    expect(await judge(scratch, block('src/list.js', byTests) + block('test/a.test.js', 'globalThis.isNew = true;'), PROJECT, 'beside')).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('pass at most where no test failed before', async () => {
    await using scratch = await makeScratch();
    const green = { ...PROJECT, 'src/list.js': FIX };
    const verdict = await judge(scratch, block('src/more.js', 'export const second = (list) => list[1];') + newTests(7).replaceAll('first', 'second').replaceAll('list.js', 'more.js').replaceAll('[7]', '[1, 7]'), green, 'beside');
    expect(verdict).toMatchObject({ verified: false, outcome: 'passes', reason: expect.stringMatching(/^No test failed before the change, and 3 tests pass with it\./) as string });
    expect(verdict.notes).toContain('The new test passes with the change. Without it, it fails.');
  });

  it('are left out where nobody asked for them, and the change is judged', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, block('src/list.js', FIX) + testsOfLast(8));
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified' });
  });
});

describe.skipIf(!available)(`a verdict (${note})`, { timeout: 120_000 }, () => {
  it('verifies an honest fix and tells mended tests from kept ones', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, block('src/list.js', FIX));
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified', score: 1, sandboxed: true, command: 'node --test' });
    expect(verdict.tests.map(({ id }) => id)).toContain('test/list.test.js > list > finds the last');
    expect(statuses(verdict)).toEqual({
      'finds the first': 'passed → passed',
      'finds the last': 'failed → passed',
      'finds nothing in nothing': 'passed → passed',
    });
    await scratch.copies.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });

  it('fails a wrong fix, with what the tests said and a graded score', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(
      scratch,
      block('src/list.js', FIX.replace('list[0]', 'list[1]').replace('length - 1', 'length - 2')),
    );
    expect(verdict).toMatchObject({
      verified: false,
      outcome: 'failed',
      score: 0,
      reason: expect.stringMatching(/failed before/),
    });
    expect(verdict.tests.find(({ id }) => id.endsWith('the last'))?.message).toMatch(/2 !== 3/);
    expect(statuses(verdict)['finds the first']).toBe('passed → failed');
  });

  it('grades a fix that mends some tests and breaks none', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PROJECT,
      'test/more.test.js': `import test from 'node:test';\ntest('open', () => { throw new Error('still open'); });\n`,
    };
    expect(await judge(scratch, block('src/list.js', FIX), files)).toMatchObject({
      verified: false,
      outcome: 'failed',
      score: 0.5,
    });
  });

  it('verifies a fix that makes a test file load at all', async () => {
    await using scratch = await makeScratch();
    const files = { ...PROJECT, 'src/list.js': 'export const first = (list) => list[0];\n' };
    const verdict = await judge(scratch, block('src/list.js', FIX), files);
    expect(verdict).toMatchObject({ verified: true, score: 1 });
    expect(statuses(verdict)['finds the last']).toBe('missing → passed');
  });

  it('proves nothing where no test failed before', async () => {
    await using scratch = await makeScratch();
    const files = { ...PROJECT, 'src/list.js': FIX };
    const verdict = await judge(scratch, block('src/list.js', `${FIX}// more\n`), files);
    expect(verdict).toMatchObject({
      verified: false,
      outcome: 'refused',
      reason: 'Nothing to prove: no test failed before the change.',
    });
  });

  it('calls nothing verified whose tests may not notice a wrong answer', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PROJECT,
      'src/list.js': 'export const last = (list) => list.missing.length;\n',
      'test/list.test.js': `import test from 'node:test';\nimport { last } from '../src/list.js';\ntest('runs', () => void last([1]));\n`,
    };
    const verdict = await judge(scratch, block('src/list.js', 'export const last = (list) => list[7];\n'), files);
    expect(verdict).toMatchObject({ verified: false, outcome: 'passes', score: 1 });
    expect(verdict.reason).toContain('It is not shown that these tests would notice a wrong answer: no test that was fixed has an expected value');
  });

  it('does not trust a change that ends the whole run once expected values are altered', async () => {
    await using scratch = await makeScratch();
    const cheat = `import { readFileSync } from 'node:fs';
const judge = readFileSync(new URL('../test/list.test.js', import.meta.url), 'utf8');
if (judge !== ${JSON.stringify(PROJECT['test/list.test.js'])}) process.kill(process.ppid, 'SIGKILL');
${FIX}`;
    const verdict = await judge(scratch, block('src/list.js', cheat));
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0 });
    expect(verdict.reason).toMatch(/cannot be trusted with this change: when what they expect is altered, the run itself fails/);
  });

  it('leaves the workspace as it is', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PROJECT,
      'src/trace.js': `import { writeFileSync } from 'node:fs';\nwriteFileSync('src/list.js', 'overwritten');\n`,
    };
    await judge(scratch, block('src/list.js', `import './trace.js';\n${FIX}`), files);
    expect(await readFile(path.join(scratch.folder, 'project/src/list.js'), 'utf8')).toBe(PROJECT['src/list.js']);
  });

  it('finds dependencies that are installed, and a package of the workspace as patched', async () => {
    await using scratch = await makeScratch();
    const files = {
      'package.json': PROJECT['package.json'],
      'node_modules/dep/package.json': '{"name":"dep","type":"module","exports":"./index.js"}',
      'node_modules/dep/index.js': 'export const three = 3;\n',
      'node_modules/@own/list': { link: '../../packages/list' },
      'packages/list/package.json': '{"name":"@own/list","type":"module","exports":"./list.js"}',
      'packages/list/list.js': PROJECT['src/list.js'],
      'test/list.test.js': PROJECT['test/list.test.js']
        .replace('../src/list.js', '@own/list')
        .replace('3);', `three);`)
        .replace('import {', `import { three } from 'dep';\nimport {`),
    };
    expect(await judge(scratch, block('packages/list/list.js', FIX), files)).toMatchObject({ verified: true });
  });

  it('runs the tests before the change once for several patches', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const stages: string[] = [];
    for (const content of [FIX, FIX.replace('- 1', '- 2')]) {
      const patch = await parsePatch(block('src/list.js', content), base);
      const onProgress = (stage: string): number => stages.push(stage);
      await scratch.verifier.verify({ base, patch, command: 'node --test', signal: new AbortController().signal, onProgress });
    }
    expect(stages.filter((stage) => stage.endsWith('before the change'))).toHaveLength(1);
    expect(stages.filter((stage) => stage.endsWith('with the change'))).toHaveLength(2);
  });

  it('reads the same from the command of a package manager and with a reporter of the project', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(block('src/list.js', FIX), base);
    for (const command of ['npm test', 'node --test --test-reporter=spec', 'node --test --test-reporter dot test/list.test.js']) {
      const verdict = await scratch.verifier.verify({ base, patch, command, signal: new AbortController().signal });
      expect({ command, verified: verdict.verified, tests: verdict.tests.length }).toEqual({ command, verified: true, tests: 3 });
    }
  });

  it('finds the programs that the project has installed', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...PROJECT, 'node_modules/.bin/wrapper': '#!/bin/sh\nexec "$@"\n' });
    await chmod(path.join(base, 'node_modules/.bin/wrapper'), 0o755);
    const patch = await parsePatch(block('src/list.js', FIX), base);
    const { signal } = new AbortController();
    expect(await scratch.verifier.verify({ base, patch, command: 'wrapper node --test', signal })).toMatchObject({
      verified: true,
    });
  });

  it('is none of a patch when the tests cannot be run before it', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(block('src/list.js', FIX), base);
    const verify = (command: string, timeoutMs = 60_000): Promise<Verdict> =>
      scratch.verifier.verify({ base, patch, command, signal: new AbortController().signal, timeoutMs });
    expect(await verify('node --test nothing-here')).toMatchObject({ outcome: 'infrastructure', verified: false, score: 0 });
    expect(await verify('node --version')).toMatchObject({
      outcome: 'infrastructure',
      reason: expect.stringMatching(/no report/),
    });
    expect(await verify('wrapper-that-is-missing node --test')).toMatchObject({
      outcome: 'infrastructure',
      reason: expect.stringMatching(/not found\. Install wrapper-that-is-missing and what the project needs/),
    });
    expect(await verify('node -e "setInterval(() => {}, 1000)"', 500)).toMatchObject({
      outcome: 'infrastructure',
      reason: expect.stringMatching(/did not end/),
    });
    await scratch.copies.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });

  it('is one of a patch whose own tests judge it when they cannot be run without it, and it passes at most', async () => {
    await using scratch = await makeScratch();
    const before = `process.kill(process.ppid, 'SIGKILL');\n${FIX}`;
    const base = await scratch.project({ ...PROJECT, 'src/list.js': before });
    const verify = (code: string, ownTests?: readonly string[]): Promise<Verdict> => scratch.verifier.verify({
      base, patch: { edits: [{ path: 'src/list.js', kind: 'modify', before, after: code }], refused: [] }, command: 'node --test', nothingFailed: 'run',
      ...(ownTests && { ownTests }), signal: new AbortController().signal, timeoutMs: 60_000,
    });
    expect((await verify(FIX)).outcome).toBe('infrastructure');
    const passes = await verify(FIX, ['test/list.test.js']);
    expect(passes).toMatchObject({ outcome: 'passes', verified: false, reason: expect.stringMatching(/^The tests could not be run before the change, and 3 tests pass with it\..*changes 1 file of them\.$/) });
    expect(passes.notes).toEqual([expect.stringMatching(/^The tests could not be run before the change: /)]);
    expect((await verify(PROJECT['src/list.js'], ['test/list.test.js'])).outcome).toBe('failed');
  });

  it('ends in an AbortError when cancelled, with no process and no folder left', async () => {
    await using scratch = await makeScratch();
    const seconds = `9${process.pid}.${Math.random().toString().slice(2, 10)}`;
    const hanging = `import { spawn } from 'node:child_process';\nimport test from 'node:test';\ntest('hangs', () => new Promise(() => spawn('sleep', ['${seconds}'])));\n`;
    const base = await scratch.project({ ...PROJECT, 'test/hang.test.js': hanging });
    const patch = await parsePatch(block('src/list.js', FIX), base);
    const controller = new AbortController();
    const running = scratch.verifier.verify({ base, patch, command: 'node --test', signal: controller.signal });
    running.catch(() => undefined);
    // Base is run twice at once.
    await expect.poll(async () => (await processesWith(`sleep\0${seconds}`)).length, PATIENTLY).toBe(2);
    controller.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await scratch.copies.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
    await expect.poll(() => processesWith(seconds), PATIENTLY).toEqual([]);
  });

  it('is the same for several at once', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const verdicts = await Promise.all(
      [FIX, FIX.replace('- 1', '- 2'), FIX, 'export const first = 1;\n'].map(async (content) => {
        const patch = await parsePatch(block('src/list.js', content), base);
        return await scratch.verifier.verify({ base, patch, command: 'node --test', signal: new AbortController().signal });
      }),
    );
    expect(verdicts.map(({ verified }) => verified)).toEqual([true, false, true, false]);
    await scratch.copies.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });
});

describe.skipIf(!available)(`a patch that leaves the bug in is not verified (${note})`, { timeout: 120_000 }, () => {
  const BUG = PROJECT['src/list.js'];
  const ID = 'test/list.test.js > list > finds the last';
  const line = (type: string, nesting: number, name: string): string =>
    JSON.stringify({ type, file: ID.split(' > ')[0], name, nesting, suite: nesting === 0, skipped: false });
  const rows: [name: string, source: string, after: string | undefined][] = [
    ['process.exit(0) at import', `process.exit(0);\n${BUG}`, 'failed → missing'],
    ['process.exit(0) behind the first tests', `${BUG}\nexport { };\nsetImmediate(() => process.exit(0));\n`, undefined],
    [
      'an exit status that is rewritten',
      `process.on('exit', () => { process.exitCode = 0; process.reallyExit?.(0); });\n${BUG}`,
      undefined,
    ],
    ['forged results on stdout', `console.log('TAP version 13\\nok 1 - list\\n# pass 3\\n# fail 0');\n${BUG}`, 'failed → failed'],
    [
      'forged lines of the reporter on stdout',
      `console.log(${JSON.stringify(`${line('test:start', 0, 'list')}\n${line('test:pass', 1, 'finds the last')}\n{"type":"end"}`)});\n${BUG}`,
      'failed → failed',
    ],
    [
      'a report written in the place of the real one',
      `import { readdirSync, writeFileSync } from 'node:fs';
const options = String(process.env.NODE_OPTIONS) + process.execArgv.join(' ');
for (const file of options.match(/[^"= ]+\\.jsonl/g) ?? []) writeFileSync(file, ${JSON.stringify(`${line('test:pass', 0, 'x')}\n{"type":"end"}\n`)});
for (const folder of ['../report', process.env.TMPDIR + '/../report']) for (const file of readdirSync(folder)) writeFileSync(folder + '/' + file, 'x');
${BUG}`,
      undefined,
    ],
    ['a file that does not load', `import './missing.js';\n${BUG}`, undefined],
  ];
  it.each(rows)('%s', async (_, source, after) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(block('src/list.js', source), base);
    expect(patch.edits).toHaveLength(1);
    const verdict = await scratch.verifier.verify({
      base,
      patch,
      command: 'node --test',
      signal: new AbortController().signal,
    });
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0 });
    if (after !== undefined) expect(statuses(verdict)['finds the last']).toBe(after);
  });

  it('an endless loop', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const judged = async (source: string, timeoutMs: number): Promise<Verdict> => {
      const patch = await parsePatch(block('src/list.js', source), base);
      const { signal } = new AbortController();
      return await scratch.verifier.verify({ base, patch, command: 'node --test', signal, timeoutMs });
    };
    // The first one also runs the tests before the change, so that the short limit holds for the loop alone.
    await judged(FIX, 60_000);
    const verdict = await judged(`while (true);\n${BUG}`, 1_000);
    expect(verdict).toMatchObject({
      verified: false,
      outcome: 'failed',
      score: 0,
      reason: 'With the change, the tests did not end within 1 s.',
    });
    expect(statuses(verdict)['finds the last']).toBe('failed → missing');
  });

  it('tests that are endless before the change, which is said with what to do', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ ...PROJECT, 'src/list.js': `while (true);\n${BUG}` });
    const patch = await parsePatch(block('src/list.js', FIX), base);
    const { signal } = new AbortController();
    const verdict = await scratch.verifier.verify({ base, patch, command: 'node --test', signal, timeoutMs: 1_000 });
    expect(verdict).toMatchObject({
      outcome: 'infrastructure',
      reason: 'The tests could not be run before the change: The tests did not end within 1 s. Name a command that runs fewer of them, or allow a run more time.',
    });
  });

  it('a target that is skipped', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PROJECT,
      'src/list.js': `export const supported = true;\n${BUG}`,
      'test/list.test.js': PROJECT['test/list.test.js']
        .replace("it('finds the last', ", "it('finds the last', { skip: !supported }, ")
        .replace('{ first,', '{ supported, first,'),
    };
    const verdict = await judge(scratch, block('src/list.js', `export const supported = false;\n${BUG}`), files);
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0 });
    expect(statuses(verdict)['finds the last']).toBe('failed → skipped');
  });

  it.each([
    ['an edited test', block('test/list.test.js', 'x'), /judge/],
    ['a test that is replaced by a link', block('linked/list.test.js', 'x'), /./],
    ['a changed test script', `\`\`\`json package.json\n{"scripts":{"test":"true"}}\n\`\`\`\n`, /how the tests are run/],
    ['no change at all', 'You are holding it wrong.', /changes no file/],
  ])('%s is refused', async (_, answer, reason) => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, answer, { ...PROJECT, linked: { link: 'test' } });
    expect(verdict).toMatchObject({
      verified: false,
      outcome: 'refused',
      score: 0,
      tests: [],
      reason: expect.stringMatching(reason),
    });
  });

  it('a patch whose paths nobody has checked is refused', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    for (const file of ['../../outside.js', 'test/new.test.js', '/tmp/outside.js']) {
      const patch = { edits: [{ path: file, kind: 'create', before: null, after: 'x' }], refused: [] } as const;
      const verdict = await scratch.verifier.verify({
        base,
        patch,
        command: 'node --test',
        signal: new AbortController().signal,
      });
      expect(verdict).toMatchObject({ verified: false, outcome: 'refused' });
    }
  });

  it('a background process that rewrites the report when the runner has ended', async () => {
    await using scratch = await makeScratch();
    const forger = `setInterval(() => { const fs = require('node:fs');
      for (const file of fs.readdirSync('../report')) fs.writeFileSync('../report/' + file, '{"type":"end"}\\n'); }, 1)`;
    const source = `import { spawn } from 'node:child_process';\nspawn(process.execPath, ['-e', ${JSON.stringify(forger)}], { detached: true, stdio: 'ignore' }).unref();\n${BUG}`;
    expect(await judge(scratch, block('src/list.js', source))).toMatchObject({ verified: false, outcome: 'failed', score: 0 });
  });
});

describe.skipIf(!available)(`what a verdict rests on (${note})`, { timeout: 120_000 }, () => {
  const judged = async (scratch: Scratch, edits: Patch['edits'], options: Partial<VerifyOptions> = {}, files = PROJECT): Promise<Verdict> => {
    const base = await scratch.project(files);
    const { signal } = new AbortController();
    return await scratch.verifier.verify({ base, patch: { edits, refused: [] }, command: 'node --test', signal, ...options });
  };
  const edit = (file: keyof typeof PROJECT, after: string): Patch['edits'][number] => ({
    path: file, kind: 'modify', before: PROJECT[file], after,
  });
  const WEAKENED = PROJECT['test/list.test.js'].replace('last([1, 2, 3]), 3', 'last([1, 2, 3]), undefined');

  it('judges what is left of a change whose protected edits are left out', async () => {
    await using scratch = await makeScratch();
    const both = [edit('src/list.js', FIX), edit('test/list.test.js', WEAKENED)];
    const verdict = await judged(scratch, both, { protectedEdits: 'leave out' });
    expect(verdict).toMatchObject({ verified: true });
    expect(verdict.notes).toContain('test/list.test.js was left as it is: Tests are the judge and stay as they are.');
    expect(await judged(scratch, both)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('judge') });
  });

  it('does not count a weakened test as a fix', async () => {
    await using scratch = await makeScratch();
    const weakened = edit('test/list.test.js', WEAKENED);
    const alone = await judged(scratch, [weakened], { protectedEdits: 'leave out' });
    expect(alone).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('edits only protected files') });
    const comment = edit('src/list.js', `${PROJECT['src/list.js']}// mended\n`);
    expect(await judged(scratch, [comment, weakened], { protectedEdits: 'leave out' })).toMatchObject({ outcome: 'failed', score: 0 });
  });

  it('protects what configures the runner at hand', async () => {
    await using scratch = await makeScratch();
    const configuration = { path: 'node.config.json', kind: 'create', before: null, after: '{}' } as const;
    expect(await judged(scratch, [edit('src/list.js', FIX), configuration])).toMatchObject({ outcome: 'refused' });
  });

  it('takes a file in which base has tests for a test, whatever its name', async () => {
    await using scratch = await makeScratch();
    const files = { ...PROJECT, 'checks/list.js': PROJECT['test/list.test.js'] };
    const odd = { path: 'checks/list.js', kind: 'modify', before: files['checks/list.js'], after: WEAKENED } as const;
    const command = 'node --test checks/list.js';
    const verdict = await judged(scratch, [edit('src/list.js', FIX), odd], { command }, files);
    expect(verdict).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('checks/list.js') });
  });

  it('proves with named tests what no failing test could', async () => {
    await using scratch = await makeScratch();
    const files = { ...PROJECT, 'src/list.js': FIX };
    const faster = { ...edit('src/list.js', FIX.replace('list[0]', 'list.at(0)')), before: FIX };
    const named = { targets: ['test/list.test.js > list > finds the first'] };
    expect(await judged(scratch, [faster], named, files)).toMatchObject({ verified: true });
    expect(await judged(scratch, [faster], { targets: ['test/list.test.js > list > no such test'] }, files)).toMatchObject({
      outcome: 'failed',
    });
  });

  it('leaves out a test that is flaky before the change', async () => {
    await using scratch = await makeScratch();
    const counter = path.join(scratch.folder, 'counter');
    const flaky = `
import { appendFileSync, readFileSync } from 'node:fs';
import test from 'node:test';
test('every other time', () => {
  appendFileSync(${JSON.stringify(counter)}, '.');
  if (readFileSync(${JSON.stringify(counter)}).length % 2 === 0) throw new Error('not this time');
});
`;
    const files = { ...PROJECT, 'test/flaky.test.js': flaky };
    // Only without a sandbox can tests remember how often they ran.
    const verdict = await judged(scratch, [edit('src/list.js', FIX)], { sandboxed: false }, files);
    expect(verdict).toMatchObject({ verified: true });
    expect(verdict.tests.find(({ id }) => id.endsWith('every other time'))).toMatchObject({ flaky: true });
    expect(verdict.notes).toContainEqual(expect.stringMatching(/^1 flaky test counted neither for nor against/));
  });

  it('refuses where nothing but a flaky test failed before the change', async () => {
    await using scratch = await makeScratch();
    const once = path.join(scratch.folder, 'once');
    const flaky = `
import { mkdirSync } from 'node:fs';
import test from 'node:test';
test('the second time', () => mkdirSync(${JSON.stringify(once)}));
`;
    const files = { ...PROJECT, 'src/list.js': FIX, 'test/flaky.test.js': flaky };
    const change = { ...edit('src/list.js', `${FIX}// changed\n`), before: FIX };
    expect(await judged(scratch, [change], { sandboxed: false }, files)).toMatchObject({
      outcome: 'refused',
      reason: 'Nothing to prove: the only test that failed before the change did so in one of two runs.',
    });
  });

  it('does not trust a test that passes whatever it expects', async () => {
    await using scratch = await makeScratch();
    const source = `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const strict = createRequire(import.meta.url)('node:assert/strict');
for (const judge of [assert, strict]) judge.equal = () => {};
${PROJECT['src/list.js']}`;
    const verdict = await judged(scratch, [edit('src/list.js', source)]);
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0 });
  });
});

describe('without a sandbox', () => {
  it('nothing is learned unless a person agreed to go without', async () => {
    await using scratch = await makeScratch();
    const none = {
      run: async ({ sandboxed }: SandboxedCommand): Promise<never> => {
        throw sandboxed ? new SandboxUnavailableError('No sandbox here.') : new Error('It ran without a sandbox.');
      },
      pinnedImage: (image: string) => Promise.resolve(image),
    };
    const verifier = new Verifier({ ...scratch, sandbox: none });
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(block('src/list.js', FIX), base);
    for (const sandboxed of [true, undefined]) {
      const options = { base, patch, command: 'node --test', signal: new AbortController().signal, sandboxed };
      const verdict = await verifier.verify(options);
      expect(verdict).toMatchObject({ outcome: 'infrastructure', reason: 'No sandbox here.', score: 0, sandboxed: true });
    }
  });

  it('the tests run where a person agreed, and the verdict says so', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const patch = await parsePatch(block('src/list.js', FIX), base);
    const verdict = await scratch.verifier.verify({
      base,
      patch,
      command: 'node --test',
      signal: new AbortController().signal,
      sandboxed: false,
    });
    expect(verdict).toMatchObject({ verified: true, sandboxed: false });
    await scratch.copies.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });
});
