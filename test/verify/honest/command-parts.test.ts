import { describe, expect, it } from 'vitest';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const test = (expected: number): string => `import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { half } from '../half.js';\ntest('half', () => assert.equal(half(4), ${expected}));\n`;
/** A linter that finds fault with files that have its word. */
const linter = (word: string): string => `#!/bin/sh\n! grep -l ${word} "$@"\n`;
const project = (command: string, { expected = 2, source = 'export const half = (number) => number / 3;\n' } = {}): HonestFix => ({
  files: {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: command } }),
    'eslint': linter('TODO'),
    'tsd': linter('FIXME'),
    'half.js': source,
    'test/half.test.js': test(expected),
  },
  fix: { 'half.js': 'export const half = (number) => number / 2;\n' },
  command: 'npm test',
  mended: ['test/half.test.js > half'],
});
const lines = 'sh ./eslint half.js && node --test && sh ./tsd half.js test/*.js';

describe.skipIf(!available)(`what a test command does besides its tests (${note})`, { timeout: TIMEOUT_MS }, () => {
  it('is run once, and told apart; what was red before is no reason', async () => {
    await using scratch = await makeScratch();
    const honest = project(`${lines} && false`);
    const verdict = await judgeFix(scratch, honest);
    expectVerified(verdict, honest);
    expect(verdict.notes).toEqual([
      'Besides the tests, "sh ./eslint half.js" passes with the change.',
      'Besides the tests, "sh ./tsd half.js test/*.js" passes with the change.',
      'Besides the tests, "false" fails with the change as it did before.',
    ]);
  });

  it('is a reason where the change breaks it', async () => {
    await using scratch = await makeScratch();
    const verdict = await judgeFix(scratch, { ...project(lines), fix: { 'half.js': 'export const half = (number) => number / 2; // TODO\n' } });
    expect(verdict.outcome).toBe('failed');
    expect(verdict.reason).toMatch(/^The tests passed, but "sh \.\/eslint half\.js" passed before the change and fails with it\. Output of the command: half\.js$/);
  });

  it('lets a change pass that mends it alone', async () => {
    await using scratch = await makeScratch();
    const source = 'export const half = (number) => number / 2; // FIXME\n';
    const verdict = await judgeFix(scratch, project(lines, { source }));
    expect(verdict).toMatchObject({ outcome: 'passes', verified: false });
    expect(verdict.reason).toMatch(/^"sh \.\/tsd half\.js test\/\*\.js" failed before and passes, and no test was lost\..*exit code alone\.$/);
  });

  it('holds what prepares the tests against the base, too', async () => {
    await using scratch = await makeScratch();
    const honest = project('sh ./prepare && node --test');
    const red = { ...honest.files, prepare: 'exit 3\n' };
    expectVerified(await judgeFix(scratch, { ...honest, files: red }), honest);
    const broken = await judgeFix(scratch, { ...honest, files: { ...red, prepare: '! grep 2 half.js\n' } }, { name: 'other' });
    expect(broken.reason).toMatch(/^Every test passed, but the command ended with exit code 1\./);
  });

  it('is preceded by the build that makes what tests import', async () => {
    await using scratch = await makeScratch();
    const { files, ...honest } = project('node --test');
    const scripts = { test: 'node --test', build: 'cp half.js index.js' };
    const tests = String(files['test/half.test.js']).replace('../half.js', '../index.js');
    const built = { ...honest, files: { ...files, 'package.json': JSON.stringify({ type: 'module', main: 'index.js', scripts }), 'test/half.test.js': tests } };
    const verdict = await judgeFix(scratch, built);
    expectVerified(verdict, built);
    const told = 'The tests need index.js, which a build makes: "npm run build" runs before them.';
    expect(verdict.notes).toEqual([told]);
    // A type checker that complains, and writes what it was asked for.
    const red = { ...built, files: { ...built.files, 'package.json': JSON.stringify({ type: 'module', main: 'index.js', scripts: { ...scripts, build: 'cp half.js index.js && exit 2' } }) } };
    const complaining = await judgeFix(scratch, red, { name: 'other' });
    expectVerified(complaining, red);
    expect(complaining.notes).toEqual([told, expect.stringMatching(/^What prepares the tests, .* fails with the change as it did before\.$/)]);
  });
});
