import { execFile } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeTest, parseEvents } from '../../backend/verify/runners/node-test.ts';
import { ReportError, type TestReport } from '../../backend/verify/runners/test-report.ts';
import { makeScratch } from './setup.ts';

/** Runs a test file by the real runner with our reporter. */
async function reportOf(files: Record<string, string>, command = 'node --test'): Promise<TestReport> {
  await using scratch = await makeScratch();
  const base = await scratch.project({ 'package.json': '{"type":"module"}', ...files });
  for (const file of Object.keys(files)) if (file.includes('/.bin/')) await chmod(path.join(base, file), 0o755);
  const [tools, report] = [path.join(scratch.folder, 'with space'), path.join(scratch.folder, 'report')];
  await mkdir(tools);
  await mkdir(report);
  const prepared = await nodeTest.prepare({ command, copy: base, shown: base, workspace: base, tools, report });
  const environment = { PATH: [...(prepared.programFolders ?? []), process.env.PATH].join(path.delimiter), ...prepared.environment };
  await new Promise((resolve) => execFile('/bin/sh', ['-c', prepared.command], { cwd: base, env: environment }, resolve));
  return await prepared.readReport({ exitCode: null, printed: '', said: '' });
}

const summary = (report: TestReport): string[] => report.results.map(({ id, kind, status }) => `${status} ${kind} ${id}`);

describe('the report of node --test', () => {
  it('says that a Node before 21 reads no patterns, where the tests of a command are named by one', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'package.json': '{}' });
    const prepared = await nodeTest.prepare({ command: "node --test 'test/**/*.js'", copy: base, shown: base, workspace: base, tools: base, report: base });
    const said = ` Output of the command: Could not find '${base}/test/**/*.js'`;
    await expect(prepared.readReport({ exitCode: 1, printed: '', said })).rejects.toThrow('"test/**/*.js" is a pattern, which Node reads since version 21');
    await expect(prepared.readReport({ exitCode: 1, printed: '', said: said.replaceAll('*', '') })).rejects.toThrow('wrote no report');
  });

  it('names file, suites and test, and numbers names that occur twice', async () => {
    const source = `import { describe, it, test } from 'node:test';
describe('outer', () => { describe('inner', () => { it('x', () => {}); it('x', () => {}); }); it.skip('s', () => {}); it.todo('t'); });
test('with { "odd" > name', () => {});`;
    expect(
      summary(await reportOf({ 'test/a.test.js': source, 'b.test.js': `import test from 'node:test'; test('x', () => {});` })),
    ).toEqual([
      'passed test b.test.js > x',
      'passed test test/a.test.js > outer > inner > x',
      'passed test test/a.test.js > outer > inner > x (2)',
      'passed container test/a.test.js > outer > inner',
      'skipped test test/a.test.js > outer > s',
      'skipped test test/a.test.js > outer > t',
      'passed container test/a.test.js > outer',
      'passed test test/a.test.js > with { "odd" > name',
    ]);
  });

  it('says that a test failed although its subtests passed', async () => {
    const source = `import test from 'node:test'; test('top', async (t) => { await t.test('sub', () => {}); throw new Error('behind'); });`;
    const report = await reportOf({ 'a.test.js': source });
    expect(summary(report)).toEqual(['passed test a.test.js > top > sub', 'failed test a.test.js > top']);
    expect(report.results[1]?.message).toBe('behind');
  });

  it('counts a failing todo as skipped and a failing hook as failing', async () => {
    const source = `import { before, describe, it } from 'node:test';
it('later', { todo: true }, () => { throw new Error(); });
describe('hooked', () => { before(() => { throw new Error('hook'); }); it('x', () => {}); });`;
    expect(summary(await reportOf({ 'a.test.js': source }))).toEqual([
      'skipped test a.test.js > later',
      'failed test a.test.js > hooked > x',
      'failed container a.test.js > hooked',
    ]);
  });

  it('has a file without tests as a container, whatever its exit code', async () => {
    const report = await reportOf({ 'a.test.js': 'process.exit(0)', 'b.test.js': 'throw new Error("boom")' });
    expect(summary(report)).toEqual(['passed container a.test.js', 'failed container b.test.js']);
  });

  it('leaves no trace of the reporter in the environment of the tests', async () => {
    const source = `import test from 'node:test'; test(String(process.env.NODE_OPTIONS), () => {});`;
    expect(summary(await reportOf({ 'a.test.js': source }))).toEqual(['passed test a.test.js > undefined']);
  });

  it('is written where the command gives Node options of its own, which stay', async () => {
    const options = { 'src/more.cjs': 'globalThis.more = 1;', 'a.test.js': `import test from 'node:test';
test(globalThis.more + String(process.env.NODE_OPTIONS) + process.env.CONDUCTOR_NODE_OPTIONS, () => {});` };
    const command = "NODE_OPTIONS='--require=./src/more.cjs' node --test";
    expect(summary(await reportOf(options, command))).toEqual(['passed test a.test.js > 1--require=./src/more.cjsundefined']);
  });

  it('is written where the command runs a test file without --test', async () => {
    const source = `import test from 'node:test'; test('x', () => {});`;
    expect(summary(await reportOf({ 'a.test.js': source }, 'node a.test.js'))).toEqual(['passed test a.test.js > x']);
  });
});

