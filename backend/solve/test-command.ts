import type { RunRequest } from '../protocol/run-request.ts';
import type { TestCommand } from '../protocol/test-command.ts';
import { CUSTOM_RUNNER } from '../protocol/test-runners.ts';
import type { Checker } from './checker.ts';
import { RunError } from './failure.ts';

type Asked = Pick<RunRequest, 'workspace' | 'testCommand' | 'testRunner' | 'testReports' | 'testImage'>;
/** `runner` reads the report. */
export type JudgingCommand = TestCommand & { readonly runner: string };

/**
 * The test command that judges an answer: the request's, otherwise the most likely one by the workspace's files.
 * @returns undefined if no test is to be run, or none was found
 * @throws RunError if no runner can read the results of the request's command
 */
export async function judgingCommand(request: Asked, checker: Pick<Checker, 'findTestCommands' | 'runnerOf'>): Promise<JudgingCommand | undefined> {
  const { workspace, testCommand } = request;
  if (workspace === undefined || testCommand === null) return undefined;
  const wanted = testCommand === undefined ? await found(workspace, request, checker) : named(testCommand, request);
  if (!wanted) return undefined;
  const test = { ...wanted, ...(request.testImage !== undefined && { image: request.testImage }) };
  const runner = await checker.runnerOf(test, workspace);
  if (runner === undefined || (runner === CUSTOM_RUNNER && test.reports === undefined)) throw new RunError('test-command', unreadable(test));
  return { ...test, runner };
}

const named = (command: string, { testRunner, testReports }: Asked): TestCommand => ({
  command,
  ...(testRunner !== undefined && { runner: testRunner }),
  ...(testReports !== undefined && { reports: testReports }),
});

async function found(workspace: string, { testRunner, testReports }: Asked, checker: Pick<Checker, 'findTestCommands'>): Promise<TestCommand | undefined> {
  const candidates = await checker.findTestCommands(workspace);
  const first = candidates.find(({ runner }) => testRunner === undefined || runner === testRunner);
  if (first) return { command: first.command, runner: first.runner, ...(testReports !== undefined && { reports: testReports }) };
  if (testRunner === undefined) return undefined;
  throw new RunError(
    'test-command', `No tests that ${testRunner} runs were found in the workspace: name the command that runs them.`,
  );
}

function unreadable({ command, runner }: TestCommand): string {
  const what = runner === CUSTOM_RUNNER
    ? `The results of "${command}" can be read from JUnit files alone, and none are named`
    : `The results of "${command}" cannot be read, because no test runner is called "${runner}"`;
  return `${what}: name the JUnit files that it writes, such as "reports/*.xml", or the runner, or ask without tests.`;
}
