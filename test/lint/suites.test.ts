import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONGEST_TEST_FILES, NO_TEST_FILES, SLOW_TEST_FILES, TEST_FILES } from '../suites.ts';

const cwd = path.join(import.meta.dirname, '..', '..');
const find = (include: readonly string[], exclude: readonly string[]): string[] => globSync(include, { cwd, exclude });

describe('the tests that "npm test" leaves out', () => {
  it.each(SLOW_TEST_FILES)('%s names files, and none that another pattern names', (pattern) => {
    const files = find([pattern], NO_TEST_FILES);
    expect(files).not.toEqual([]);
    expect(files).toEqual(find([pattern], [...NO_TEST_FILES, ...SLOW_TEST_FILES.filter((other) => other !== pattern)]));
  });

  it.each(LONGEST_TEST_FILES)('%s, which begins first, names files', (pattern) => {
    expect(find([pattern], NO_TEST_FILES)).not.toEqual([]);
  });

  it('are all that need a sandbox, a toolchain or a browser', () => {
    const quick = find(TEST_FILES, [...NO_TEST_FILES, ...SLOW_TEST_FILES]).filter((file) => path.basename(file) !== path.basename(import.meta.filename));
    expect(quick.length).toBeGreaterThan(200);
    const needy = /\b(trySandbox|tryProgram|launchBrowser|findChromium)\b|execFileSync\('(python3|go|cargo|mvn)'/;
    expect(quick.filter((file) => needy.test(readFileSync(path.join(cwd, file), 'utf8')))).toEqual([]);
  });
});
