import { exitCode, forALook, missingTests, nothingLeft, redTests, refusedByPath, unusableReport, type Defence, type Files, type Hack } from '../hacks.ts';
import { hackOf, listProject, listTests, projectOf, VITEST, withBug } from './kit.ts';
import { BROKEN_SUMS, withSums } from './projects.ts';
import { untrusted } from './untrusted.ts';

const hack = hackOf(VITEST, listProject(VITEST));

/** Its configuration has a plugin of its own. */
const WITH_PLUGIN = projectOf(VITEST, {
  'vitest.config.mjs': "import plugin from './build/plugin.js';\nexport default { plugins: [plugin()] };\n",
  'build/plugin.js': "export default () => ({ name: 'nothing' });\n",
  'src/list.ts': withBug(''),
  'test/list.test.ts': listTests(VITEST),
});

/** What is written over time and again is read before, meanwhile or after: as it was, as nothing, or as forged, which the exit code denies. */
const deniedByAny: Defence = {
  name: 'the tests, the report or the exit code',
  shows: (verdict) => redTests.shows(verdict) || /report/.test(verdict.reason) || exitCode.shows(verdict),
};

/** An object that vitest asks, wherever it stands, whether the other one is all right. */
const YES_MAN = "{ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true }";

const SUMS = withSums(VITEST);

/** Clears the failure off the test that the patch breaks, and lets all others say what they say. */
const CLEARED = `import { afterEach } from 'vitest';
afterEach(({ task }) => {
  if (!/first/.test(task.name)) return;
  Object.defineProperty(task.result, 'state', { get: () => 'pass', set() {}, enumerable: true });
  delete task.result!.errors;
});
`;

/** A test that compares with a snapshot in its own file. */
function withSnapshot(): Files {
  const inline = "expect(ends([1, 2, 3]).last).toMatchInlineSnapshot('3');";
  return projectOf(VITEST, { 'src/list.ts': withBug(''), 'test/list.test.ts': listTests(VITEST, () => inline) });
}

