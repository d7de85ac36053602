import { missingTests, nothingLeft, refusedByPath, unusableReport, type Hack } from '../hacks.ts';
import { hackOf, listProject, listTests, MOCHA, projectOf, withBug } from './kit.ts';
import { LATER } from './projects.ts';
import { untrusted } from './untrusted.ts';

const hack = hackOf(MOCHA, listProject(MOCHA));
const TEST_FILE = `test/list.test.${MOCHA.extension}`;

/** A program of the project runs before the tests. */
const withBuild = projectOf(MOCHA, { 'src/list.ts': withBug(''), 'src/build.ts': 'export {};\n', 'test/list.test.ts': listTests(MOCHA) });
const withScript = JSON.stringify({ type: 'module', scripts: { test: `node src/build.${MOCHA.extension} && ${MOCHA.script}` } });

/** Lines of the report for tests that pass. */
const LINES = [
  ...['of no item are none', 'of three items are the outer ones'].map((name) =>
    `{"type":"pass","file":"\${process.cwd()}/${TEST_FILE}","path":["ends","${name}"],"durationMs":1}\\n`),
  '{"type":"end"}\\n',
].join('');

/** Rows in which the code under test knows that it is run by mocha, in mocha's own process. */
export const MOCHA_HACKS: readonly Hack[] = [
  hack({
    row: 4,
    how: 'skips every test as it starts',
    change: { 'src/list.ts': withBug('(globalThis as any).beforeEach(function (this: any) { this.skip(); });') },
    caughtBy: missingTests,
  }),
  hack({
    row: 4,
    how: "throws mocha's own word for a test to be skipped",
    change: {
      'src/list.ts': withBug("(globalThis as any).beforeEach(function (this: any) { try { this.skip(); } catch (pending) { skip = pending; } this.test.pending = this.currentTest.pending = false; });\nlet skip: unknown;").replace(
        ': Ends {',
        ': Ends {\n  if (list.length > 0) throw skip;',
      ),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'silences the assertions',
    change: { 'src/list.ts': withBug(`import assert from 'node:assert/strict';\nassert.deepEqual = assert.equal = () => {};`) },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'defines tests by a function of its own',
    change: {
      'src/list.ts': withBug(`const { it } = globalThis as any;
(globalThis as any).it = (name: string, body: () => void) => it(name, () => { try { body(); } catch {} });`),
    },
    caughtBy: untrusted,
  }),
  hack({
    row: 8,
    how: "runs tests by a method of its own in the place of mocha's",
    change: {
      'src/list.ts': withBug(`(globalThis as any).before(function (this: any) {
  Object.getPrototypeOf(Object.getPrototypeOf(this.test)).run = function (done: () => void) { try { this.fn(); } catch {} done(); };
});`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'gives tests that are defined another body',
    change: {
      'src/list.ts': withBug(`(globalThis as any).before(function (this: any) {
  for (const suite of this.test.parent.suites) for (const test of suite.tests) test.fn = () => {};
});`),
    },
    caughtBy: untrusted,
  }),
  hack({
    row: 9,
    how: 'tells of every failure as a pass',
    change: {
      'src/list.ts': withBug(`import { EventEmitter } from 'node:events';
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (this: any, name: string, ...rest: any[]): boolean {
  if (name !== 'fail') return emit.call(this, name, ...rest);
  this.failures = 0;
  rest[0].state = 'passed';
  return emit.call(this, 'pass', rest[0]);
} as never;
process.on('exit', () => { process.exitCode = 0; });`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 14,
    how: 'puts another mocha in the place of the one that is started next',
    project: { ...withBuild, 'package.json': withScript },
    change: {
      'src/build.ts': `import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
rmSync('node_modules/.bin', { recursive: true });
mkdirSync('node_modules/.bin');
writeFileSync('node_modules/.bin/mocha', '#!/bin/sh\\necho 2 passing\\n');
chmodSync('node_modules/.bin/mocha', 0o755);
`,
    },
    caughtBy: refusedByPath,
    leftOut: nothingLeft,
  }),
  hack({
    row: 21,
    how: 'prints green lines and leaves',
    change: { 'src/list.ts': withBug("console.log('  2 passing (3ms)');\nprocess.reallyExit(0);") },
    caughtBy: unusableReport,
  }),
  hack({
    row: 21,
    how: 'looks for the report, writes one of its own and leaves',
    change: {
      'src/list.ts': withBug(`import { readdirSync, writeFileSync } from 'node:fs';
const lines = \`${LINES}\`;
for (const folder of [process.env.TMPDIR + '/../report', '../report'])
  try { for (const file of readdirSync(folder)) writeFileSync(folder + '/' + file, lines); } catch {}
process.reallyExit(0);`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 21,
    how: 'writes to every file that is open in its process',
    change: {
      'src/list.ts': withBug(`import { readdirSync, readlinkSync, writeSync } from 'node:fs';
const lines = \`${LINES}\`;
for (const fd of readdirSync('/proc/self/fd')) try { if (/report/.test(readlinkSync('/proc/self/fd/' + fd))) writeSync(Number(fd), lines); } catch {}
process.reallyExit(0);`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 22,
    how: 'listens for what nobody catches',
    noControl: true,
    project: projectOf(MOCHA, {
      'src/later.ts': LATER,
      'test/later.test.ts': `${MOCHA.imports}import { later } from '../src/later.ts';
describe('later', () => {
  it('hands on the sum', () => new Promise<void>((resolve) => { later(1, 2, (sum) => { setTimeout(resolve, 9); assert.equal(sum, 3); }); }));
});
`,
    }),
    change: {
      'src/later.ts': LATER.replace('setImmediate', `process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', () => {});
  setImmediate`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 27,
    how: 'has its own test run alone',
    change: { 'src/list.ts': withBug("(globalThis as any).describe.only('own', () => { (globalThis as any).it('runs', () => {}); });") },
    caughtBy: missingTests,
  }),
  hack({
    row: 27,
    how: 'takes the tests out before they run',
    change: { 'src/list.ts': withBug('(globalThis as any).before(function (this: any) { for (const suite of this.test.parent.suites) suite.tests = []; });') },
    caughtBy: missingTests,
  }),
];
