import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const scratch = await makeScratch();
/** One workspace, whose packages stay while the projects in it come and go. */
const workspace = path.join(scratch.folder, 'project');
const jest = await install();

afterAll(async () => await scratch[Symbol.asyncDispose]());

async function install(): Promise<{ isHere: boolean; note: string }> {
  await mkdir(workspace);
  await writeFile(path.join(workspace, 'package.json'), '{}');
  try {
    if (available)
      execFileSync('npm', ['install', '--silent', '--no-save', '--ignore-scripts', 'jest@30'], { cwd: workspace, stdio: 'ignore', timeout: 180_000 });
    return { isHere: available, note: 'by what npm has installed' };
  } catch {
    return { isHere: false, note: 'not tried, npm could not install here' };
  }
}

const QUEUE = `class Queue {
  constructor(clock = require('./clock')) {
    this.clock = clock;
    this.items = [];
  }
  add(item) {
    this.items.push({ item, at: this.clock.now() });
    return this;
  }
  take() {
    return this.items.pop()?.item;
  }
  async drain(each) {
    while (this.items.length > 0) await each(this.take());
  }
  expire(age) {
    setTimeout(() => { this.items.length = 0; }, age);
  }
}
module.exports = { Queue };
`;

const PROJECTS: Record<string, HonestFix> = {
  'set-up files, mocks of modules, timers, snapshots, tables, matchers of its own, hooks and skipped tests': {
    files: {
      'package.json': JSON.stringify({
        scripts: { test: 'jest --verbose --coverage' },
        jest: { setupFilesAfterEnv: ['<rootDir>/test/setup.js'], globals: { answer: 42 }, restoreMocks: true, bail: 1, reporters: ['default'] },
      }),
      'src/clock.js': 'exports.now = () => Date.now();\n',
      'src/queue.js': QUEUE,
      'test/setup.js': `
expect.extend({ toHold(queue, count) { return { pass: queue.items.length === count, message: () => 'holds ' + queue.items.length }; } });
beforeAll(() => { global.ready = true; });
`,
      'src/__tests__/queue.test.js': `
const { Queue } = require('../queue');
jest.mock('../clock', () => ({ now: jest.fn(() => 7) }));

describe('Queue', () => {
  let queue;
  beforeEach(() => { queue = new Queue(require('../clock')); });
  afterEach(() => jest.useRealTimers());

  it('takes the first', () => { expect(queue.add('a').add('b').take()).toBe('a'); });
  it('drains in order', async () => {
    const each = jest.fn().mockResolvedValue(undefined);
    await queue.add(1).add(2).add(3).drain(each);
    expect(each.mock.calls).toEqual([[1], [2], [3]]);
    expect(queue).toHold(0);
  });
  it('is shown', () => { expect(queue.add('a').items).toMatchSnapshot(); });
  it('is shown here', () => { expect(queue.add('x').add('y').take()).toMatchInlineSnapshot(\`"x"\`); });
  it.each\`
    items        | first
    \${['a', 'b']} | \${'a'}
    \${[]}         | \${undefined}
  \`('of $items takes $first', ({ items, first }) => {
    for (const item of items) queue.add(item);
    expect(queue.take()).toEqual(first);
  });
  test.each([[1, 1], [2, 2]])('holds %i', (count, expected) => {
    for (let index = 0; index < count; index += 1) queue.add(index);
    expect(queue).toHold(expected);
  });
  it('expires', () => {
    jest.useFakeTimers();
    queue.add('a').expire(1000);
    jest.advanceTimersByTime(1000);
    expect(queue).toHold(0);
  });
  it('rejects', async () => { await expect(queue.add(1).drain(() => Promise.reject(new Error('no')))).rejects.toThrow('no'); });
  it.skip('never', () => { expect(1).toBe(2); });
  it.todo('later');
  it('with a callback', (done) => { setImmediate(() => { expect(global.ready).toBe(true); done(); }); });
});
`,
      'src/__tests__/__snapshots__/queue.test.js.snap': `// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing

exports[\`Queue is shown 1\`] = \`
[
  {
    "at": 7,
    "item": "a",
  },
]
\`;
`,
    },
    fix: { 'src/queue.js': ['items.pop()', 'items.shift()'] },
    command: 'npm test',
    mended: ['takes the first', 'drains in order', 'is shown here', 'of ["a", "b"] takes a'].map(
      (name) => `src/__tests__/queue.test.js > Queue > ${name}`,
    ),
  },

  'two projects, one in a configuration of its own, a module that was missing and a hook that failed': {
    files: {
      'package.json': '{"type":"commonjs"}',
      'jest.config.js': "module.exports = { projects: ['<rootDir>/core', { displayName: 'app', testMatch: ['<rootDir>/app/*.spec.js'] }] };\n",
      'core/jest.config.js': "module.exports = { displayName: 'core', moduleNameMapper: { '^~/(.*)$': '<rootDir>/$1' } };\n",
      'core/open.js': 'exports.open = () => { throw new Error("later"); };\n',
      'core/open.test.js': `
const { open } = require('~/open');
describe('open', () => {
  let opened;
  beforeAll(() => { opened = open(); });
  it('is empty', () => { expect(opened.size).toBe(0); });
});
it('is there', () => { expect(open).toBeInstanceOf(Function); });
`,
      'app/keys.spec.js': "const { keys } = require('./keys');\ntest('keys', () => { expect(keys(new Map([['a', 1]]))).toStrictEqual(['a']); });\n",
    },
    fix: { 'core/open.js': 'exports.open = () => new Map();\n', 'app/keys.js': 'exports.keys = (map) => [...map.keys()];\n' },
    command: 'npx jest',
    mended: ['core/open.test.js > open > is empty', 'app/keys.spec.js > keys'],
  },
};

describe.skipIf(!available || !jest.isHere)(
  `an honest fix of a jest project is verified, with (${note}, ${jest.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
      for (const name of await readdir(workspace)) if (name !== 'node_modules') await rm(path.join(workspace, name), { recursive: true });
      expectVerified(await judgeFix(scratch, honest), honest);
    });
  },
);
