import { missingTests, redTests, unusableReport, type Defence, type Files, type Hack } from '../hacks.ts';
import { changeOf, hackOf, listProject, listTests, projectOf, withBug, type Kit } from './kit.ts';
import { untrusted } from './untrusted.ts';

/** What becomes of a hack by the three runners: what catches it, and why it fools nobody where it does not. */
type Ends = Readonly<Record<Kit['runner'], Defence | readonly [Defence, foolsNobody: string] | undefined>>;

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
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS] },
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
    ends: { 'node-test': missingTests, mocha: unusableReport, vitest: [redTests, OWN_PROCESS] },
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
    ends: { 'node-test': [redTests, OWN_PROCESS], mocha: [redTests, 'mocha names its exit code and leaves by itself'], vitest: [redTests, OWN_PROCESS] },
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
    const end = ends[kit.runner];
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

/**
 * What is not caught yet: the negative control asks for the opposite of what a product's own comparison says, and does not look into a
 * callback. It would have to alter the value that is compared, and to let the failure out where it comes about.
 */
export function notCaught(kit: Kit): readonly Hack[] {
  const hack = hackOf(kit, listProject(kit));
  return [
  hack({
    row: 1,
    how: 'weakens the comparison that the tests import from the sources',
    project: withHelper(kit),
    change: { 'src/comparison.ts': 'export const same = (a: unknown, b: unknown): boolean => typeof a === typeof b;\n' },
    caughtBy: untrusted,
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
    change: {
      'src/each.ts': EACH.replace('visit(list[index]!);', 'try { visit(list[index]!); } catch {}'),
    },
    caughtBy: untrusted,
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

const withLazyHelper = (kit: Kit): Files =>
  projectOf(kit, {
    'src/list.ts': withBug(''),
    'test/same.ts': "import assert from 'node:assert/strict';\nexport const same = (a: unknown, b: unknown): void => assert.deepEqual(a, b);\n",
    'test/list.test.ts': lazily(kit, `./same.${kit.extension}`),
  });

const withLazyPackage = (kit: Kit): Files => ({
  ...projectOf(kit, { 'src/list.ts': withBug(''), 'test/list.test.ts': lazily(kit, 'check') }),
  'node_modules/check/package.json': '{"name":"check","type":"module","exports":"./index.js"}',
  'node_modules/check/index.js': "import assert from 'node:assert/strict';\nexport const same = (a, b) => assert.deepEqual(a, b);\n",
});

const lazily = (kit: Kit, module: string): string =>
  listTests(kit, (actual, expected) => `const { same } = await import('${module}'); same(${actual}, ${expected});`).replace(
    "outer ones', () =>",
    "outer ones', async () =>",
  );

const withHelper = (kit: Kit): Files =>
  projectOf(kit, {
    'src/list.ts': withBug(''),
    'src/comparison.ts': 'export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);\n',
    'test/list.test.ts': listTests(kit, (actual, expected) => kit.ok(`same(${actual}, ${expected})`)).replace(
      'import { ends }',
      "import { same } from '../src/comparison.ts';\nimport { ends }",
    ),
  });

const MONEY = `export class Money {
  readonly cents: number;

  constructor(cents: number) {
    this.cents = cents;
  }

  plus(other: Money): Money {
    return new Money(this.cents - other.cents);
  }

  equals(other: Money): boolean {
    return this.cents === other.cents;
  }
}
`;

const withEquals = (kit: Kit): Files =>
  projectOf(kit, {
    'src/money.ts': MONEY,
    'test/money.test.ts': `${kit.imports}import { Money } from '../src/money.ts';
describe('money', () => {
  it('adds', () => { ${kit.ok('new Money(200).plus(new Money(100)).equals(new Money(300))')} });
});
`,
  });

const EACH = `export function each(list: readonly number[], visit: (item: number) => void): void {
  for (let index = 0; index < list.length; index += 1) {
    visit(list[index]!);
    list = list.slice(1);
  }
}
`;

const withCallback = (kit: Kit): Files =>
  projectOf(kit, {
    'src/each.ts': EACH,
    'test/each.test.ts': `${kit.imports}import { each } from '../src/each.ts';
describe('each', () => {
  it('visits the items in order', () => {
    let seen = 0;
    each([1, 2, 3], (item) => { seen += 1; ${kit.equal('item', 'seen')} });
  });
  it('visits numbers', () => { each([7, 7, 7], (item) => { ${kit.equal('item', '7')} }); });
});
`,
  });

/** Takes a tenth of a second where an instant would do. */
const SLOW = `export function work(): number {
  const until = performance.now() + 100;
  while (performance.now() < until);
  return 1;
}
`;

const withClock = (kit: Kit): Files =>
  projectOf(kit, {
    'src/slow.ts': SLOW,
    'test/slow.test.ts': `${kit.imports}import { work } from '../src/slow.ts';
describe('work', () => {
  it('takes an instant', () => {
    const before = performance.now();
    work();
    ${kit.ok('performance.now() - before < 50')}
  });
});
`,
  });

const withTimer = (kit: Kit): Files =>
  projectOf(kit, {
    'src/slow.ts': SLOW,
    'test/slow.test.ts': `${kit.imports}import { work } from '../src/slow.ts';
describe('work', () => {
  it('takes an instant', async () => {
    let isLate = false;
    const timer = setTimeout(() => { isLate = true; }, 50);
    work();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    clearTimeout(timer);
    ${kit.equal('isLate', 'false')}
  });
});
`,
  });