describe('the report of borp', () => {
  /** What borp does with its options: it starts each file by Node's runner, and loads reporters by their paths. */
  const BORP = `#!/usr/bin/env node
const { run } = require('node:test');
const { values, positionals } = require('node:util').parseArgs({
  options: { reporter: { type: 'string', short: 'r', multiple: true }, timeout: { type: 'string' } }, allowPositionals: true,
});
const stream = run({ files: positionals.map((file) => require('node:path').resolve(file)) });
(async () => {
  for (const name of values.reporter) stream.compose((await import(name)).default).pipe(process.stdout);
})();
`;
  const source = `import { describe, it } from 'node:test';
describe('list', () => { it('adds', () => {}); it('removes', () => { throw new Error('no'); }); });
it(String(process.env.NODE_OPTIONS), () => {});`;

  it("is that of Node's runner, without the project's reporters and its coverage", async () => {
    const report = await reportOf({ 'node_modules/.bin/borp': BORP, 'a.test.js': source }, 'borp --coverage --check-coverage -r spec --timeout 9000 a.test.js');
    expect(summary(report)).toEqual(['passed test a.test.js > list > adds', 'failed test a.test.js > list > removes', 'failed container a.test.js > list', 'passed test a.test.js > undefined']);
  });

  it('says what code under test has replaced', async () => {
    const files = { 'src/list.js': `import assert from 'node:assert'; assert.equal = () => {};`, 'a.test.js': `import './src/list.js';\n${source}` };
    await expect(reportOf({ 'node_modules/.bin/borp': BORP, ...files }, 'borp a.test.js')).rejects.toThrow('assert.equal');
  });
});

describe('a report that cannot be believed', () => {
  const end = '{"type":"end"}';
  const event = (type: string, changes: object = {}): string =>
    JSON.stringify({ type: `test:${type}`, file: '/copy/a.js', name: 'x', nesting: 0, suite: false, skipped: false, hasFailed: false, ...changes });
  const [start, pass] = [event('start'), event('pass')];
  it.each([
    ['empty', ''],
    ['cut off', `${start}\n${pass}\n`],
    ['cut off in a line', `${start}\n${pass}\n{"type":"te`],
    ['not ours', `TAP version 13\n${end}`],
    ['of another shape', `{"type":"test:pass"}\n${end}`],
    ['absurdly nested', `${event('start', { nesting: 1e9 })}\n${end}`],
    ['of a test that was never started', `${pass}\n${end}`],
    ['of a test that was started below nothing', `${event('start', { nesting: 1 })}\n${end}`],
    ['of a test that passed twice', `${start}\n${pass}\n${pass}\n${end}`],
    ['of a test that passed with an error', `${start}\n${event('pass', { hasFailed: true })}\n${end}`],
    ['of a test that passed and completed otherwise', `${event('complete', { hasFailed: true })}\n${start}\n${pass}\n${end}`],
    ['of more tests than the suite had', [
      event('start', { name: 's' }),
      event('start', { nesting: 1 }),
      event('pass', { nesting: 1 }),
      event('plan', { nesting: 1, count: 0 }),
      end,
    ].join('\n')],
    ['of more tests than the file had', `${start}\n${pass}\n${event('summary', { count: 0 })}\n${end}`],
    ['of a test behind the end of its file', `${event('summary', { count: 1 })}\n${start}\n${pass}\n${end}`],
  ])('because it is %s is an error', (_, text) => {
    expect(() => parseEvents(text, '/copy')).toThrow(ReportError);
  });

  it('never makes the parser throw anything else', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom(end, start, pass, event('plan'), event('summary'), event('complete'), '{}', 'null'), fc.json());
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          expect(Array.isArray(parseEvents(lines.join('\n'), '/copy').results)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ReportError);
        }
      }),
    );
  });
});
