import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { Slots } from '../../common/slots.ts';
import { projectTaskKindSchema, type TrainingConfig } from '../../protocol/training.ts';
import { makeProjectTasks, type ProjectTaskRecord, type TaskMakerParts } from '../../train/tasks/project-tasks.ts';
import { frozenProjectTasks, isThere, keptFiles } from '../../train/trainings/frozen-project.ts';
import { projectTests, type JudgeParts } from '../../train/trainings/judge.ts';
import { TasksFolder, type FrozenTasks } from '../../train/trainings/tasks-folder.ts';
import type { FiledTask } from './evaluate.ts';
import { ProjectGrader } from './project-grader.ts';
import { EvaluationRequestError } from './request-error.ts';

/** A task made of a person's project. */
export interface ProjectEvalTask extends FiledTask {
  readonly record: ProjectTaskRecord;
}

export interface ProjectSourceRequest {
  /** Absolute. */
  readonly workspace: string;
  /** How to run its tests; what is missing is found from its files. */
  readonly test?: TrainingConfig['tasks']['test'];
  readonly image?: string | undefined;
  /** The most tasks. */
  readonly count: number;
  readonly seed: number;
  /** Whether to practise on tasks of some files, and evaluate on those of the others. */
  readonly practises: boolean;
}

export interface ProjectTasks {
  readonly tasks: readonly ProjectEvalTask[];
  readonly practice: readonly ProjectEvalTask[];
}

/** Share of the files that are evaluated where others are for practice. */
const EVALUATED = 0.5;

/** Runs of the tests at the same time. More would need too much memory. */
const AT_ONCE = Math.min(4, availableParallelism());

/**
 * Tasks of a project, made as for a training and judged like Solve's answers. They and the files that they are made of stay in `folder`
 * (absolute), so an evaluation that goes on has the same tasks, whatever has changed in the project; candidates are not tried twice.
 * @throws EvaluationRequestError, TrainingError, UnusableProjectError, the signal's reason
 */
export async function projectSource(
  parts: JudgeParts & Pick<TaskMakerParts, 'verifier' | 'gatherContext'>, request: ProjectSourceRequest,
  { folder, signal, onTried }: { readonly folder: string; readonly signal: AbortSignal; readonly onTried?: TaskMakerParts['onTried'] },
): Promise<ProjectTasks> {
  const { workspace, practises } = request;
  const kept = new TasksFolder(path.join(folder, `project-${digest(request).slice(0, 12)}`));
  const frozen = (await kept.tasks()) ?? (await freeze(parts, request, { kept, signal, onTried }));
  const { test, project } = frozen;
  if (!test) throw new EvaluationRequestError(`The tasks in ${kept.path} cannot be read: choose another folder with --out.`);
  if (!(await isThere(kept.files))) throw new EvaluationRequestError(`The files in ${kept.files}, of which the tasks are made, are gone: choose another folder with --out.`);
  const slots = new Slots(AT_ONCE);
  const of = new Map(project.map((record) => [record.id, record]));
  const made = frozenProjectTasks(parts, { project, test }, { workspace, files: kept.files }).map(({ split, task }) => {
    const grader = new ProjectGrader(task, slots);
    const record = of.get(task.id) as ProjectTaskRecord;
    const { id, question, context, shown, testCommand } = task;
    const made: ProjectEvalTask = {
      id, question, context, grader, tests: grader, record, fingerprint: digest([record, test]), project: { shown, facts: { testCommand } },
    };
    return { split, made };
  });
  const ofSplit = (wanted: 'train' | 'held-out'): ProjectEvalTask[] => made.filter(({ split }) => !practises || split === wanted).map((one) => one.made);
  const [tasks, practice] = [ofSplit('held-out'), practises ? ofSplit('train') : []];
  if (tasks.length === 0 || (practises && practice.length === 0)) {
    throw new EvaluationRequestError(`The tasks of ${workspace} are of too few files to practise on some and evaluate on others: leave out --practice project.`);
  }
  return { tasks, practice };
}

async function freeze(
  parts: JudgeParts & Pick<TaskMakerParts, 'verifier' | 'gatherContext'>, { workspace, test: asked, image, count, seed, practises }: ProjectSourceRequest,
  { kept, signal, onTried }: { readonly kept: TasksFolder; readonly signal: AbortSignal; readonly onTried: TaskMakerParts['onTried'] },
): Promise<FrozenTasks> {
  const { available, reason = 'none is available here.' } = await parts.sandboxAvailability(image);
  if (!available) throw new EvaluationRequestError(`Tasks of a project run code that models write, and there is no sandbox for it: ${reason}`);
  const test = await projectTests(parts, { workspace, config: { tasks: { project: true, test: asked, image } } });
  if (!test) throw new EvaluationRequestError(`No tests were found in ${workspace}: name the command that runs them with --test-command.`);
  await mkdir(kept.path, { recursive: true, mode: 0o700 });
  const files = await keptFiles(parts, { workspace, folder: kept, signal });
  const project = await makeProjectTasks(
    { ...parts, workspace, files, test, signal, known: await kept.tried(), onFound: (found) => kept.keepTried(found), ...(onTried && { onTried }) },
    { seed, count, heldOut: practises ? EVALUATED : 1, kinds: projectTaskKindSchema.options },
  );
  // Kept tasks would be used the next time, when the tests may be better.
  if (project.length === 0) throw new EvaluationRequestError(`No task could be made of ${workspace}: its tests notice too little of what is changed in it.`);
  const frozen = { test, project: [...project] };
  await kept.saveTasks(frozen);
  await kept.forgetTried();
  return frozen;
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
