import { expandScripts } from './package-scripts.ts';
import { RUNNERS } from './runners.ts';
import type { TestRunner } from './test-runner.ts';

/** What the user, or `findTestCommands`, says of how the tests are run. */
export interface TestCommand {
  readonly command: string;
  /** Name of the runner whose report is to be read; without it the command tells. */
  readonly runner?: string;
  /** A glob, relative to the workspace, for the JUnit files that the command writes. */
  readonly reports?: string;
  /** The container image in which the command runs; the sandbox on this machine without it. */
  readonly image?: string;
}

export interface ChosenRunner {
  readonly runner: TestRunner;
  /** The command, with scripts of `package.json` written out. */
  readonly command: string;
}

/** The runner that can read the results of a command in `workspace` (absolute), or undefined. */
export async function chooseRunner(test: TestCommand, workspace: string): Promise<ChosenRunner | undefined> {
  const command = await expandScripts(test.command, workspace);
  const named = test.reports === undefined ? test.runner : 'custom';
  const runner = RUNNERS.find(({ name, understands }) => (named === undefined ? understands(command) : name === named));
  return runner && { runner, command };
}
