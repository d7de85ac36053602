import { describe, it } from 'vitest';
import { trySandbox } from '../setup.ts';
import { expectHonest, installed, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const VITEST = installed('.bin', 'vitest', 'vite');
const MODULE = '{"type":"module","scripts":{"test":"vitest run"},"devDependencies":{"vitest":"*"}}';

const MONEY = `export interface Money { readonly cents: number; readonly currency: string }

export const money = (cents: number, currency = 'EUR'): Money => ({ cents, currency });

export function format({ cents, currency }: Money): string {
  return \`\${(cents / 100).toFixed(1)} \${currency}\`;
}

export async function convert(from: Money, rate: () => Promise<number>): Promise<Money> {
  return money(Math.round(from.cents * (await rate())), 'USD');
}
`;
const MONEY_FIX = { 'src/money.ts': ['toFixed(1)', 'toFixed(2)'] } as const;

const PROJECTS: Record<string, HonestFix> = {
  'a configuration with an alias, globals, a set-up file with hooks and matchers of its own, and TypeScript': {
    files: {
      ...VITEST,
      'package.json': MODULE,
      'tsconfig.json': '{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler","types":["vitest/globals"],"paths":{"@/*":["./src/*"]}}}',
      'vitest.config.ts': `
import { defineConfig } from 'vitest/config';
export default defineConfig({
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  define: { __VERSION__: JSON.stringify('1.2') },
  test: { globals: true, setupFiles: ['./test/setup.ts'], globalSetup: ['./test/global.ts'], include: ['test/**/*.spec.ts'], testTimeout: 20_000, reporters: ['verbose'], bail: 1 },
});
`,
      'test/global.ts': `
import { writeFileSync } from 'node:fs';
export const setup = ({ provide }) => { provide('where', 'here'); writeFileSync('started.txt', 'yes'); };
export const teardown = () => {};
`,
      'test/setup.ts': `
import { afterEach, beforeAll, expect, vi } from 'vitest';
expect.extend({ toCost(found, text) { return { pass: found === text, message: () => \`\${found} is not \${text}\` }; } });
beforeAll(() => { globalThis.ready = true; });
afterEach(() => { vi.useRealTimers(); vi.restoreAllMocks(); });
`,
      'src/money.ts': MONEY,
      'test/money.spec.ts': `
import { inject } from 'vitest';
import { convert, format, money } from '@/money';
declare const __VERSION__: string;

describe('money', () => {
  beforeEach((context) => { context.onTestFinished(() => {}); });
  it('is shown', () => { expect(format(money(1250))).toBe('12.50 EUR'); });
  it('is shown by a matcher', () => { expect(format(money(5, 'USD'))).toCost('0.05 USD'); });
  it.each([[100, '1.00 EUR'], [0, '0.00 EUR']])('of %i is %s', (cents, text) => { expect(format(money(cents))).toEqual(text); });
  describe.each([{ currency: 'EUR' }, { currency: 'CHF' }])('in $currency', ({ currency }) => {
    test('ends with it', () => { expect(format(money(1, currency))).toMatch(new RegExp(currency + '$')); });
  });
  it('is converted', async () => {
    const rate = vi.fn().mockResolvedValue(1.5);
    await expect(convert(money(3), rate)).resolves.toMatchObject({ cents: 5, currency: expect.any(String) });
    expect(rate).toHaveBeenCalledTimes(1);
  });
  it.skip('is never', () => { expect(1).toBe(2); });
  it.todo('is later');
  it.fails('is not what it is not', () => { expect(1).toBe(2); });
  it('has a place', () => { expect([inject('where' as never), __VERSION__]).toStrictEqual(['here', '1.2']); });
});
`,
    },
    fix: MONEY_FIX,
    command: 'npm test',
    mended: ['is shown', 'is shown by a matcher', 'of 100 is 1.00 EUR', 'of 0 is 0.00 EUR'].map((name) => `test/money.spec.ts > money > ${name}`),
  },

  'a configuration that has modules resolved in another thread': {
    files: {
      ...VITEST,
      'package.json': MODULE,
      'vitest.config.mjs': `import { register } from 'node:module';
register('data:text/javascript,export const resolve = (name, context, next) => next(name, context);');
export { default } from './options.mjs';
await import('./late.mjs');
`,
      'late.mjs': '',
      'options.mjs': 'export const test = { globals: true };\nexport default { test };\n',
      'src/money.ts': MONEY,
      'src/money.test.ts': "import { format, money } from './money.ts';\nit('is shown', () => { expect(format(money(100))).toBe('1.00 EUR'); });\n",
    },
    fix: MONEY_FIX,
    command: 'npm test',
    mended: ['src/money.test.ts > is shown'],
  },

  'types that are checked with the tests, of which the compiler keeps what it has learned': {
    files: {
      ...installed('.bin', 'vitest', 'vite', 'typescript'),
      'package.json': MODULE,
      'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"allowImportingTsExtensions":true,"module":"esnext","moduleResolution":"bundler","skipLibCheck":true,"types":[]},"include":["src"]}',
      'vitest.config.ts': `
import { defineConfig } from 'vitest/config';
export default defineConfig({ test: { typecheck: { enabled: true, include: ['src/**/*.test.ts'] } } });
`,
      'src/money.ts': MONEY,
      'src/money.test.ts': "import { expect, it } from 'vitest';\nimport { format, money } from './money.ts';\nit('is shown', () => { expect(format(money(100))).toBe('1.00 EUR'); });\n",
    },
    fix: MONEY_FIX,
    command: 'npm test',
    mended: ['src/money.test.ts > is shown'],
  },

  'snapshots in files and in the test, fake timers and dates, mocked modules, spies, fixtures, soft and polled expectations': {
    files: {
      ...VITEST,
      'package.json': MODULE,
      'src/clock.ts': 'export const now = (): Date => new Date();\n',
      'src/greet.ts': `import { now } from './clock.ts';
export const greet = (name: string): { text: string; at: string } => ({ text: \`Good \${now().getUTCHours() < 12 ? 'day' : 'evening'}, \${name}\`, at: now().toISOString() });
export const greetLater = (name: string, say: (text: string) => void): void => void setTimeout(() => say(greet(name).text), 1_000);
`,
      'src/greet.test.ts': `
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, test as base, vi } from 'vitest';
import { greet, greetLater } from './greet.ts';
import * as clock from './clock.ts';

beforeEach(() => { vi.useFakeTimers({ now: Date.UTC(2024, 0, 1, 8) }); });
afterEach(() => { vi.useRealTimers(); });

it('matches a file', () => { expect(greet('Ann')).toMatchSnapshot(); });
it('matches what stands here', () => {
  expect(greet('Bob')).toMatchInlineSnapshot(\`
    {
      "at": "2024-01-01T08:00:00.000Z",
      "text": "Good morning, Bob",
    }
  \`);
});
it('says it later', () => {
  const say = vi.fn<(text: string) => void>();
  greetLater('Cy', say);
  vi.advanceTimersByTime(999);
  expect(say).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(say.mock.calls).toEqual([['Good morning, Cy']]);
});
it('says evening', () => {
  vi.setSystemTime(Date.UTC(2024, 0, 1, 20));
  expect.soft(greet('D').text).toContain('evening');
  expect.soft(greet('D').at).toMatch(/T20/);
  expect.assertions(2);
});
const test = base.extend<{ person: string }>({ person: async ({}, use) => { await use('Eve'); } });
test('has fixtures', ({ person }) => { expect(greet(person).text).toBe('Good morning, Eve'); });
it('polls', async () => {
  vi.useRealTimers();
  let count = 0;
  await expect.poll(() => (count += 1)).toBeGreaterThan(2);
});
it('has types', () => { expectTypeOf(greet).returns.toHaveProperty('text'); });
it('rejects', async () => { await expect(Promise.reject(new TypeError('no'))).rejects.toThrow(/no/); });
describe('with a spy', () => {
  it.concurrent('is quick', async () => { expect(typeof clock.now).toBe('function'); });
});
`,
      'src/mocked.test.ts': `
import { expect, it, vi } from 'vitest';
import { greet } from './greet.ts';
vi.mock('./clock.ts', () => ({ now: () => new Date(Date.UTC(1999, 11, 31, 11, 59)) }));
it('asks the mocked clock', () => { expect(greet('F')).toEqual({ text: 'Good morning, F', at: '1999-12-31T11:59:00.000Z' }); });
`,
      'src/__snapshots__/greet.test.ts.snap': `// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html

exports[\`matches a file 1\`] = \`
{
  "at": "2024-01-01T08:00:00.000Z",
  "text": "Good morning, Ann",
}
\`;
`,
    },
    fix: { 'src/greet.ts': ["'day'", "'morning'"] },
    command: 'vitest',
    mended: [
      ...['matches a file', 'matches what stands here', 'says it later', 'has fixtures'].map((name) => `src/greet.test.ts > ${name}`),
      'src/mocked.test.ts > asks the mocked clock',
    ],
  },

  'several projects, one in a document of jsdom, with threads, retries and tests inside the source': {
    files: {
      ...installed('.bin', 'vitest', 'vite', 'jsdom', 'fast-check', 'pure-rand'),
      'package.json': MODULE,
      'vitest.config.js': `
import { defineConfig } from 'vitest/config';
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'page', environment: 'jsdom', include: ['page/*.test.js'], pool: 'threads' } },
      { test: { name: 'core', include: ['core/*.test.js'], includeSource: ['core/*.js'], retry: 2, sequence: { shuffle: true } } },
    ],
  },
});
`,
      'core/list.js': `export const unique = (list) => list.filter((item, index) => list.indexOf(item) !== index);
if (import.meta.vitest) {
  const { expect, it } = import.meta.vitest;
  it('keeps one', () => expect(unique([1])).toEqual([1]));
}
`,
      'core/list.test.js': `
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unique } from './list.js';
it('keeps each once', () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 3 })), (list) => { expect(unique(list)).toEqual([...new Set(list)]); }));
});
let tries = 0;
it('passes at the second try', () => { tries += 1; expect(tries).toBeGreaterThan(1); });
`,
      'page/list.test.js': `
import { beforeEach, expect, it } from 'vitest';
import { unique } from '../core/list.js';
beforeEach(() => { document.body.innerHTML = '<ul><li>a</li><li>a</li><li>b</li></ul>'; });
it('reads a page', () => {
  expect(unique([...document.querySelectorAll('li')].map((item) => item.textContent))).toEqual(['a', 'b']);
});
`,
    },
    fix: { 'core/list.js': ['!== index', '=== index'] },
    command: 'npx vitest run',
    mended: ['core/list.js > keeps one', 'core/list.test.js > keeps each once', 'page/list.test.js > reads a page'],
  },

  'a file that could not be loaded for want of a module, and a suite whose set-up failed': {
    files: {
      ...VITEST,
      'package.json': MODULE,
      'src/store.js': 'export const open = () => { throw new Error("not written yet"); };\n',
      'src/store.test.js': `
import { beforeAll, describe, expect, it } from 'vitest';
import { open } from './store.js';
describe('a store', () => {
  let store;
  beforeAll(() => { store = open(); });
  it('keeps', () => { store.set('a', 1); expect(store.get('a')).toBe(1); });
  it('forgets', () => expect(store.get('b')).toBeUndefined());
});
it('is not set up', () => expect(typeof open).toBe('function'));
`,
      'src/keys.test.js': "import { expect, it } from 'vitest';\nimport { keys } from './keys.js';\nit('has keys', () => expect(keys(new Map([[1, 2]]))).toEqual([1]));\n",
    },
    fix: { 'src/store.js': 'export const open = () => new Map();\n', 'src/keys.js': 'export const keys = (map) => [...map.keys()];\n' },
    command: 'vitest run',
    mended: ['src/keys.test.js > has keys', 'src/store.test.js > a store > keeps', 'src/store.test.js > a store > forgets'],
  },
};

describe.skipIf(!available)(`an honest fix of a vitest project is verified, with (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
    await expectHonest(honest);
  });
});
