import { commandParts, type CommandParts } from './command-parts.ts';
import { exitCode } from './exit-code.ts';
import { COVERAGE_PROGRAMS } from './launched-script.ts';
import { expandScripts } from './package-scripts.ts';
import { ProjectFolder } from './project-folder.ts';
import { RUNNERS } from './runners.ts';
import { simpleCommands, withEdits } from './shell-words.ts';
import { partOf } from './started-file.ts';
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

export interface ChosenRunner extends Omit<CommandParts, 'tests'> {
  readonly runner: TestRunner;
  /** What is run for a report: of the command, with scripts of `package.json` expanded, the part with the tests. */
  readonly command: string;
}

/**
 * The runner that can read the results of a command in `workspace` (absolute). A command that none understands is judged by its exit code.
 * Undefined if there is no runner of the name that was given.
 */
export async function chooseRunner(test: TestCommand, workspace: string): Promise<ChosenRunner | undefined> {
  const command = await expandScripts(test.command, workspace);
  const named = test.reports === undefined ? test.runner : 'custom';
  const runner = named === undefined ? ((await startedIn(workspace, command)) ?? runnersOf(command)[0] ?? exitCode) : RUNNERS.find(({ name }) => name === named);
  if (runner === undefined) return undefined;
  const started = await startedBy(runner, command, workspace);
  const { tests, ...rest } = commandParts(command, (part) => runner.understands(part) || started.some((text) => part.endsWith(text)), runner.keepsOneReport !== true);
  return { runner, command: withoutCoverage(tests, runner), ...rest };
}

/** The runner whose tests a file has that the command starts. Undefined where the command says itself what runs them. */
async function startedIn(workspace: string, command: string): Promise<TestRunner | undefined> {
  const [first] = runnersOf(command);
  if (first && (first.isSure?.(command) ?? true)) return undefined;
  for (const runner of RUNNERS) if ((await startedBy(runner, command, workspace)).length > 0) return runner;
  return undefined;
}

/** The parts of a command that start a file with tests of this runner, where the command does not tell that by its words. */
async function startedBy({ startsOf, understands }: TestRunner, command: string, workspace: string): Promise<readonly string[]> {
  if (!startsOf || understands(command)) return [];
  return (await startsOf(command, new ProjectFolder(workspace))).map((use) => partOf(use, command));
}

/** The runners that can read results of a command in which scripts are expanded: the one that it starts first comes first. */
export function runnersOf(command: string): readonly TestRunner[] {
  const parts = simpleCommands(command).map(({ words }) => command.slice(words[0]?.start, words.at(-1)?.end));
  const placeOf = ({ understands, isSure = understands }: TestRunner): number => {
    const place = parts.findIndex((part) => isSure(part));
    return place < 0 ? parts.length : place;
  };
  return RUNNERS.filter(({ understands }) => understands(command)).sort((a, b) => placeOf(a) - placeOf(b));
}

/** Without the program that measures coverage around a runner: it takes time, and fails below a threshold. */
function withoutCoverage(command: string, { understands }: TestRunner): string {
  return withEdits(command, simpleCommands(command).flatMap(({ words }) => {
    const first = words[words[0]?.text === 'npx' ? 1 : 0];
    const program = words.find((word) => understands(word.text));
    return first && program && COVERAGE_PROGRAMS.has(first.text) ? [{ start: first.start, end: program.start, text: '' }] : [];
  }));
}
