import * as l10n from '@vscode/l10n';

// Apart from the schemas of test-command.ts, which the panel must not carry.

/** The runners whose reports this version reads, in the order in which a project is tried with them. */
export const TEST_RUNNERS = [
  'vitest', 'jest', 'mocha', 'pytest', 'unittest', 'go', 'nextest', 'cargo', 'maven', 'gradle', 'ctest',
  // Last of those that are detected: `node` also starts the others.
  'node-test',
  'custom',
] as const;

export type TestRunnerName = (typeof TEST_RUNNERS)[number];

/** The runner of a command whose results are read from JUnit files that the user names. */
export const CUSTOM_RUNNER = 'custom' satisfies TestRunnerName;

/** How the results of a command are read, for people. */
export function readingOf(runner: string): string {
  return runner === CUSTOM_RUNNER ? l10n.t('JUnit files') : runner;
}
