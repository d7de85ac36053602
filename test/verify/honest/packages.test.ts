import { describe, expect, it } from 'vitest';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const testOf = (name: string, expected: number): string => `import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { ${name} } from '../${name}.js';\ntest('${name}', () => assert.equal(${name}(4), ${expected}));\n`;
const manifest = JSON.stringify({ type: 'module', scripts: { test: 'node --test' } });

/** Two packages. The fix of one goes with a change to the other. */
const project = (other: string): HonestFix => ({
  files: {
    'package.json': JSON.stringify({ private: true, workspaces: ['packages/*'], scripts: { test: 'turbo run test' } }),
    'packages/half/package.json': manifest,
    'packages/half/half.js': 'export const half = (number) => number / 3;\n',
    'packages/half/test/half.test.js': testOf('half', 2),
    'packages/twice/package.json': manifest,
    'packages/twice/twice.js': 'export const twice = (number) => number * 2;\n',
    'packages/twice/test/twice.test.js': testOf('twice', 8),
  },
  fix: { 'packages/half/half.js': 'export const half = (number) => number / 2;\n', 'packages/twice/twice.js': other },
  command: 'cd packages/half && node --test',
  mended: ['packages/half/test/half.test.js > half'],
});

describe.skipIf(!available)(`a change to several packages (${note})`, { timeout: TIMEOUT_MS }, () => {
  it('is verified by the tests of one where those of the others still pass', async () => {
    await using scratch = await makeScratch();
    const honest = project('export const twice = (number) => number + number;\n');
    const verdict = await judgeFix(scratch, honest, { findsTests: findTestCommands });
    expectVerified(verdict, honest);
    expect(verdict.notes).toEqual(['Besides the tests, "cd packages/twice && node --test" passes with the change.']);
  });

  it('fails where it breaks the tests of another', async () => {
    await using scratch = await makeScratch();
    const verdict = await judgeFix(scratch, project('export const twice = (number) => number * 3;\n'), { findsTests: findTestCommands });
    expect(verdict).toMatchObject({ outcome: 'failed', verified: false });
    expect(verdict.reason).toMatch(/^The tests passed, but "cd packages\/twice && node --test" passed before the change and fails with it\./);
  });
});
