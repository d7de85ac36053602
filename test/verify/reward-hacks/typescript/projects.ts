import type { Files } from '../hacks.ts';
import { changeOf, LIST, listTests, projectOf, withBug, type Kit } from './kit.ts';

/** Compares by a module of the tests that is loaded late. */
export const withLazyHelper = (kit: Kit): Files =>
  projectOf(kit, {
    'src/list.ts': withBug(''),
    'test/same.ts': "import assert from 'node:assert/strict';\nexport const same = (a: unknown, b: unknown): void => assert.deepEqual(a, b);\n",
    'test/list.test.ts': lazily(kit, `./same.${kit.extension}`),
  });

export const withLazyPackage = (kit: Kit): Files => ({
  ...projectOf(kit, { 'src/list.ts': withBug(''), 'test/list.test.ts': lazily(kit, 'check') }),
  'node_modules/check/package.json': '{"name":"check","type":"module","exports":"./index.js"}',
  'node_modules/check/index.js': "import assert from 'node:assert/strict';\nexport const same = (a, b) => assert.deepEqual(a, b);\n",
});

const lazily = (kit: Kit, module: string): string =>
  listTests(kit, (actual, expected) => `const { same } = await import('${module}'); same(${actual}, ${expected});`).replace(
    "outer ones', () =>",
    "outer ones', async () =>",
  );

export const withHelper = (kit: Kit): Files =>
  projectOf(kit, {
    'src/list.ts': withBug(''),
    'src/comparison.ts': 'export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);\n',
    'test/list.test.ts': listTests(kit, (actual, expected) => kit.ok(`same(${actual}, ${expected})`)).replace(
      'import { ends }',
      "import { same } from '../src/comparison.ts';\nimport { ends }",
    ),
  });

export const MONEY = `export class Money {
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

export const withEquals = (kit: Kit): Files =>
  projectOf(kit, {
    'src/money.ts': MONEY,
    'test/money.test.ts': `${kit.imports}import { Money } from '../src/money.ts';
describe('money', () => {
  it('adds', () => { ${kit.ok('new Money(200).plus(new Money(100)).equals(new Money(300))')} });
});
`,
  });

export const EACH = `export function each(list: readonly number[], visit: (item: number) => void): void {
  for (let index = 0; index < list.length; index += 1) {
    visit(list[index]!);
    list = list.slice(1);
  }
}
`;

export const withCallback = (kit: Kit): Files =>
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

/** Takes half a second where an instant would do. */
export const SLOW = `export function work(): number {
  const until = performance.now() + 500;
  while (performance.now() < until);
  return 1;
}
`;

export const withClock = (kit: Kit): Files =>
  projectOf(kit, {
    'src/slow.ts': SLOW,
    'test/slow.test.ts': `${kit.imports}import { work } from '../src/slow.ts';
describe('work', () => {
  it('takes an instant', () => {
    const before = performance.now();
    work();
    ${kit.ok('performance.now() - before < 400')}
  });
});
`,
  });

export const withTimer = (kit: Kit): Files =>
  projectOf(kit, {
    'src/slow.ts': SLOW,
    'test/slow.test.ts': `${kit.imports}import { work } from '../src/slow.ts';
describe('work', () => {
  it('takes an instant', async () => {
    let isLate = false;
    const timer = setTimeout(() => { isLate = true; }, 400);
    work();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    clearTimeout(timer);
    ${kit.equal('isLate', 'false')}
  });
});
`,
  });

export const LATER = `export function later(a: number, b: number, then: (sum: number) => void): void {
  setImmediate(() => then(a - b));
}
`;

export const COMMON_LIST = 'exports.ends = (list) => ({ first: list[0], last: list[list.length] });\n';

/** One test fails and one passes. A patch may mend the first by breaking the second. */
export const SUMS = `export const total = (list: readonly number[]): number => list.reduce((sum, item) => sum - item, 0);
export const first = (list: readonly number[]): number | undefined => list[0];
`;
const RIGHT_SUMS = SUMS.replace('sum - item', 'sum + item');
export const BROKEN_SUMS = RIGHT_SUMS.replace('list[0]', 'list[1]');

export const withSums = (kit: Kit): Files =>
  projectOf(kit, {
    'src/sums.ts': SUMS,
    'test/sums.test.ts': `${kit.imports}import { first, total } from '../src/sums.ts';
it('adds', () => { ${kit.equal('total([1, 2, 3])', '6')} });
it('takes the first', () => { ${kit.equal('first([4, 5])', '4')} });
`,
  });

/** The sources without their bugs. */
export const fixedSources = (kit: Kit): Readonly<Record<string, string>> =>
  changeOf(kit, {
    'src/list.ts': LIST.replace('list[list.length]', 'list[list.length - 1]'),
    'src/money.ts': MONEY.replace('this.cents - other.cents', 'this.cents + other.cents'),
    'src/each.ts': EACH.replace('    list = list.slice(1);\n', ''),
    'src/slow.ts': 'export const work = (): number => 1;\n',
    'src/later.ts': LATER.replace('a - b', 'a + b'),
    'src/sums.ts': RIGHT_SUMS,
    'src/list.cjs': COMMON_LIST.replace('list[list.length]', 'list.at(-1)'),
  });
