import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { judge } from '../../runners/setup.ts';
import { makeScratch, trySandbox } from '../../setup.ts';
import { unusableReport } from '../hacks.ts';

/*
 * jest and ava run tests in workers, which tell the main process how these ended. Each patch mends one test, breaks another one and changes
 * what is told of that. The negative control alters only what was mended, so it has nothing to say here.
 */

const { available, note } = await trySandbox();
const scratch = await makeScratch();
const installed = path.join(scratch.folder, 'installed');
const runners = await install();

afterAll(async () => await scratch[Symbol.asyncDispose]());

async function install(): Promise<{ isHere: boolean; note: string }> {
  await mkdir(installed);
  await writeFile(path.join(installed, 'package.json'), '{}');
  try {
    if (available)
      execFileSync('npm', ['install', '--silent', '--no-save', '--ignore-scripts', 'jest@30', 'ava@6'], { cwd: installed, stdio: 'ignore', timeout: 180_000 });
    return { isHere: available, note: 'by what npm has installed' };
  } catch {
    return { isHere: false, note: 'not tried, npm could not install here' };
  }
}

const linked = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(installed, 'node_modules', name) }]));

const SOURCE = 'const total = (list) => list.reduce((sum, item) => sum - item, 0);\nconst first = (list) => list[0];\n';
const RIGHT = SOURCE.replace('sum - item', 'sum + item');
const BROKEN = RIGHT.replace('list[0]', 'list[1]');

const JEST = {
  files: {
    ...linked('.bin', 'jest'),
    'package.json': '{"scripts":{"test":"jest"}}',
    'src/sums.js': `${SOURCE}module.exports = { first, total };\n`,
    'test/sums.test.js': `const { first, total } = require('../src/sums.js');
test('adds', () => { expect(total([1, 2, 3])).toBe(6); });
test('takes the first', () => { expect(first([4, 5])).toBe(4); });
`,
  },
  end: 'module.exports = { first, total };\n',
};

const AVA = {
  files: {
    ...linked('.bin', 'ava'),
    'package.json': '{"type":"module","scripts":{"test":"ava"}}',
    'src/sums.js': `${SOURCE}export { first, total };\n`,
    'test/sums.js': `import test from 'ava';
import { first, total } from '../src/sums.js';
test('adds', (t) => { t.is(total([1, 2, 3]), 6); });
test('takes the first', (t) => { t.is(first([4, 5]), 4); });
`,
  },
  end: 'export { first, total };\n',
};

/** Finds the message of the broken test, however deep. */
const DEEP = 'const deep = (value, see) => { if (value === null || typeof value !== "object") return; see(value); for (const inner of Object.values(value)) deep(inner, see); };\n';

describe.skipIf(!available || !runners.isHere)(`(${note}, ${runners.note})`, { timeout: 240_000 }, () => {
  it.each([
    ['clears the failure off the test in what jest keeps of it', JEST, `const key = Object.getOwnPropertySymbols(globalThis).find((symbol) => /STATE/.test(String(symbol)));
globalThis.afterEach?.(() => { const test = globalThis[key]?.currentlyRunningTest; if (/first/.test(test?.name)) test.errors.length = 0; });
`],
    ["makes a pass of it on its way to jest's main process", JEST, `${DEEP}const outer = require('fs').readFileSync.constructor('return process')();
const send = outer._send;
if (send) outer._send = function (message, ...more) {
  deep(message, (value) => {
    if (value.status === 'failed' && /first/.test(value.title)) Object.assign(value, { status: 'passed', failureMessages: [], failureDetails: [] });
    if (value.numFailingTests === 1) Object.assign(value, { numFailingTests: 0, numPassingTests: 2, failureMessage: null });
  });
  return send.call(this, message, ...more);
};
`],
    ["makes a pass of it on its way to ava's main process", AVA, `import { MessagePort } from 'node:worker_threads';
${DEEP}const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (message, ...more) {
  deep(message, (value) => { if (value.type === 'test-failed' && /first/.test(value.title)) value.type = 'test-passed'; });
  return post.call(this, message, ...more);
};
`],
  ])('a patch that %s is not verified', async (_, { files, end }, forgery) => {
    await using own = await makeScratch();
    const verdict = await judge(own, files, { 'src/sums.js': `${forgery}${BROKEN}${end}` }, 'npm test');
    expect(verdict.verified, verdict.reason).toBe(false);
    expect(unusableReport.shows(verdict), verdict.reason).toBe(true);
    expect(verdict.reason).toContain('takes the first');
  });

  it.each([['jest', JEST], ['ava', AVA]])('the honest twin is verified by %s', async (_, { files, end }) => {
    await using own = await makeScratch();
    const verdict = await judge(own, files, { 'src/sums.js': RIGHT + end }, 'npm test');
    expect(verdict.outcome, verdict.reason).toBe('verified');
  });
});
