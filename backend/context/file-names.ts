import path from 'node:path';

/* Helpers for file names. Paths are relative with forward slashes. */

/** Lower case, without the dot; empty for `Makefile` and `.npmrc`. */
export function extensionOf(file: string): string {
  return path.posix.extname(file).slice(1).toLowerCase();
}

const TEST_FOLDER = /(?:^|\/)(?:tests?|specs?|__tests__)\//i;
/** `a.test.ts`, `test_a.py`, `a_spec.rb`, `ATest.java`. */
const TEST_NAME = /(?:^|[/._-])(?:tests?|specs?)(?:[._-][^/]*)?\.\w+$|(?:Test|Tests|Spec)\.\w+$/;

/** Whether a path looks like a test, by its folders or by a part of its name. */
export function isTestPath(file: string): boolean {
  return TEST_FOLDER.test(file) || TEST_NAME.test(file);
}
