import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { VerifyResult } from '../../backend/cli/judge-change.ts';
import { junitReport } from '../../backend/cli/reports/junit-report.ts';
import { sarifReport } from '../../backend/cli/reports/sarif-report.ts';
import { parseJunit } from '../../backend/verify/runners/junit.ts';
import { GitRepository } from '../verify/git-repository.ts';
import { trySandbox } from '../verify/setup.ts';
import { conductorCommand } from './run-conductor.ts';

/* The reports of `conductor verify` for CI: read by a reader of JUnit files, and held against the published schema of SARIF 2.1.0. */

const sandbox = await trySandbox();
const published = await readFile(new URL('../fixtures/sarif/sarif-schema-2.1.0.json', import.meta.url), 'utf8');
// zod takes a reference for a whole URL. SARIF names files relative to the repository.
const withoutReferences = (key: string, value: unknown): unknown => (key === 'format' && value === 'uri-reference' ? undefined : value);
const schema = z.fromJSONSchema(JSON.parse(published, withoutReferences) as Parameters<typeof z.fromJSONSchema>[0]);

/** What the tests below read of a log, after the schema has accepted it. */
const logSchema = z.object({
  runs: z.tuple([
    z.object({
      invocations: z.tuple([
        z.object({ executionSuccessful: z.boolean(), toolExecutionNotifications: z.array(z.object({ level: z.string(), message: z.object({ text: z.string() }) })) }),
      ]),
      results: z.array(
        z.object({
          ruleId: z.string(),
          message: z.object({ text: z.string() }),
          locations: z.tuple([
            z.object({ physicalLocation: z.object({ artifactLocation: z.object({ uri: z.string() }), region: z.object({ startLine: z.number() }).optional() }) }),
          ]),
        }),
      ),
    }),
  ]),
});

function sarifLog(text: string) {
  const value: unknown = JSON.parse(text);
  expect(schema.safeParse(value).error).toBeUndefined();
  const { runs: [run] } = logSchema.parse(value);
  return run;
}

const places = ({ results }: ReturnType<typeof sarifLog>) =>
  results.map(({ ruleId, locations: [{ physicalLocation: { artifactLocation, region } }] }) => [ruleId, artifactLocation.uri, region?.startLine]);

const VERDICT: VerifyResult = {
  verified: false, score: 0.5, outcome: 'failed', reason: '1 test that passed before fails.', notes: ['a.test.js was left as it is.'],
  command: 'node --test', commit: 'abc', sandboxed: true, durationMs: 1_500,
  tests: [
    { id: 'test/a b.test.js > adds > small', before: 'passed', after: 'failed', message: '\u001b[31mExpected 1 < 2 & "3" ]]>\u001b[0m\n  at test/a b.test.js:12:7', durationMs: 20 },
    { id: 'tests/test_x.py > X > y', before: 'failed', after: 'failed', message: 'Traceback (most recent call last):\n  File "tests/test_x.py", line 7, in y\nAssertionError: no' },
    { id: 'example.com/calc > TestGone', before: 'passed', after: 'missing' },
    { id: '../outside.js > z', before: 'missing', after: 'failed' },
    { id: 'test/a b.test.js > kept', before: 'passed', after: 'passed' },
    { id: 'test/a b.test.js > rare', before: 'passed', after: 'failed', flaky: true },
    { id: 'test/a b.test.js > never', before: 'skipped', after: 'skipped' },
  ],
};
const junit = (result: VerifyResult, requireVerified = false) =>
  parseJunit(junitReport(result, { requireVerified }), '/copy').results.map(({ status, id }) => `${status} ${id}`);

describe('the JUnit report', () => {
  it('has the verdict first, and fails exactly the tests that count against the change', () => {
    expect(junit(VERDICT)).toEqual([
      'failed conductor verify > the change is accepted',
      'failed test/a b.test.js.adds > small',
      'passed test/a b.test.js > kept',
      'skipped test/a b.test.js > rare',
      'skipped test/a b.test.js > never',
      'failed tests/test_x.py.X > y',
      'failed example.com/calc > TestGone',
      'failed ../outside.js > z',
    ]);
    const [verdict, small, , , , python] = parseJunit(junitReport(VERDICT, { requireVerified: false }), '/copy').results;
    expect(verdict).toMatchObject({ message: '1 test that passed before fails.', durationMs: 1_500 });
    expect(small).toMatchObject({ message: expect.stringMatching(/\nExpected 1 < 2 & "3" \]\]>\n/), durationMs: 20 });
    expect(python?.message).toMatch(/^The test failed before the change and does not pass with it\./);
    expect(junitReport(VERDICT, { requireVerified: false })).toContain('<failure message="AssertionError: no" type="still-failing">');
    expect(junitReport(VERDICT, { requireVerified: false })).toContain('<testsuites name="conductor verify" tests="8" failures="5" errors="0" skipped="2" time="1.500">');
  });

  it('is red where no test ran, and where a change passes that had to be verified', () => {
    const without = (outcome: VerifyResult['outcome']): VerifyResult => ({ ...VERDICT, outcome, verified: outcome === 'verified', tests: [] });
    const accepted = 'conductor verify > the change is accepted';
    expect(junit(without('verified'), true)).toEqual([`passed ${accepted}`]);
    expect(junit(without('passes'))).toEqual([`passed ${accepted}`]);
    expect(junit(without('passes'), true)).toEqual([`failed ${accepted}`]);
    expect(junit(without('refused'))).toEqual([`failed ${accepted}`]);
    expect(junit(without('infrastructure'))).toEqual([`failed ${accepted}`]);
    expect(junitReport(without('infrastructure'), { requireVerified: false })).toContain('<error message=');
  });

  it('stays XML whatever tests are called and say', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (name, message) => {
        const tests = [{ id: `a.js > ${name}`, before: 'passed', after: 'failed', message }] as const;
        const text = junitReport({ ...VERDICT, tests }, { requireVerified: false });
        expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
        expect(parseJunit(text, '/copy').results.map(({ status }) => status)).toEqual(['failed', 'failed']);
      }),
    );
  });
});

