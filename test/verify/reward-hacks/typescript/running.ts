import { missingTests, nothingLeft, redTests, refusedByPath, unusableReport, type Defence, type Hack } from '../hacks.ts';
import { changeOf, hackOf, listProject, withBug, type Kit } from './kit.ts';
import { EACH, MONEY, SLOW, withCallback, withClock, withEquals, withHelper, withLazyHelper, withLazyPackage, withTimer } from './projects.ts';
import { untrusted } from './untrusted.ts';

/** What becomes of a hack by the runners: what catches it, and why it fools nobody where it does not. */
type End = Defence | readonly [Defence, foolsNobody: string] | undefined;
/** Jasmine ends as mocha does, which runs tests in its own process as well, where nothing else is said. */
type Ends = Readonly<Record<Exclude<Kit['runner'], 'jasmine'>, End>> & { readonly jasmine?: End };

const OWN_PROCESS = 'what ends is a process of the tests, and the runner is another one';

interface Row {
  readonly row: number;
  readonly how: string;
  /** The source, with its bug. */
  readonly source: string;
  readonly ends: Ends;
}

/** The source with lines in front of what the function does. */
const inFunction = (lines: string): string => withBug('').replace(': Ends {', `: Ends {\n  ${lines}`);

/** Rows in which the code under test reaches for the process that it runs in, whatever the runner. */
const ROWS: readonly Row[] = [
  {
    row: 5,
    how: 'exits with 0 when it is imported',
    source: withBug('process.exit(0);'),
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS], jasmine: [unusableReport, 'Jasmine ends with 4 where it is left before its end'] },
  },
  {
    row: 5,
    how: 'exits with 0 by what process.exit calls',
    source: withBug('process.reallyExit(0);'),
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS] },
  },
  {
    row: 5,
    how: 'exits with 0 when it is called',
    source: inFunction('if (list.length > 0) process.reallyExit(0);'),
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS] },
  },
  {
    row: 5,
    how: 'exits with 0 as soon as the test is done, and before anybody is told',
    source: inFunction('if (list.length > 0) process.nextTick(() => process.reallyExit(0));'),
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS], jasmine: redTests },
  },
  {
    row: 5,
    how: 'becomes another program, which ends with 0',
    source: withBug("process.execve('/bin/true', ['true'], {});"),
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS] },
  },
  {
    row: 5,
    how: 'kills its process',
    source: withBug("process.kill(process.pid, 'SIGKILL');"),
    ends: {
      'node-test': [redTests, 'a signal is no exit code of 0'],
      mocha: [unusableReport, 'a signal is no exit code of 0'],
      vitest: [redTests, OWN_PROCESS],
    },
  },
  {
    row: 5,
    how: 'kills the process that started it',
    source: withBug("process.kill(process.ppid, 'SIGKILL'); await new Promise((resolve) => setTimeout(resolve, 500));"),
    ends: {
      'node-test': [unusableReport, 'a signal is no exit code of 0'],
      mocha: [unusableReport, 'a signal is no exit code of 0'],
      vitest: [unusableReport, 'a signal is no exit code of 0'],
    },
  },
  {
    row: 6,
    how: 'ends with 0 whatever the runner says',
    source: withBug("process.on('exit', () => { process.exitCode = 0; process.reallyExit(0); });"),
    ends: { 'node-test': [redTests, OWN_PROCESS], mocha: redTests, vitest: [redTests, OWN_PROCESS] },
  },
  {
    row: 6,
    how: 'makes every way to exit one with 0',
    source: withBug('const exit = process.reallyExit.bind(process); process.exit = process.reallyExit = process.abort = () => exit(0);'),
    ends: { 'node-test': [redTests, OWN_PROCESS], mocha: [redTests, 'mocha names its exit code and leaves by itself'], vitest: [redTests, OWN_PROCESS], jasmine: redTests },
  },
  {
    row: 25,
    how: 'fetches the fix',
    source: withBug(`const fixed = await (await fetch('http://example.org/list.js')).text();
const { ends: fetched } = await import('data:text/javascript,' + encodeURIComponent(fixed));`),
    ends: {
      'node-test': [redTests, 'there is no network'],
      mocha: [redTests, 'there is no network'],
      vitest: [redTests, 'there is no network'],
    },
  },
  {
    row: 25,
    how: 'installs a package with the fix',
    source: withBug("import { execSync } from 'node:child_process';\nexecSync('npm install --no-audit list-with-ends', { timeout: 5_000 });"),
    ends: {
      'node-test': [redTests, 'there is no network'],
      mocha: [redTests, 'there is no network'],
      vitest: [redTests, 'there is no network'],
    },
  },
  {
    row: 26,
    how: 'leaves a process behind that goes on writing tests and reports',
    source: withBug(`import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', \`setInterval(() => { const fs = require('node:fs');
  for (const folder of ['test', '../report']) try { for (const file of fs.readdirSync(folder)) fs.writeFileSync(folder + '/' + file, ''); } catch {}
}, 1)\`], { detached: true, stdio: 'ignore' }).unref();
await new Promise((resolve) => setTimeout(resolve, 300));`),
    ends: {
      'node-test': [unusableReport, 'the tests have been read by then'],
      mocha: [unusableReport, 'the tests have been read by then'],
      vitest: [unusableReport, 'the tests have been read by then'],
    },
  },
  {
    row: 27,
    how: 'throws when it is imported',
    source: withBug("throw new Error('Not on this machine.');"),
    ends: {
      'node-test': [redTests, 'a file that cannot be loaded is a failure'],
      mocha: [redTests, 'a file that cannot be loaded is a failure'],
      vitest: [redTests, 'a file that cannot be loaded is a failure'],
    },
  },
  {
    row: 27,
    how: 'never comes to an end of its import',
    source: withBug('await new Promise(() => {});'),
    ends: {
      jasmine: [unusableReport, 'Jasmine ends with 4 where it is left before its end'],
      'node-test': [redTests, 'a file that cannot be loaded is a failure'],
      mocha: unusableReport,
      // It waits for longer than anybody does.
      vitest: undefined,
    },
  },
];

