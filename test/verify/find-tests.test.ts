import { execFileSync } from 'node:child_process';
import { truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTestCommand } from '../../backend/verify/runners/find-tests.ts';
import { makeScratch } from './setup.ts';

const NODE_TEST = `import { test } from 'node:test';\n`;
const script = (test: string): string => JSON.stringify({ scripts: { test } });

describe('the command that runs the tests', () => {
  it.each([
    ['the test script, where it runs node --test', { 'package.json': script('node --test test/') }, 'node --test test/'],
    ['the test script with options', { 'package.json': script('node --import ./x.js --test') }, 'node --import ./x.js --test'],
    ['the test script, where it starts a file of tests', { 'package.json': script('node --conditions development test/index.js'), 'test/index.js': NODE_TEST }, 'node --conditions development test/index.js'],
    ['the test script, where it starts a file that loads tests', { 'package.json': script('node test'), 'test/index.js': `import './io/a.js'\n`, 'test/io/a.js': NODE_TEST }, 'node test'],
    ['the script that starts a file of tests, where the test script does other things first',
      { 'package.json': JSON.stringify({ scripts: { 'test-api': 'node test/index.js', 'test-coverage': 'c8 npm run test-api', test: 'tsc --build && npm run test-coverage' } }), 'test/index.js': NODE_TEST },
      'node test/index.js'],
    ['node --test, where a test file imports node:test', { 'test/a.js': NODE_TEST }, 'node --test'],
    [
      'node --test, where npm init left its placeholder',
      { 'package.json': script('echo "Error: no test specified" && exit 1'), 'a.test.mjs': NODE_TEST },
      'node --test',
    ],
    ['none, where the script runs another runner', { 'package.json': script('lab run'), 'a.test.js': NODE_TEST }, undefined],
    ['none, where the script starts a file without tests', { 'package.json': script('node test/index.js'), 'test/index.js': `import './a.js'\n`, 'test/a.js': '', 'test/b.js': NODE_TEST }, undefined],
    ['none, where test files import another runner', { 'a.test.js': `import { test } from 'vitest';\n` }, undefined],
    ['none, where only a dependency has tests', { 'node_modules/x/a.test.js': NODE_TEST }, undefined],
    ['none, where package.json cannot be read', { 'package.json': '{' }, undefined],
    ['none, where there is nothing', { 'readme.md': '' }, undefined],
  ])('is %s', async (_, files, command) => {
    await using scratch = await makeScratch();
    const found = await findTestCommand(await scratch.project(files));
    expect(found).toEqual(command === undefined ? undefined : { command, runner: 'node-test', folder: '' });
  });

  it.runIf(process.platform !== 'win32')('is none, where package.json or a test file is a pipe, a device or huge', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({ 'pipe/x': '', 'device/package.json': { link: '/dev/zero' }, 'huge/a.test.js': NODE_TEST });
    execFileSync('mkfifo', [path.join(base, 'pipe/package.json')]);
    // Holes take no room on the disk.
    await truncate(path.join(base, 'huge/a.test.js'), 1024 ** 3);
    for (const folder of ['pipe', 'device', 'huge']) expect(await findTestCommand(path.join(base, folder))).toBeUndefined();
  });
});
