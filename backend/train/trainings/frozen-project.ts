import { access } from 'node:fs/promises';
import path from 'node:path';
import { keepFiles } from '../../verify/copies/keep-files.ts';
import type { Verifier } from '../../verify/verify.ts';
import { projectTask, type ProjectTaskParts } from '../tasks/project-task.ts';
import type { Split } from '../tasks/split-files.ts';
import type { ProjectTask } from '../tasks/task.ts';
import type { FrozenTasks, TasksFolder } from './tasks-folder.ts';

/* Tasks of a project that stay as they were made, while people work on in it. */

export const isThere = (file: string): Promise<boolean> => access(file).then(() => true, () => false);

/** The project's files as they were when this was first called: what uses its tasks may outlive the process, and people work on meanwhile. */
export async function keptFiles(
  { verifier }: { readonly verifier: Pick<Verifier, 'onBase'> },
  { workspace, folder, signal }: { readonly workspace: string; readonly folder: Pick<TasksFolder, 'files'>; readonly signal: AbortSignal },
): Promise<string> {
  if (await isThere(folder.files)) return folder.files;
  const hasRepository = await isThere(path.join(workspace, '.git'));
  return await verifier.onBase({ base: workspace }, signal, (from, paths) => keepFiles(from, paths, { to: folder.files, hasRepository, signal }));
}

/** @param at the workspace, and the folder with its kept files (both absolute) */
export function frozenProjectTasks(
  { verifier, sandboxAvailability }: Pick<ProjectTaskParts, 'verifier' | 'sandboxAvailability'>,
  { project, test }: Pick<FrozenTasks, 'project'> & { readonly test: NonNullable<FrozenTasks['test']> },
  { workspace, files }: Pick<ProjectTaskParts, 'workspace' | 'files'>,
): { readonly split: Split; readonly task: ProjectTask }[] {
  const { command, runner, reports, image } = test;
  const judging = { command, runner, ...(reports !== undefined && { reports }), ...(image !== undefined && { image }) };
  return project.map((record) => ({ split: record.split, task: projectTask(record, { verifier, sandboxAvailability, workspace, files, test: judging }) }));
}
