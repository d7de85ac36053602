import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from '../honest/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { run, tryFetch } from './setup.ts';

/* Runners that are not installed here, by their published packages. */
const { available, note } = await trySandbox();
const scratch = await makeScratch();
afterAll(async () => await scratch[Symbol.asyncDispose]());

const tools = path.join(scratch.folder, 'tools');
const fetched = await tryFetch(available, 'npm', async () => {
  await scratch.project({ 'package.json': '{}' }, 'tools');
  await run(tools, 'npm', ['install', '--silent', '--no-save', '--ignore-scripts', 'ava@6.4.1', 'tape@5.9.0']);
});

const LIST = 'export const last = (list) => list[list.length];\nexport const count = (list) => list.length;\n';
const FIX = { 'list.js': ['list[list.length]', 'list.at(-1)'] } as const;

const PROJECTS: Record<string, HonestFix> = {
  ava: {
    files: {
      'package.json': '{"type":"module","scripts":{"test":"ava"},"devDependencies":{"ava":"6"}}',
      'list.js': LIST,
      'test/list.js': "import test from 'ava';\nimport { count, last } from '../list.js';\ntest('last', t => { t.is(last([1, 2]), 2); });\ntest.serial('of # none › at all', t => { t.deepEqual([last([[3]])], [[3]]); });\ntest('count', t => { t.true(count([1]) === 1); process.stdout.write('not ok 9 - none\\n'); });\ntest.skip('later', t => { t.fail(); });\ntest.todo('once');\ntest.failing('never', t => { t.is(1, 2); });\n",
      'test/more.js': "import test from 'ava';\nimport { last } from '../list.js';\ntest('texts', t => { t.log(last('ab')); t.is(last('ab'), 'b'); });\n",
    },
    fix: FIX,
    command: 'npm test',
    mended: ['test/list.js > last', 'test/list.js > of # none › at all', 'test/more.js > texts'],
  },
  tape: {
    files: {
      'package.json': '{"type":"module","scripts":{"test":"tape \'test/*.js\'"},"devDependencies":{"tape":"5"}}',
      'list.js': LIST,
      'test/list.js': "import test from 'tape';\nimport { count, last } from '../list.js';\ntest('list', (t) => {\n  t.test('last', (st) => { st.plan(1); st.equal(last([1, 2]), 2); });\n  t.test('count', (st) => { st.ok(count([1]) === 1, 'one'); st.end(); });\n  t.end();\n});\ntest.skip('later', (t) => { t.fail(); t.end(); });\ntest('texts', async (t) => { t.comment('x'); t.deepEqual([last('ab')], ['b']); });\n",
      'test/more.cjs': "const test = require('tape');\ntest('is not run', (t) => { t.fail(); t.end(); });\n",
    },
    fix: FIX,
    command: 'npm test',
    mended: ['test/list.js > list > last', 'test/list.js > texts'],
  },
  'tape, which an error ends before its other tests,': {
    files: {
      'package.json': '{"type":"module","scripts":{"test":"tape \'test/*.js\'"},"devDependencies":{"tape":"5"}}',
      'list.js': 'export const last = (list) => list[list.length].value;\nexport const count = (list) => list.length;\n',
      'test/list.js': "import test from 'tape';\nimport { count, last } from '../list.js';\ntest('last', (t) => { t.equal(last([{ value: 2 }]), 2); t.end(); });\ntest('all', (t) => {\n  t.test('count', (st) => { st.equal(count([1]), 1); st.end(); });\n  t.end();\n});\n",
    },
    fix: FIX,
    command: 'npm test',
    mended: ['test/list.js > last', 'test/list.js > all > count'],
  },
};

describe.skipIf(!fetched.isHere)(`tests of runners as they are published (${note}, ${fetched.note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(PROJECTS))('of %s verify an honest fix, and none that ends the process', async (name, honest) => {
    const before = async (workspace: string): Promise<void> => void (await run(tools, 'cp', ['-al', 'node_modules', workspace]));
    expectVerified(await judgeFix(scratch, honest, { name, before }), honest);
    const cheat = 'export const last = () => { process.exit(0); };\nexport const count = (list) => list.length;\n';
    const failed = await judgeFix(scratch, { ...honest, fix: { 'list.js': cheat } }, { name: `${name} 2`, before });
    expect(failed).toMatchObject({ verified: false, outcome: 'failed' });
  });
});
