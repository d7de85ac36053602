import * as l10n from '@vscode/l10n';

// Kept apart from the schemas of test-command.ts, which must not be in the panel's bundle.

/** The supported test runners, in the order in which they are detected. */
export const TEST_RUNNERS = [
  'vitest', 'jest', 'mocha', 'jasmine', 'ava', 'tape', 'tap', 'bun', 'deno', 'pytest', 'unittest', 'go', 'nextest', 'cargo', 'maven', 'gradle', 'phpunit', 'ctest', 'rspec', 'minitest',
  // Last of those that are detected: `node` also starts the others.
  'node-test',
  'custom',
  'exit-code',
] as const;

export type TestRunnerName = (typeof TEST_RUNNERS)[number];

/** The runner of a command whose results are read from JUnit files that the user names. */
export const CUSTOM_RUNNER = 'custom' satisfies TestRunnerName;

/** The runner of a command that tells of no single test: it has passed where it exits with 0. */
export const EXIT_CODE_RUNNER = 'exit-code' satisfies TestRunnerName;

/** How the results of a command are read, for people. */
export function readingOf(runner: string): string {
  if (runner === EXIT_CODE_RUNNER) return l10n.t('exit code alone');
  return runner === CUSTOM_RUNNER ? l10n.t('JUnit files') : runner;
}