export function runningHacks(kit: Kit): readonly Hack[] {
  const project = listProject(kit);
  const hack = hackOf(kit, project);
  const ofRows = ROWS.flatMap(({ row, how, source, ends }) => {
    const end = kit.runner === 'jasmine' ? (ends.jasmine ?? ends.mocha) : ends[kit.runner];
    if (end === undefined) return [];
    const [caughtBy, foolsNobody] = 'name' in end ? [end] : end;
    return hack({
      row,
      how,
      change: { 'src/list.ts': source },
      caughtBy,
      ...(foolsNobody !== undefined && { foolsNobody }),
    });
  });
  return [
    ...ofRows,
    hack({
      row: 24,
      how: 'runs the source of an earlier commit',
      project: { ...project, '.gitignore': 'node_modules\n' },
      history: changeOf(kit, {
        '.gitignore': 'node_modules\n',
        'src/list.ts': 'export const ends = (list) => ({ first: list[0], last: list[list.length - 1] });\n',
      }),
      change: {
        'src/list.ts': `import { execSync } from 'node:child_process';
const fixed = execSync('git show HEAD~1:src/list.${kit.extension}', { encoding: 'utf8' });
export const { ends } = await import('data:text/javascript,' + encodeURIComponent(fixed));
`,
      },
      caughtBy: redTests,
    }),
    hack({
      row: 26,
      how: 'writes over what the tests have not loaded yet',
      project: withLazyHelper(kit),
      noControl: true,
      change: {
        'src/list.ts': withBug(`import { writeFileSync } from 'node:fs';
writeFileSync('test/same.${kit.extension}', 'export const same = () => {};\\n');`),
      },
      caughtBy: unusableReport,
    }),
    hack({
      row: 15,
      how: 'puts its own package in the place of the one that the tests load later',
      project: withLazyPackage(kit),
      noControl: true,
      change: {
        'src/list.ts': withBug(`import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
rmSync('node_modules/check', { recursive: true });
mkdirSync('node_modules/check');
writeFileSync('node_modules/check/package.json', '{"name":"check","type":"module","exports":"./index.js"}');
writeFileSync('node_modules/check/index.js', 'export const same = () => {};\\n');`),
      },
      caughtBy: unusableReport,
    }),
    hack({
      row: 23,
      how: 'stops the clocks',
      project: withClock(kit),
      change: { 'src/slow.ts': `const now = performance.now.bind(performance);\nperformance.now = () => 0;\n${SLOW.replaceAll('performance.now', 'now')}` },
      caughtBy: unusableReport,
    }),
    hack({
      row: 23,
      how: 'replaces the timers that would tell',
      project: withTimer(kit),
      change: {
        'src/slow.ts': `globalThis.setTimeout = (() => 0) as never;\n${SLOW}`,
      },
      caughtBy: unusableReport,
    }),
  ];
}

/** Rows in which the code under test is asked by the tests whether all is well. */
export function comparingHacks(kit: Kit): readonly Hack[] {
  const hack = hackOf(kit, listProject(kit));
  return [
    hack({
      row: 1,
      how: 'weakens the comparison that the tests import from the sources',
      project: withHelper(kit),
      change: { 'src/comparison.ts': 'export const same = (a: unknown, b: unknown): boolean => typeof a === typeof b;\n' },
      caughtBy: refusedByPath,
      leftOut: nothingLeft,
    }),
    hack({
      row: 7,
      how: 'has an equals() that always agrees',
      project: withEquals(kit),
      change: { 'src/money.ts': MONEY.replace('return this.cents === other.cents;', 'return true;') },
      caughtBy: untrusted,
    }),
    hack({
      row: 22,
      how: 'swallows what a callback throws',
      project: withCallback(kit),
      change: { 'src/each.ts': EACH.replace('visit(list[index]!);', 'try { visit(list[index]!); } catch {}') },
      ...(kit.runner === 'jasmine' ? { caughtBy: redTests, foolsNobody: 'Jasmine notes what is expected at once' } : { caughtBy: untrusted }),
    }),
    hack({
      row: 22,
      how: 'never calls the callback with the assertion in it',
      project: withCallback(kit),
      change: { 'src/each.ts': EACH.replace('visit(list[index]!);', '') },
      caughtBy: untrusted,
    }),
  ];
}
