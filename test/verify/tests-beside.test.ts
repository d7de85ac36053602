import { describe, expect, it } from 'vitest';
import type { FoundTests } from '../../backend/verify/runners/find-tests.ts';
import { testsBeside } from '../../backend/verify/runners/tests-beside.ts';

const inFolder = (folder: string, command = 'npm test'): FoundTests => ({ folder, command: folder === '' ? command : `cd ${folder} && ${command}`, runner: 'vitest' });
const PACKAGES = [inFolder('packages/a'), inFolder('packages/a', 'npm run unit'), inFolder('packages/b'), inFolder('packages/b', 'npm run unit'), inFolder('packages/b/nested')];

describe('the tests beside those of a package', () => {
  it.each([
    ['none, where no other package is changed', ['packages/a/src/x.js', 'README.md', 'packages/bb/x.js'], []],
    ['the likeliest of each other package, once', ['packages/a/x.js', 'packages/b/x.js', 'packages/b/y.js'], ['cd packages/b && npm test']],
    ['those of the innermost package around a file', ['packages/b/nested/x.js'], ['cd packages/b/nested && npm test']],
  ])('are %s', (_, paths, commands) => {
    expect(testsBeside('cd packages/a && npm test', PACKAGES, paths)).toEqual({ commands, leftOut: [] });
  });

  it('are none where the command tests the whole workspace, or was not found in it', () => {
    expect(testsBeside('npm test', [inFolder(''), ...PACKAGES], ['packages/b/x.js']).commands).toEqual([]);
    expect(testsBeside('make check', PACKAGES, ['packages/b/x.js']).commands).toEqual([]);
  });

  it('are those of five packages, and the others are named', () => {
    const many = Array.from({ length: 8 }, (_, index) => inFolder(`p${index}`));
    const { commands, leftOut } = testsBeside('cd p0 && npm test', many, many.map(({ folder }) => `${folder}/x.js`));
    expect(commands).toHaveLength(5);
    expect(leftOut).toEqual(['p6', 'p7']);
  });
});
