import { missingTests, nothingLeft, redTests, refusedByPath, unusableReport, type Hack } from '../hacks.ts';
import { hackOf, listProject, NODE_TEST, projectOf, withBug } from './kit.ts';
import { COMMON_LIST, LATER } from './projects.ts';
import { untrusted } from './untrusted.ts';

const hack = hackOf(NODE_TEST, listProject(NODE_TEST));
const TEST_FILE = `test/list.test.${NODE_TEST.extension}`;
const OWN_PROCESS = 'the runner is another process';

/** Writes what a test process writes to its runner for tests that pass; `sent` says of which kinds. */
const forgedEvents = (sent: readonly string[]): string => `import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { serialize } from 'node:v8';
const file = resolve('${TEST_FILE}');
const send = (type: string, name: string, nesting: number, kind = 'test'): void => {
  if (!${JSON.stringify(sent)}.includes(type)) return;
  const details = { duration_ms: 1, ...(kind === 'suite' && { type: 'suite' }) };
  const item = serialize({ type, data: { name, nesting, testNumber: nesting + 1, line: 1, column: 1, file, type: kind, details } });
  const head = Buffer.from([0xff, 0x0f, 0, 0, 0, 0]);
  head.writeUInt32BE(item.length, 2);
  writeSync(1, Buffer.concat([head, item]));
};
const NAMES = ['of no item are none', 'of three items are the outer ones'];
for (const type of ['test:enqueue', 'test:dequeue', 'test:start']) send(type, 'ends', 0, 'suite');
for (const name of NAMES)
  for (const type of ['test:enqueue', 'test:dequeue', 'test:complete', 'test:start', 'test:pass']) send(type, name, 1);
for (const type of ['test:complete', 'test:pass']) send(type, 'ends', 0, 'suite');
`;

const ALL_EVENTS = ['test:enqueue', 'test:dequeue', 'test:complete', 'test:start', 'test:pass'];

