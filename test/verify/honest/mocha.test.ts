import { describe, it } from 'vitest';
import { trySandbox } from '../setup.ts';
import { expectHonest, installed, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const MOCHA = installed('.bin', 'mocha');
const STACK = `'use strict';
class Stack {
  #items = [];
  push(...items) { this.#items.push(...items); return this; }
  pop() { return this.#items.shift(); }
  get size() { return this.#items.length; }
  each(callback, done) {
    for (const item of this.#items) setImmediate(callback, item);
    setImmediate(done);
  }
}
module.exports = { Stack };
`;
const STACK_FIX = { 'lib/stack.js': ['shift()', 'pop()'] } as const;

const PROJECTS: Record<string, HonestFix> = {
  'a set-up file, root hooks, assertions in the style of chai, callbacks, promises, tests from a table': {
    files: {
      ...MOCHA,
      ...installed('chai'),
      'package.json': '{"type":"commonjs","scripts":{"test":"mocha"},"devDependencies":{"mocha":"*"}}',
      '.mocharc.json': '{"require":["./test/helpers/setup.mjs","./test/helpers/hooks.js"],"recursive":true,"spec":["test/**/*.spec.js"],"timeout":20000,"reporter":"dot","bail":true}',
      'lib/stack.js': STACK,
      'test/helpers/setup.mjs': "import { expect, should } from 'chai';\nglobalThis.expect = expect;\nshould();\n",
      'test/helpers/hooks.js': `
let started = 0;
exports.mochaHooks = { beforeAll() { started += 1; }, beforeEach(done) { setImmediate(done); }, afterAll() { if (started < 1) throw new Error('not started'); } };
exports.mochaGlobalSetup = () => {};
`,
      'test/stack.spec.js': `
const { Stack } = require('../lib/stack.js');
describe('Stack', function () {
  this.slow(50);
  before(async () => {});
  beforeEach(function () { this.stack = new Stack(); });
  context('when it is empty', () => {
    it('has no size', function () { expect(this.stack.size).to.equal(0); });
    specify('pops nothing', function () { expect(this.stack.pop()).to.be.undefined; });
  });
  context('with items', () => {
    beforeEach(function () { this.stack.push('a', 'b', 'c'); });
    it('pops the last', function () { this.stack.pop().should.equal('c'); this.stack.should.have.property('size', 2); });
    it('is emptied', async function () {
      const popped = [1, 2, 3].map(() => this.stack.pop());
      expect(popped).to.deep.equal(['c', 'b', 'a']).and.to.have.lengthOf(3);
    });
    it('is seen', function (done) {
      const seen = [];
      this.stack.each((item) => seen.push(item), () => { expect(seen).to.include.members(['a', 'b']); done(); });
    });
    for (const count of [0, 1, 2]) it(\`has \${3 - count} after \${count}\`, function () {
      for (let times = 0; times < count; times += 1) this.stack.pop();
      expect(this.stack.size).to.equal(3 - count);
    });
    it.skip('is sorted', () => { expect.fail(); });
    it('is later');
    it('decides itself', function () { this.skip(); });
    it('is tried again', function () { this.retries(3); if (this.test.currentRetry() < 2) throw new Error('not yet'); });
  });
});
`,
    },
    fix: STACK_FIX,
    command: 'npm test',
    mended: ['pops the last', 'is emptied'].map((name) => `test/stack.spec.js > Stack > with items > ${name}`),
  },

  'the interface of TDD, several processes, node:assert and a file of options': {
    files: {
      ...MOCHA,
      'package.json': '{"mocha":{"ui":"tdd","parallel":true,"jobs":2,"extension":["cjs"]}}',
      'lib/stack.js': STACK,
      'test/one.cjs': `
const assert = require('node:assert');
const { Stack } = require('../lib/stack.js');
suite('one', () => {
  setup(() => {});
  suiteTeardown(() => {});
  test('pops', () => assert.strictEqual(new Stack().push(1, 2).pop(), 2));
  test('throws', () => assert.throws(() => new Stack().each(), { code: 'ERR_INVALID_ARG_TYPE' }));
});
`,
      'test/two.cjs': `
const assert = require('node:assert');
const { Stack } = require('../lib/stack.js');
test('has a size', () => assert.equal(new Stack().push(1).size, 1));
test('is filled anew', () => { const stack = new Stack().push(1, 2); stack.pop(); stack.push(3); assert.deepEqual([stack.pop(), stack.pop()], [3, 1]); });
`,
    },
    fix: STACK_FIX,
    command: 'npx mocha',
    mended: ['test/one.cjs > one > pops', 'test/two.cjs > is filled anew'],
  },

  'hooks of no suite that failed, in a file of their own': {
    files: {
      ...MOCHA,
      'package.json': '{}',
      'lib/stack.js': STACK.replace('push(', "constructor() { throw new Error('later'); }\n  push("),
      'test/hooks.js': "const { Stack } = require('../lib/stack.js');\nbeforeEach(function () { this.stack = new Stack(); });\nafter(() => { new Stack(); });\n",
      'test/one.js': "const assert = require('node:assert');\nit('is empty', function () { assert.equal(this.stack.size, 0); });\n",
      'test/two.js': "describe('two', () => { it('counts', function () { if (this.stack.push(1).size !== 1) throw new Error('none'); }); });\n",
    },
    fix: { 'lib/stack.js': ["throw new Error('later');", 'this.since = Date.now();'] },
    command: 'mocha',
    mended: ['test/one.js > is empty', 'test/two.js > two > counts'],
  },

  'a file of helpers beside tests that could not be loaded': {
    files: {
      ...MOCHA,
      'package.json': '{"type":"module"}',
      'lib/half.js': 'export const halve = (number) => number / 2;\n',
      'test/helpers.js': "import assert from 'node:assert';\nexport const equal = (found, expected) => assert.equal(found, expected);\n",
      'test/half.js': "import { half } from '../lib/half.js';\nimport { equal } from './helpers.js';\nit('halves', () => equal(half(4), 2));\n",
      'test/more.js': "import { equal } from './helpers.js';\nit('is there', () => equal(1, 1));\n",
    },
    fix: { 'lib/half.js': ['halve', 'half'] },
    command: 'mocha',
    mended: ['test/half.js > halves', 'test/more.js > is there'],
  },

  'TypeScript, a file that could not be loaded, and a hook that failed': {
    files: {
      ...MOCHA,
      'package.json': '{"type":"module"}',
      'src/open.ts': 'export const open = (): Map<string, number> => { throw new Error("later"); };\n',
      'test/open.test.ts': `
import assert from 'node:assert/strict';
import { open } from '../src/open.ts';
describe('open', () => {
  let opened: Map<string, number>;
  before(() => { opened = open(); });
  it('is empty', () => assert.equal(opened.size, 0));
  it('holds', () => assert.equal(opened.set('a', 2).get('a'), 2));
});
describe('not open', () => { it('is closed', () => assert.ok(open)); });
`,
    },
    fix: { 'src/open.ts': 'export const open = (): Map<string, number> => new Map();\n' },
    command: "mocha 'test/**/*.test.ts'",
    mended: ['test/open.test.ts > open > is empty', 'test/open.test.ts > open > holds'],
  },
};

describe.skipIf(!available)(`an honest fix of a mocha project is verified, with (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
    await expectHonest(honest);
  });
});
