import type { RunRequest } from '../protocol/run-request.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { FoundTests, TestCommand } from '../protocol/test-command.ts';
import { CUSTOM_RUNNER } from '../protocol/test-runners.ts';
import { testsAround } from '../verify/runners/find-tests.ts';
import type { Checker } from './checker.ts';
import { RunError } from './failure.ts';

type Asked = Pick<RunRequest, 'workspace' | 'testCommand' | 'testRunner' | 'testReports' | 'testImage'>;
/** `runner` reads the report. */
export type JudgingCommand = WantedCommand & { readonly runner: string };

interface WantedCommand extends TestCommand {
  /** What was found in the workspace, if the command was. */
  readonly packages?: readonly FoundTests[];
  /** The person's own command, if it runs the tests of packages and this is one of theirs. */
  readonly besides?: readonly string[];
}

/** What chooses between the tests of several packages. */
export interface Place {
  /** The command that ran before in the same run. */
  readonly before?: string | undefined;
  /** Files that the question is about (relative to the workspace), the surest first. Asked only if the workspace has tests in its packages alone. */
  readonly about?: () => Promise<readonly string[]>;
}

/** The test command of a run that has begun, which stays the same. @throws as `judgingCommand` */
export const commandOfRun = ({ request, base, context }: Pick<RunSnapshot, 'request' | 'base' | 'context'>, checker: Parameters<typeof judgingCommand>[1]): Promise<JudgingCommand | undefined> =>
  judgingCommand(request, checker, { before: base?.command, about: async () => pathsOf(context) });

/** The files of a context, each once. */
export const pathsOf = (context: { readonly pieces: readonly { readonly path: string }[] } | undefined): readonly string[] => [...new Set(context?.pieces.map(({ path }) => path))];

/**
 * The test command that judges an answer: the request's, otherwise the most likely one by the workspace's files. Where only packages of the
 * workspace have tests, those of the package that the question is about.
 * @returns undefined if no test is to be run, or none was found
 * @throws RunError if no runner can read the results of the request's command
 */
export async function judgingCommand(request: Asked, checker: Pick<Checker, 'findTestCommands' | 'testsRunBy' | 'runnerOf'>, place: Place = {}): Promise<JudgingCommand | undefined> {
  const { workspace, testCommand } = request;
  if (workspace === undefined || testCommand === null) return undefined;
  const wanted = testCommand === undefined ? await found(workspace, request, checker, place) : (await ofPackage(testCommand, workspace, request, checker, place)) ?? named(testCommand, request);
  if (!wanted) return undefined;
  const test: WantedCommand = { ...wanted, ...(request.testImage !== undefined && { image: request.testImage }) };
  const runner = await checker.runnerOf(test, workspace);
  if (runner === undefined || (runner === CUSTOM_RUNNER && test.reports === undefined)) throw new RunError('test-command', unreadable(test));
  return { ...test, runner };
}

const named = (command: string, { testRunner, testReports }: Asked): TestCommand => ({
  command,
  ...(testRunner !== undefined && { runner: testRunner }),
  ...(testReports !== undefined && { reports: testReports }),
});

/** Of a command that runs the tests of packages, those of the package that the question is about: they tell of single tests, and it does not. */
async function ofPackage(command: string, workspace: string, { testRunner, testReports }: Asked, checker: Pick<Checker, 'testsRunBy'>, place: Place): Promise<WantedCommand | undefined> {
  if (testRunner !== undefined || testReports !== undefined) return undefined;
  const candidates = (await checker.testsRunBy?.(command, workspace)) ?? [];
  const first = await chosen(candidates, place);
  return first && { command: first.command, runner: first.runner, packages: candidates, besides: [command] };
}

async function found(workspace: string, { testRunner, testReports }: Asked, checker: Pick<Checker, 'findTestCommands'>, place: Place): Promise<WantedCommand | undefined> {
  const candidates = await checker.findTestCommands(workspace);
  const first = await chosen(candidates.filter(({ runner }) => testRunner === undefined || runner === testRunner), place);
  if (first) return { command: first.command, runner: first.runner, packages: candidates, ...(testReports !== undefined && { reports: testReports }) };
  if (testRunner === undefined) return undefined;
  throw new RunError(
    'test-command', `No tests that ${testRunner} runs were found in the workspace: name the command that runs them.`,
  );
}

async function chosen(candidates: readonly FoundTests[], { before, about }: Place): Promise<FoundTests | undefined> {
  const [first] = candidates;
  if (!first || first.folder === '' || candidates.every(({ folder }) => folder === first.folder)) return first;
  const same = candidates.find(({ command }) => command === before);
  if (same) return same;
  for (const path of (await about?.()) ?? []) {
    const around = testsAround(path, candidates);
    if (around) return around;
  }
  return first;
}

function unreadable({ command, runner }: TestCommand): string {
  const what = runner === CUSTOM_RUNNER
    ? `The results of "${command}" can be read from JUnit files alone, and none are named`
    : `The results of "${command}" cannot be read, because no test runner is called "${runner}"`;
  return `${what}: name the JUnit files that it writes, such as "reports/*.xml", or the runner, or ask without tests.`;
}
