import { describe, it } from 'vitest';
import { trySandbox } from '../setup.ts';
import { expectHonest, installed, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const BASKET = `export class Basket {
  #lines = [];
  #listeners = new Set();

  add(name, price, count = 1) {
    if (!(price >= 0)) throw new RangeError(\`price of \${name} is \${price}\`);
    this.#lines.push({ name, price, count });
    for (const listener of this.#listeners) listener(name);
    return this;
  }

  get total() {
    return this.#lines.reduce((sum, { price }) => sum + price, 0);
  }

  get names() {
    return this.#lines.map(({ name }) => name);
  }

  onAdd(listener) {
    this.#listeners.add(listener);
  }
}
`;
const BASKET_FIX = { 'src/basket.js': ['{ price }) => sum + price', '{ price, count }) => sum + price * count'] } as const;
const MODULE = '{"type":"module","scripts":{"test":"node --test"}}';

const PROJECTS: Record<string, HonestFix> = {
  'suites, subtests and hooks of all kinds, tests from a table, skipped and later ones': {
    files: {
      'package.json': MODULE,
      'src/basket.js': BASKET,
      'test/basket.test.js': `
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, suite, test } from 'node:test';
import { Basket } from '../src/basket.js';

describe('a basket', () => {
  let basket;
  const closed = [];
  before(() => closed.push('opened'));
  after(() => assert.ok(closed.length > 3));
  beforeEach(() => { basket = new Basket(); });
  afterEach(() => closed.push(basket.total));

  it('is empty', () => assert.equal(basket.total, 0));

  it('adds up', () => {
    basket.add('apple', 2, 3).add('pear', 1);
    assert.equal(basket.total, 7);
    assert.deepEqual(basket.names, ['apple', 'pear']);
  });

  describe('in a deeper suite', () => {
    it('refuses', () => assert.throws(() => basket.add('x', -1), { name: 'RangeError', message: 'price of x is -1' }));
    it.skip('never', () => assert.fail());
    it.todo('later');
    it('is not done', { todo: 'some day' }, () => assert.equal(basket.total, 1));
  });
});

suite('from a table', () => {
  for (const [price, count, total] of [[1, 1, 1], [2, 5, 10], [0, 9, 0]]) {
    test(\`\${count} for \${price}\`, () => assert.strictEqual(new Basket().add('a', price, count).total, total));
  }
});

test('with subtests', async (t) => {
  const basket = new Basket();
  await t.test('one', () => assert.ok(basket.add('a', 1).total === 1));
  await t.test('two', async (t) => {
    await t.test('deeper', () => assert.equal(basket.add('b', 1, 2).total, 3));
  });
  t.diagnostic(\`\${basket.names.length} lines\`);
});

test('of one name', () => assert.equal(new Basket().total, 0));
test('of one name', () => assert.equal(new Basket().add('a', 1, 4).total, 4));
`,
    },
    fix: BASKET_FIX,
    command: 'node --test',
    mended: ['a basket > adds up', 'from a table > 5 for 2', 'with subtests', 'with subtests > two', 'with subtests > two > deeper', 'of one name (2)'].map(
      (name) => `test/basket.test.js > ${name}`,
    ),
  },

  'mocks of functions, methods, timers and dates, a plan, promises and callbacks': {
    files: {
      'package.json': MODULE,
      'src/basket.js': BASKET,
      'src/retry.js': `import { setTimeout as sleep } from 'node:timers/promises';
export const later = (delay, action) => setTimeout(action, delay * 100);
export async function retry(action, times) {
  for (let round = 1; ; round += 1) {
    try {
      return await action(round);
    } catch (error) {
      if (round > times) throw error;
      await sleep(1);
    }
  }
}
export const stamp = () => new Date().toISOString();
`,
      'test/retry.test.js': `
import assert from 'node:assert';
import { mock, test } from 'node:test';
import { later, retry, stamp } from '../src/retry.js';

test('waits for seconds', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const action = t.mock.fn();
  later(2, action);
  t.mock.timers.tick(1999);
  assert.strictEqual(action.mock.callCount(), 0);
  t.mock.timers.tick(1);
  assert.strictEqual(action.mock.callCount(), 1);
});

test('tells the time', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  assert.equal(stamp(), '1970-01-01T00:00:00.000Z');
});

test('tries again', async () => {
  const action = mock.fn(async (round) => { if (round < 2) throw new Error('no'); return round; });
  assert.equal(await retry(action, 3), 2);
  assert.deepEqual(action.mock.calls.map((call) => call.arguments), [[1], [2]]);
});

test('gives up', async () => {
  await assert.rejects(retry(async (round) => { throw new Error('no ' + round); }, 2), /^Error: no 2$/);
});

test('with a plan', (t) => {
  t.plan(2);
  t.assert.ok(true);
  t.assert.equal(typeof later, 'function');
});

test('with a callback', (t, done) => setImmediate(done));
`,
    },
    fix: { 'src/retry.js': `import { setTimeout as sleep } from 'node:timers/promises';
export const later = (delay, action) => setTimeout(action, delay * 1_000);
export async function retry(action, times) {
  for (let round = 1; ; round += 1) {
    try {
      return await action(round);
    } catch (error) {
      if (round >= times) throw error;
      await sleep(1);
    }
  }
}
export const stamp = () => new Date().toISOString();
` },
    command: 'npm test',
    mended: ['test/retry.test.js > waits for seconds', 'test/retry.test.js > gives up'],
  },

  'snapshots in a file': {
    files: {
      'package.json': '{"type":"module"}',
      'page.js': 'export const page = (title) => `<h1>${title}</h1>`;\n',
      'page.test.js': `
import { test } from 'node:test';
import { page } from './page.js';
test('a page', (t) => t.assert.snapshot(page('a < b')));
test('a plain page', (t) => t.assert.snapshot({ html: page('a') }));
`,
      'page.test.js.snapshot': 'exports[`a page 1`] = `\n"<h1>a &lt; b</h1>"\n`;\n\nexports[`a plain page 1`] = `\n{\n  "html": "<h1>a</h1>"\n}\n`;\n',
    },
    fix: { 'page.js': ['${title}', "${title.replaceAll('<', '&lt;')}"] },
    command: 'node --test',
    mended: ['page.test.js > a page'],
    noControl: 'what is expected stands in a file of snapshots',
  },

  'TypeScript, CommonJS, a loopback server, child processes, workers and files beside the sources': {
    files: {
      'package.json': MODULE,
      'src/shout.ts': 'export const shout = (text: string): string => text.toLowerCase();\n',
      'src/server.mts': `import { createServer, type Server } from 'node:http';
import { shout } from './shout.ts';
export const serve = (): Server => createServer((request, response) => response.end(shout(decodeURI(request.url ?? '').slice(1))));
`,
      'src/command.cjs': "const { shout } = require('./shout.ts');\nconsole.log(shout(process.argv[2]));\n",
      'tests/shout.test.mts': `
import assert from 'node:assert';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { serve } from '../src/server.mts';
import { shout } from '../src/shout.ts';

test('over a loopback', async (t) => {
  const server = serve();
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const answer = await fetch(\`http://127.0.0.1:\${(server.address() as AddressInfo).port}/hi%20you\`);
  assert.equal(await answer.text(), 'HI YOU');
});

test('in a child', () => assert.equal(execFileSync(process.execPath, ['src/command.cjs', 'a'], { encoding: 'utf8' }), 'A\\n'));

test('with a runner of its own inside', () => {
  writeFileSync('inner.cjs', "require('node:test').test('inner', () => {})");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  assert.match(execFileSync(process.execPath, ['--test', '--test-reporter=tap', 'inner.cjs'], { encoding: 'utf8', env }), /# pass 1/);
});

test('in a worker', async () => {
  const worker = new Worker("require('node:worker_threads').parentPort.postMessage('x')", { eval: true });
  assert.deepEqual((await once(worker, 'message')).map(shout), ['X']);
});

test('beside the sources', () => {
  mkdirSync('src/out', { recursive: true });
  writeFileSync('src/out/last.txt', shout('last'));
  assert.equal(readFileSync('src/out/last.txt', 'utf8'), 'LAST');
});
`,
    },
    fix: { 'src/shout.ts': ['toLowerCase', 'toUpperCase'] },
    command: "node --test 'tests/**/*.test.mts'",
    mended: ['over a loopback', 'in a child', 'in a worker', 'beside the sources'].map((name) => `tests/shout.test.mts > ${name}`),
  },

  'a file that could not be loaded for want of an export, and one that ends its process for want of a module': {
    files: {
      'package.json': MODULE,
      'src/basket.js': BASKET.replace(/ {2}get total\(\) \{\n.*\n {2}\}\n/, ''),
      'test/basket.test.js': `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Basket, emptyBasket } from '../src/basket.js';
test('empty', () => assert.deepEqual(emptyBasket().names, []));
test('total', () => assert.equal(new Basket().add('a', 2, 2).total, 4));
`,
      'test/format.test.js': `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format } from '../src/format.js';
test('format', () => assert.equal(format(3), '3.00'));
`,
      'test/other.test.js': "import { test } from 'node:test';\ntest('other', () => {});\n",
    },
    fix: {
      'src/basket.js': `${BASKET.replace('{ price }) => sum + price', '{ price, count }) => sum + price * count')}\nexport const emptyBasket = () => new Basket();\n`,
      'src/format.js': 'export const format = (number) => number.toFixed(2);\n',
    },
    command: 'node --test',
    mended: ['test/basket.test.js > empty', 'test/basket.test.js > total', 'test/format.test.js > format'],
  },

  'hooks that failed, of a suite and of a file': {
    files: {
      'package.json': MODULE,
      'src/open.js': 'export const open = () => { throw new Error("later"); };\n',
      'test/suite.test.js': `
import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { open } from '../src/open.js';
describe('all', () => {
  let opened;
  before(() => { opened = open(); });
  it('is empty', () => assert.equal(opened.size, 0));
  it('holds', () => assert.equal(opened.set('a', 2).get('a'), 2));
});
describe('each', () => {
  let opened;
  beforeEach(async () => { opened = await open(); });
  it('is empty', () => assert.equal(opened.size, 0));
});
it('is not set up', () => assert.ok(open));
`,
      'test/file.test.js': `
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open } from '../src/open.js';
let opened;
before(() => { opened = open(); });
after(() => opened.clear());
test('is empty', () => assert.equal(opened.size, 0));
`,
    },
    fix: { 'src/open.js': 'export const open = () => new Map();\n' },
    command: 'node --test',
    mended: ['suite.test.js > all > is empty', 'suite.test.js > all > holds', 'suite.test.js > each > is empty', 'file.test.js > is empty'].map(
      (name) => `test/${name}`,
    ),
  },

  'a script with a set-up module, options, another script before it, and coverage': {
    files: {
      'package.json': JSON.stringify({
        type: 'module',
        scripts: {
          pretest: 'npm run -s build',
          build: 'node build.js',
          test: 'cross=1 node --import ./test/setup.js --experimental-test-coverage --test-concurrency=1 --test-reporter=spec --test test/*.test.js',
        },
      }),
      'build.js': "import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';\nmkdirSync('dist', { recursive: true });\nwriteFileSync('dist/index.js', readFileSync('src/index.js'));\n",
      'src/index.js': 'export const sum = (...numbers) => numbers.reduce((a, b) => a + b);\n',
      'test/setup.js': "import assert from 'node:assert/strict';\nglobalThis.expectEqual = (found, expected) => assert.equal(found, expected);\nprocess.env.READY = 'yes';\n",
      'test/sum.test.js': `
import { test } from 'node:test';
import { sum } from '../dist/index.js';
test('sum', () => expectEqual(sum(1, 2), 3));
test('of none', () => expectEqual(sum(), 0));
test('ready', () => expectEqual(process.env.READY, 'yes'));
`,
    },
    fix: { 'src/index.js': ['a + b)', 'a + b, 0)'] },
    command: 'npm test',
    mended: ['test/sum.test.js > of none'],
    noControl: 'the assertion is a global of the set-up module',
  },

  'tests that are a program, started without --test, and variables of the command': {
    files: {
      'package.json': '{"type":"module","scripts":{"test":"NODE_OPTIONS=--stack-trace-limit=50 DEEP=1 node test/index.js"}}',
      'half.js': 'export const half = (number) => number / 3;\n',
      'test/index.js': "import './half.js';\nimport './more.js';\n",
      'test/half.js': "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { half } from '../half.js';\ntest('half', () => assert.equal(half(4), 2));\n",
      'test/more.js': "import { test } from 'node:test';\ntest('more', () => { if (process.env.DEEP !== '1' || Error.stackTraceLimit !== 50) throw new Error('no'); });\n",
    },
    fix: { 'half.js': ['/ 3', '/ 2'] },
    command: 'npm test',
    mended: ['test/half.js > half'],
  },

  'properties by fast-check, checks that live in helpers, tests that assert nothing, and names with separators of lines': {
    files: {
      ...installed('fast-check', 'pure-rand'),
      'package.json': MODULE,
      'src/runs.js': 'export const encode = (text) => text.match(/(.)\\1*/gsu) ?? [];\nexport const decode = (runs) => runs.map((run) => run[0]).join("");\n',
      'test/check.js': "import assert from 'node:assert';\nexport const checkRoundTrip = (codec, text) => assert.equal(codec.decode(codec.encode(text)), text);\n",
      'test/runs.test.js': `
import { test } from 'node:test';
import fc from 'fast-check';
import * as codec from '../src/runs.js';
import { checkRoundTrip } from './check.js';

test('round trips', () => fc.assert(fc.property(fc.array(fc.constantFrom('a', 'b', 'c')), (letters) => {
  return codec.decode(codec.encode(letters.join(''))) === letters.join('');
}), { numRuns: 200 }));
test('a round trip', () => checkRoundTrip(codec, 'aab'));
test('does not throw', () => { codec.encode('a'); });
test('takes \\u2028 for a letter', () => checkRoundTrip(codec, '\\u2028'));
test('throws by hand', () => { if (codec.decode(['bb']).length < 2) throw new Error('not two'); });
`,
    },
    fix: { 'src/runs.js': ['run[0]', 'run'] },
    command: 'node --test',
    mended: ['round trips', 'a round trip', 'throws by hand'].map((name) => `test/runs.test.js > ${name}`),
    noControl: 'no value stands in the tests that were mended',
  },
};

describe.skipIf(!available)(`an honest fix of a project of node:test is verified, with (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
    await expectHonest(honest);
  });
});
