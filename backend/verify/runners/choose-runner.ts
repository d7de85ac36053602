import { expandScripts } from './package-scripts.ts';
import { RUNNERS } from './runners.ts';
import type { TestRunner } from './test-runner.ts';

/** How the tests are run, according to the user or `findTestCommands`. */
export interface TestCommand {
  readonly command: string;
  /** The runner whose report is read. By default it follows from the command. */
  readonly runner?: string;
  /** A glob, relative to the workspace, for the JUnit files that the command writes. */
  readonly reports?: string;
  /** The container image in which the command runs. By default it runs in the sandbox on this machine. */
  readonly image?: string;
}

export interface ChosenRunner {
  readonly runner: TestRunner;
  /** The command, with scripts of `package.json` expanded. */
  readonly command: string;
}

/** The runner that can read the results of a command in `workspace` (absolute), or undefined. */
export async function chooseRunner(test: TestCommand, workspace: string): Promise<ChosenRunner | undefined> {
  const command = await expandScripts(test.command, workspace);
  const named = test.reports === undefined ? test.runner : 'custom';
  const runner = RUNNERS.find(({ name, understands }) => (named === undefined ? understands(command) : name === named));
  return runner && { runner, command };
}
