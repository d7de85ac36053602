import { RUNNERS } from './runners/runners.ts';

export interface FoundTests {
  /** What to run in the workspace's folder. */
  readonly command: string;
  /** Name of the runner whose report will be read. */
  readonly runner: string;
}

/** How the tests of `workspace` (absolute) are run, or undefined if no known runner is used there. */
export async function findTestCommand(workspace: string): Promise<FoundTests | undefined> {
  for (const runner of RUNNERS) {
    const command = await runner.detect(workspace);
    if (command !== undefined) return { command, runner: runner.name };
  }
  return undefined;
}

/** Whether the results of this command can be read; one that cannot be judges nothing. */
export function isKnownTestCommand(command: string): boolean {
  return RUNNERS.some((runner) => runner.understands(command));
}
