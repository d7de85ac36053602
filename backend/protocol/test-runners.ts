import * as l10n from '@vscode/l10n';

// Apart from the schemas of test-command.ts, which the panel must not carry.

/** The runners that this version reads, in the order in which a project is offered to them. */
export const TEST_RUNNERS = [
  'vitest', 'jest', 'mocha', 'pytest', 'unittest', 'go', 'nextest', 'cargo', 'maven', 'gradle', 'ctest', 'node-test', 'custom',
] as const;

/** The runner of a command that says by JUnit files alone how its tests went. */
export const CUSTOM_RUNNER = 'custom';

/** How the results of a command are read, in a word or two for people. */
export function readingOf(runner: string): string {
  return runner === CUSTOM_RUNNER ? l10n.t('JUnit files') : runner;
}
