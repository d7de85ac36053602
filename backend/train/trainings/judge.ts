import { access } from 'node:fs/promises';
import path from 'node:path';
import { EXIT_CODE_RUNNER } from '../../protocol/test-runners.ts';
import type { Training, TrainingConfig } from '../../protocol/training.ts';
import type { Checker } from '../../solve/checker.ts';
import { RunError } from '../../solve/failure.ts';
import { judgingCommand, type JudgingCommand } from '../../solve/test-command.ts';
import { TrainingError } from './training-error.ts';

/** The file of tasks that is read where a project has it. */
export const TASKS_FILE = 'conductor.tasks.jsonl';

export type JudgeParts = Pick<Checker, 'sandboxAvailability' | 'findTestCommands' | 'runnerOf'>;

/** @throws TrainingError where nothing can judge answers: there is no sandbox, or there are neither tests nor tasks. */
export async function requireJudge(parts: JudgeParts, { workspace, config }: Pick<Training, 'workspace' | 'config'>): Promise<void> {
  await requireSandbox(parts, config);
  const { tasks: { file, mix } } = config;
  const named = mix?.files ?? (file === undefined ? [] : [file]);
  const isHere = (name: string): Promise<boolean> => access(path.resolve(workspace, name)).then(() => true, () => false);
  for (const name of named) {
    if (!(await isHere(name))) throw new TrainingError(`The file of tasks ${name} is not in ${workspace}: name another, or none.`, 'tests');
  }
  const test = await projectTests(parts, { workspace, config });
  if (!test && named.length === 0 && !(await isHere(TASKS_FILE))) throw noJudge();
  if (test?.runner === EXIT_CODE_RUNNER && config.reward.passes === 'wrong') throw provesNothing(test.command);
}

/** The command that judges tasks of the project; undefined where none are wanted or the project has no tests. @throws TrainingError where its results cannot be read */
export async function projectTests(
  parts: Pick<JudgeParts, 'findTestCommands' | 'runnerOf'>,
  { workspace, config: { tasks: { project, test, image } } }: Pick<Training, 'workspace'> & { readonly config: { readonly tasks: Pick<TrainingConfig['tasks'], 'project' | 'test' | 'image'> } },
): Promise<Omit<JudgingCommand, 'packages' | 'besides'> | undefined> {
  if (!project) return undefined;
  try {
    const judging = await judgingCommand({ workspace, testCommand: test?.command, testRunner: test?.runner, testReports: test?.reports, testImage: image }, parts);
    if (!judging) return undefined;
    // Tasks are kept with their command alone. They must be judged the same when they are read again.
    const { packages: _packages, ...command } = judging;
    return command;
  } catch (error) {
    throw error instanceof RunError ? new TrainingError(error.message, 'tests') : error;
  }
}

/** @throws TrainingError */
export async function requireSandbox({ sandboxAvailability }: Pick<JudgeParts, 'sandboxAvailability'>, { tasks: { image } }: TrainingConfig): Promise<void> {
  const { available, reason = 'none is available here.' } = await sandboxAvailability(image);
  if (!available) throw new TrainingError(`Training runs code that models write, and there is no sandbox for it: ${reason}`, 'sandbox');
}

const provesNothing = (command: string): TrainingError =>
  new TrainingError(`"${command}" tells by its exit code alone, by which no answer is verified: name its test runner, or set reward.passes to "right".`, 'tests');

export const noJudge = (): TrainingError =>
  new TrainingError('No tests were found in the project, and no file of tasks: without a judge there is nothing to learn from.', 'tests');
