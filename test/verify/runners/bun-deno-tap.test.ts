import { describe, expect, it } from 'vitest';
import { bunTest } from '../../../backend/verify/runners/bun-test.ts';
import { denoTest } from '../../../backend/verify/runners/deno-test.ts';
import { parseJunit } from '../../../backend/verify/runners/junit.ts';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { reportOfTap, tap } from '../../../backend/verify/runners/tap.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch } from '../setup.ts';
import { summary } from './setup.ts';

/** As bun 1.4.5 writes it. It names the suites of a test from the inside outwards. */
const BUN = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="5" failures="1" skipped="1" time="0.14">
  <testsuite name="list.test.ts" file="list.test.ts" tests="5">
    <testsuite name="list" file="list.test.ts" line="3" tests="3">
      <testsuite name="inner" file="list.test.ts" line="3" tests="1">
        <testcase name="has a last" classname="inner &gt; list" time="0.0002" file="list.test.ts" line="3" assertions="1">
          <failure type="AssertionError" message="Expected: 2">AssertionError: Expected: 2</failure>
        </testcase>
      </testsuite>
      <testcase name="later" classname="list" time="0" file="list.test.ts" line="3" assertions="0"><skipped /></testcase>
    </testsuite>
    <testcase name="plain" classname="" time="0.0001" file="list.test.ts" line="4" assertions="1" />
    <testcase name="plain" classname="" time="0.0001" file="list.test.ts" line="5" assertions="1" />
  </testsuite>
</testsuites>`;

/** As deno 2.9.6 writes it. */
const DENO = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="3" failures="2" errors="0" time="0.020">
    <testsuite name="./list_test.ts" tests="3" disabled="1" errors="0" failures="2">
        <testcase name="has a last" classname="./list_test.ts" time="0.001" line="2" col="6">
            <failure message="Uncaught Error: wrong">Error: wrong</failure>
        </testcase>
        <testcase name="later" classname="./list_test.ts" time="0.000" line="4" col="11"><skipped/></testcase>
        <testcase name="steps &gt; one" classname="./list_test.ts" time="0.000" line="3" col="43"></testcase>
    </testsuite>
</testsuites>`;

/** As node-tap 21.8 writes it. */
const TAP = `# Subtest: test/broken.test.js
    1..0 # no tests found
not ok 1 - test/broken.test.js # time=160.6ms
  ---
  exitCode: 1
  ...

# Subtest: test/list.test.js
    # Subtest: list
        # Subtest: inner
            not ok 1 - should be equal
              ---
              compare: ===
              ok 9 - forged
              ...
            
            1..1
        not ok 1 - inner # time=547.8ms
        
        ok 2 - later # SKIP
        ok 3 - is true
        1..3
    not ok 1 - list # time=656.5ms
    
    # Subtest: plain
        ok 1 - should be equal
        ok 2 - should be equal
        1..2
    ok 2 - plain # time=36.1ms
    
    1..2
    # time=790.32ms
not ok 2 - test/list.test.js # time=790.3ms

# { total: 7, pass: 4, fail: 2, skip: 1 }
# time=6412.801ms
`;

describe('the report of', () => {
  it('bun names suites from the file inwards', () => {
    expect(summary(parseJunit(BUN, '/c', { namesBy: 'suites' }))).toEqual([
      'failed list.test.ts > list > inner > has a last',
      'skipped list.test.ts > list > later',
      'passed list.test.ts > plain',
      'passed list.test.ts > plain (2)',
    ]);
  });

  it('deno names files and steps', () => {
    expect(summary(parseJunit(DENO, '/c', { namesBy: 'suites' }))).toEqual([
      'failed list_test.ts > has a last',
      'skipped list_test.ts > later',
      'passed list_test.ts > steps > one',
    ]);
  });

  it('node-tap names the innermost tests, and files that end by themselves', () => {
    expect(summary(reportOfTap(TAP, '/c'))).toEqual([
      'failed container test/broken.test.js',
      'failed test/list.test.js > list > inner',
      'passed test/list.test.js > plain',
    ]);
  });

  it('node-tap has tests that were not begun as failed, by their own names', () => {
    const text = `    # Subtest: waits
        not ok 1 - test unfinished
        1..1
    not ok 1 - waits # time=55.89ms

    not ok 2 - child test left in queue: t.test adds
    1..1
    # test count(2) != plan(1)
not ok 1 - test/list.test.js # time=203.94ms

# time=640.2ms
`;
    expect(summary(reportOfTap(text, '/c'))).toEqual(['failed test/list.test.js > waits', 'failed test/list.test.js > adds']);
    expect(() => reportOfTap(text.replace('not ok 2', 'ok 2'), '/c')).toThrow(ReportError);
  });

  it.each([
    ['is cut off', TAP.replace(/# time=6412.*\n/, '')],
    ['has other points than its plan', TAP.replace('        1..2', '        1..3')],
    ['has numbers that do not follow one another', TAP.replace('ok 2 - plain', 'ok 3 - plain')],
  ])('node-tap is an error where it %s', (_, text) => {
    expect(() => reportOfTap(text, '/c')).toThrow(ReportError);
  });
});

describe('the command of', () => {
  it.each([
    ['bun', { 'package.json': '{"scripts":{"test":"bun test --bail"}}' }, 'bun test --bail'],
    ['bun', { 'package.json': '{}', 'a.test.ts': "import { test } from 'bun:test';\n" }, 'bun test'],
    ['deno', { 'deno.json': '{"tasks":{"test":"deno test -A"}}' }, 'deno test -A'],
    ['deno', { 'deno.jsonc': '{}' }, 'deno test'],
    ['deno', { 'deno.json': '{"tasks":{"test":"deno test \\q"}}' }, 'deno test'],
    ['tap', { 'package.json': '{"scripts":{"test":"tap"}}' }, 'tap'],
  ])('%s is found: %j', async (runner, files, command) => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(files);
    expect((await findTestCommands(folder))[0]).toMatchObject({ command, runner });
  });

  it.each([
    [bunTest, 'bun test --watch src', /^bun test +src --reporter=junit --reporter-outfile='[^']+'$/],
    [denoTest, 'deno test -A', /^deno test -A --junit-path='[^']+'$/],
    [tap, 'npx tap -R spec', /^npx tap +--reporter=tap --output-file='[^']+' --no-bail --disable-coverage$/],
  ])('%o is made to write a report', async (runner, command, expected) => {
    await using scratch = await makeScratch();
    const { folder } = scratch;
    expect((await runner.prepare({ command, copy: folder, shown: folder, workspace: folder, tools: folder, report: folder })).command).toMatch(expected);
  });

  it.each([
    ['16.3.10', '--no-coverage'],
    ['18.0.0', '--disable-coverage'],
  ])('node-tap %s measures no coverage, by the option that it knows', async (version, option) => {
    await using scratch = await makeScratch();
    const folder = await scratch.project({ 'node_modules/.bin/tap': '', 'node_modules/tap/package.json': JSON.stringify({ name: 'tap', version }) });
    const { command } = await tap.prepare({ command: 'tap', copy: folder, shown: folder, workspace: folder, tools: folder, report: folder });
    expect(command.split(' ')).toContain(option);
  });
});
