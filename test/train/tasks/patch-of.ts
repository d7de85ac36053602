import type { Patch } from '../../../backend/verify/patch/patch.ts';
import type { ProjectTask } from '../../../backend/train/tasks/task.ts';

/** The changes of an answer to a task. */
export const patchOf = (task: ProjectTask, answer: string): Promise<Patch> =>
  task.checker.onBase(task, new AbortController().signal, (folder) => task.checker.parsePatch(answer, folder, task.shown));