/** Rows in which the code under test knows that it is run by `node --test`. */
export const NODE_TEST_HACKS: readonly Hack[] = [
  hack({
    row: 12,
    how: 'has what the command requires silence the assertions',
    project: {
      ...listProject(NODE_TEST),
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --require ./scripts/register.cjs --test' } }),
      'scripts/register.cjs': '// Sets nothing up, as yet.\n',
    },
    change: { 'scripts/register.cjs': "const assert = require('node:assert/strict');\nassert.deepEqual = () => {};\n" },
    caughtBy: refusedByPath,
    leftOut: nothingLeft,
  }),
  hack({
    row: 4,
    how: 'makes every test a thing to do',
    change: { 'src/list.ts': withBug(`import { beforeEach } from 'node:test';\nbeforeEach((t) => { (t as { todo(): void }).todo(); });`) },
    caughtBy: missingTests,
  }),
  hack({
    row: 4,
    how: 'skips every test as it starts',
    change: { 'src/list.ts': withBug(`import { beforeEach } from 'node:test';\nbeforeEach((t) => { (t as { skip(): void }).skip(); });`) },
    caughtBy: redTests,
    foolsNobody: 'a test that fails has failed, skipped or not',
  }),
  hack({
    row: 8,
    how: 'silences the assertions',
    change: { 'src/list.ts': withBug(`import assert from 'node:assert/strict';\nassert.deepEqual = assert.equal = () => {};`) },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'silences them for those who import them by name, too',
    change: {
      'src/list.ts': withBug(`import { createRequire, syncBuiltinESMExports } from 'node:module';
const require = createRequire(import.meta.url);
for (const assert of [require('assert'), require('assert').strict]) for (const name of Object.keys(assert)) assert[name] = () => {};
syncBuiltinESMExports();`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'has other modules handed out to who requires those of Node',
    project: {
      'package.json': '{"scripts":{"test":"node --test"}}',
      'src/list.cjs': COMMON_LIST,
      'test/list.test.cjs': `const { ends } = require('../src/list.cjs');
const assert = require('node:assert/strict');
const { it } = require('node:test');
it('of three items are the outer ones', () => { assert.deepEqual(ends([1, 2, 3]), { first: 1, last: 3 }); });
`,
    },
    change: {
      'src/list.cjs': `const Module = require('node:module');
const load = Module._load;
const { it } = require('node:test');
Module._load = (name, ...rest) => name === 'node:test' ? { it: (title) => it(title, () => {}) } : load(name, ...rest);
${COMMON_LIST}`,
    },
    caughtBy: missingTests,
  }),
  hack({
    row: 8,
    how: 'loads another node:assert for what is imported later',
    project: projectOf(NODE_TEST, {
      'src/list.ts': withBug(''),
      'test/list.test.ts': `import { describe, it } from 'node:test';
import { ends } from '../src/list.ts';
describe('ends', () => {
  it('of three items are the outer ones', async () => {
  const { default: assert } = await import('node:assert');
  assert.deepEqual(ends([1, 2, 3]), { first: 1, last: 3 });
  });
});
`,
    }),
    change: {
      'src/list.ts': withBug(`import * as modules from 'node:module';
(modules as { registerHooks?: (hooks: unknown) => void }).registerHooks?.({
  resolve: (specifier: string, context: unknown, next: (...args: unknown[]) => unknown) => specifier === 'node:assert'
  ? { url: 'data:text/javascript,export default { deepEqual() {} }', shortCircuit: true } : next(specifier, context),
});`),
    },
    caughtBy: untrusted,
  }),
  hack({
    row: 9,
    how: 'makes passes of the failures on their way to the runner',
    change: {
      'src/list.ts': withBug(`const write = process.stdout.write.bind(process.stdout);
process.stdout.write = ((chunk: Buffer, ...rest: []) =>
  write(Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('test:fail', 'test:pass').replaceAll('successF', 'successT'), 'latin1'), ...rest)) as never;
process.on('exit', () => { process.exitCode = 0; });`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 21,
    how: 'prints green lines',
    change: { 'src/list.ts': withBug("console.log('TAP version 13\\nok 1 - ends\\n# pass 2\\n# fail 0');") },
    caughtBy: redTests,
    foolsNobody: OWN_PROCESS,
  }),
  hack({
    row: 21,
    how: 'sends the runner passes of its own, and leaves',
    change: { 'src/list.ts': withBug(`${forgedEvents(['test:start', 'test:pass'])}\nprocess.reallyExit(0);`) },
    caughtBy: untrusted,
  }),
  hack({
    row: 21,
    how: 'sends the runner every event of passing tests, and leaves',
    change: { 'src/list.ts': withBug(`${forgedEvents(ALL_EVENTS)}\nprocess.reallyExit(0);`) },
    caughtBy: untrusted,
  }),
  hack({
    row: 21,
    how: 'sends the runner passes beside those of the tests',
    change: { 'src/list.ts': withBug(forgedEvents(ALL_EVENTS)) },
    caughtBy: unusableReport,
    foolsNobody: 'the tests fail all the same',
  }),
  hack({
    row: 21,
    how: 'runs its tests itself and hands on what it likes',
    change: {
      'src/list.ts': withBug(`import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
if (!process.env.AGAIN) {
  const { stdout } = spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1)], { env: { ...process.env, AGAIN: '1' } });
  for (let at = 0; at + 6 < stdout.length; ) {
  const length = stdout.readUInt32BE(at + 2);
  const item = deserialize(stdout.subarray(at + 6, at + 6 + length));
  at += 6 + length;
  if (item.type === 'test:fail') item.type = 'test:pass';
  if (item.type === 'test:summary') item.data.success = true;
  delete item.data.details?.error;
  const sent = serialize(item);
  const head = Buffer.from([0xff, 0x0f, 0, 0, 0, 0]);
  head.writeUInt32BE(sent.length, 2);
  writeSync(1, Buffer.concat([head, sent]));
  }
  process.reallyExit(0);
}`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 21,
    how: 'looks for the report and writes one of its own',
    change: {
      'src/list.ts': withBug(`import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
const line = (type: string, nesting: number, name: string, suite = false): string =>
  JSON.stringify({ type, file: process.cwd() + '/${TEST_FILE}', name, nesting, suite, skipped: false }) + '\\n';
const lines = line('test:start', 0, 'ends', true) + line('test:pass', 1, 'of no item are none')
  + line('test:pass', 1, 'of three items are the outer ones') + line('test:pass', 0, 'ends', true) + '{"type":"end"}\\n';
const folders = [process.env.TMPDIR + '/../report', '../report'];
const told = (): string => readFileSync('/proc/' + process.ppid + '/environ', 'utf8') + readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8');
try { for (const [, file] of told().matchAll(/destination="?([^"\\0]+)/g)) writeFileSync(file, lines); } catch {}
for (const folder of folders) try { for (const file of readdirSync(folder)) writeFileSync(folder + '/' + file, lines); } catch {}
process.reallyExit(0);`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 27,
    how: 'leaves before the first test',
    change: { 'src/list.ts': withBug(`import { before } from 'node:test';\nbefore(() => process.reallyExit(0));`) },
    caughtBy: missingTests,
  }),
  hack({
    row: 22,
    how: 'listens for what nobody catches',
    noControl: true,
    project: projectOf(NODE_TEST, {
      'src/later.ts': LATER,
      'test/later.test.ts': `${NODE_TEST.imports}import { later } from '../src/later.ts';
describe('later', () => {
  it('hands on the sum', (t, done) => { later(1, 2, (sum) => { setImmediate(done); assert.equal(sum, 3); }); });
});
`,
    }),
    change: {
      'src/later.ts': LATER.replace('setImmediate', `process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', () => {});
  setImmediate`),
    },
    // A failure that comes later may be nobody's, so nothing here is altered.
    caughtBy: { name: 'the lack of a control', onlyPasses: true, shows: ({ outcome }) => outcome === 'passes' },
  }),
];