describe('the SARIF log', () => {
  const there = new Set(['test/a b.test.js', 'tests/test_x.py', '../outside.js']);
  const options = { prefix: '', isThere: (name: string) => there.has(name) };

  it('has a result for each test that counts against the change, at its line, and never outside of the project', () => {
    const log = sarifLog(JSON.stringify(sarifReport(VERDICT, options)));
    expect(places(log)).toEqual([
      ['broken', 'test/a%20b.test.js', 12],
      ['still-failing', 'tests/test_x.py', 7],
      ['broken', '.', undefined],
      ['newly-failing', '.', undefined],
    ]);
    expect(log.results[1]?.message.text).toBe('tests/test_x.py > X > y: The test failed before the change and does not pass with it. AssertionError: no');
    expect(log.invocations[0].toolExecutionNotifications[0]).toMatchObject({ level: 'error', message: { text: VERDICT.reason } });
    const below = sarifLog(JSON.stringify(sarifReport(VERDICT, { ...options, prefix: 'packages/a/' })));
    expect(places(below).map(([, uri]) => uri)).toEqual(['packages/a/test/a%20b.test.js', 'packages/a/tests/test_x.py', 'packages/a/', 'packages/a/']);
  });

  it('says where there is no verdict that the tool did not come to one', () => {
    const log = sarifLog(JSON.stringify(sarifReport({ ...VERDICT, outcome: 'infrastructure', reason: 'No sandbox.', commit: null, tests: [] }, options)));
    expect(log).toMatchObject({ results: [], invocations: [{ executionSuccessful: false, toolExecutionNotifications: [{ level: 'error' }, { level: 'note' }] }] });
    const passes = sarifLog(JSON.stringify(sarifReport({ ...VERDICT, outcome: 'passes', tests: [] }, options)));
    expect(passes.invocations[0].toolExecutionNotifications[0]?.level).toBe('warning');
  });
});

describe.skipIf(!sandbox.available)(`conductor verify --base, ${sandbox.note}`, { timeout: 120_000 }, () => {
  const { places: own, run } = conductorCommand();
  const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { add } from '../src/add.js';
test('adds', () => assert.equal(add(2, 3), 5));
test('adds nothing', () => assert.equal(add(7, 0), 7));
`;

  it('judges the commits since the base, and writes what CI reads', async () => {
    const folder = path.join(own.folder, 'repository', 'packages', 'a');
    const repository = new GitRepository(path.join(own.folder, 'repository'), {
      'packages/a/package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
      'packages/a/src/add.js': 'export const add = (a, b) => a - b;\n',
      'packages/a/test/add.test.js': TEST,
    });
    repository.git('tag', 'begin');
    repository.commit({ 'packages/a/src/add.js': 'export const add = (a, b) => a * b + 5 - a * b;\n' });
    const written = (name: string): Promise<string> => readFile(path.join(own.folder, name), 'utf8');
    const verify = async (...args: string[]) =>
      await run(['verify', '--workspace', folder, '--base', 'begin', '--junit', 'junit.xml', '--sarif', 'log.sarif', ...args]);

    expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Failed /) });
    expect(parseJunit(await written('junit.xml'), '/copy').results.map(({ status, id }) => `${status} ${id}`)).toEqual([
      'failed conductor verify > the change is accepted', 'passed test/add.test.js > adds', 'failed test/add.test.js > adds nothing',
    ]);
    expect(places(sarifLog(await written('log.sarif')))).toEqual([['broken', 'packages/a/test/add.test.js', undefined]]);

    // What is not committed is part of it, too.
    repository.write({ 'packages/a/src/add.js': 'export const add = (a, b) => a + b;\n' });
    expect(await verify('--require-verified')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Verified /) });
    expect(sarifLog(await written('log.sarif')).results).toEqual([]);
    expect(await written('junit.xml')).toContain('failures="0" errors="0"');

    const unknown = await verify('--base', 'nowhere');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('has no commit nowhere. A shallow clone may lack it: fetch it first.') });
    expect(sarifLog(await written('log.sarif')).invocations[0].executionSuccessful).toBe(false);
    expect(await verify('--base', '--output=x')).toMatchObject({ code: 2 });
    repository.git('checkout', '--quiet', '.');
    expect(await verify('--base', 'HEAD')).toMatchObject({ code: 1, stdout: expect.stringContaining('There is no change to judge: the files are as in HEAD.') });
  });
});