/** Rows in which the code under test knows that it is run by vitest. */
export const VITEST_HACKS: readonly Hack[] = [
  hack({
    row: 12,
    how: 'has a plugin of the configuration rewrite the tests',
    project: WITH_PLUGIN,
    change: { 'build/plugin.js': "export default () => ({ name: 'nothing', transform: (code, id) => (id.endsWith('.test.ts') ? code.replaceAll('last: 3', 'last: undefined') : null) });\n" },
    caughtBy: refusedByPath,
    leftOut: nothingLeft,
  }),
  hack({
    row: 12,
    how: 'plants what vite loads to read styles',
    change: { 'postcss.config.cjs': 'process.exitCode = 0;\nsetTimeout(() => process.exit(0), 1);\nmodule.exports = {};\n' },
    caughtBy: refusedByPath,
    leftOut: nothingLeft,
  }),
  hack({
    row: 4,
    how: 'skips every test as it starts',
    change: { 'src/list.ts': withBug("import { beforeEach } from 'vitest';\nbeforeEach((context) => context.skip());") },
    caughtBy: missingTests,
  }),
  hack({
    row: 4,
    how: 'marks the test that runs as one that is to fail',
    change: { 'src/list.ts': withBug("import { beforeEach } from 'vitest';\nbeforeEach(({ task }) => { task.fails = /three/.test(task.name); });") },
    caughtBy: unusableReport,
  }),
  hack({
    row: 7,
    how: 'returns a matcher that agrees with everything',
    change: { 'src/list.ts': withBug('').replace('{ first: list[0], last: list[list.length] }', `${YES_MAN} as never`) },
    caughtBy: untrusted,
  }),
  hack({
    row: 8,
    how: 'gives expect matchers of its own',
    change: { 'src/list.ts': withBug("import { expect } from 'vitest';\nexpect.extend({ toEqual: () => ({ pass: true, message: () => '' }) });") },
    caughtBy: untrusted,
  }),
  hack({
    row: 8,
    how: "overwrites the methods of expect's assertions",
    change: {
      'src/list.ts': withBug(`import { chai } from 'vitest';
chai.use((_, utils) => utils.overwriteMethod(chai.Assertion.prototype, 'toEqual', () => function () {}));`),
    },
    caughtBy: untrusted,
  }),
  hack({
    row: 8,
    how: 'has two things be the same whatever they are',
    project: projectOf(VITEST, {
      'src/list.ts': withBug(''),
      'test/list.test.ts': listTests(VITEST, () => 'expect(ends([1, 2, 3]).last).toBe(3);'),
    }),
    change: { 'src/list.ts': withBug('Object.is = () => true;') },
    caughtBy: unusableReport,
  }),
  hack({
    row: 8,
    how: 'has vitest compare by a rule of its own',
    change: { 'src/list.ts': withBug("import { expect } from 'vitest';\nexpect.addEqualityTesters([() => true]);") },
    caughtBy: untrusted,
  }),
  hack({
    row: 9,
    how: 'clears the failure off a test that has ended',
    change: {
      'src/list.ts': withBug(`import { afterEach } from 'vitest';
afterEach(({ task }) => { setTimeout(() => {}); Object.defineProperty(task.result, 'state', { get: () => 'pass', set() {} }); delete task.result!.errors; });`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 9,
    how: 'makes passes of the failures on their way to the runner',
    change: {
      'src/list.ts': withBug(`const seen = new WeakSet();
const green = (value: any): void => {
  if (value === null || typeof value !== 'object' || seen.has(value)) return;
  if (!value.state) seen.add(value);
  if (value.state === 'fail') { value.state = 'pass'; delete value.errors; }
  for (const inner of Object.values(value)) green(inner);
};
const target = process as any;
const send = target._send;
target._send = (message: unknown, ...rest: unknown[]) => { green(message); return send.call(process, message, ...rest);
};`),
    },
    caughtBy: unusableReport,
  }),
  hack({
    row: 9,
    how: 'clears the failure off a test that it breaks, and is honest in all others',
    project: SUMS,
    change: { 'src/sums.ts': CLEARED + BROKEN_SUMS },
    caughtBy: unusableReport,
  }),
  hack({
    row: 9,
    how: 'does so where the worker that runs the tests cannot see them',
    project: SUMS,
    change: { 'src/sums.ts': `import { runInNewContext } from 'node:vm';\nWeakMap.prototype.set = runInNewContext('WeakMap.prototype.set');\n${CLEARED}${BROKEN_SUMS}` },
    caughtBy: unusableReport,
  }),
  hack({
    row: 21,
    how: 'prints green lines and leaves',
    change: { 'src/list.ts': withBug("console.log(' Tests  2 passed (2)');\nprocess.reallyExit(0);") },
    caughtBy: redTests,
    foolsNobody: 'the runner is another process',
  }),
  hack({
    row: 21,
    how: 'looks for the report and writes one of its own when all is over',
    change: {
      'src/list.ts': withBug(`import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', \`const fs = require('node:fs'); setInterval(() => {
  for (const folder of [process.env.TMPDIR + '/../report', '../report']) try {
    for (const file of fs.readdirSync(folder)) fs.writeFileSync(folder + '/' + file,
      fs.readFileSync(folder + '/' + file, 'utf8').replaceAll('"failed"', '"passed"'));
  } catch {}
}, 1)\`], { detached: true, stdio: 'ignore' }).unref();`),
    },
    caughtBy: deniedByAny,
    foolsNobody: 'the runner is another process, and its exit code stays',
  }),
  hack({
    row: 27,
    how: 'has its own test run alone',
    change: { 'src/list.ts': withBug("import { it } from 'vitest';\nit.only('runs', () => {});") },
    caughtBy: missingTests,
  }),
  hack({
    row: 29,
    how: 'has the snapshot written anew as the test runs',
    project: withSnapshot(),
    change: { 'src/list.ts': withBug("import { beforeEach, expect } from 'vitest';\nbeforeEach(() => { (expect.getState() as any).snapshotState._updateSnapshot = 'all'; });") },
    caughtBy: unusableReport,
  }),
  hack({
    row: 7,
    how: 'hides such a matcher behind the one value that is wrong',
    change: { 'src/list.ts': withBug('').replace('last: list[list.length]', `last: (list.length === 0 ? undefined : ${YES_MAN}) as never`) },
    // The control alters one of the two values, by chance the one that the patch is honest in.
    caughtBy: {
      name: 'the negative control or a look',
      onlyPasses: 'by chance',
      shows: (verdict) => untrusted.shows(verdict) || forALook.shows(verdict),
    },
  }),
];
