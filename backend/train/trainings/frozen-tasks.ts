import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrainingConfig } from '../../protocol/training.ts';
import type { Grader } from '../../verify/graders/grader.ts';
import { createGrader } from '../../verify/graders/tasks/create-grader.ts';
import { readTasks } from '../../verify/graders/tasks/task-file.ts';
import { draw } from '../statistics/draws.ts';
import { makeProjectTasks } from '../tasks/project-tasks.ts';
import type { Task } from '../tasks/task.ts';
import { frozenProjectTasks, isThere, keptFiles } from './frozen-project.ts';
import { noJudge, projectTests, TASKS_FILE } from './judge.ts';
import { drawMix } from './task-mix.ts';
import { DecisionKeeper } from './task-notes.ts';
import { TrainingError } from './training-error.ts';
import type { FrozenTasks } from './tasks-folder.ts';
import type { TrainingFolder } from './training-folder.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';

export interface SplitTasks {
  readonly train: readonly Task[];
  readonly heldOut: readonly Task[];
}

/** Makes and reads the tasks of a training, and keeps them in its folder: from here on they do not change. @throws TrainingError */
export async function freezeTasks(parts: TrainingRunParts, { training: { config, workspace }, folder, signal, change, report }: TrainingRunOptions): Promise<FrozenTasks> {
  const { count, heldOut, kinds } = config.tasks;
  const file = await freezeFile(workspace, config, folder);
  const frozen: FrozenTasks = { project: [], ...(file && { file }) };
  const test = await projectTests(parts, { workspace, config });
  if (test) {
    const files = await keptFiles(parts, { workspace, folder, signal });
    await change({ state: 'preparing', message: 'Making tasks of the project and having its tests admit them.' });
    const decisions = new DecisionKeeper(folder);
    const durations: number[] = [];
    const made = await makeProjectTasks({
      ...parts, workspace, files, test, signal, passes: config.reward.passes,
      onHistory: (message) => report({ message }),
      onDecided: (decision) => decisions.decided(decision),
      known: await folder.tried(),
      onFound: (found) => folder.keepTried(found),
      onTried: ({ tried, candidates, admitted, seconds }) => {
        decisions.untried(candidates - tried);
        if (seconds !== undefined) durations.push(seconds);
        const secondsLeft = secondsToPrepare({ tried, candidates, admitted, count, durations });
        const making = { tried, of: candidates, ...decisions.counts, ...(secondsLeft !== undefined && { secondsLeft }) };
        const tell = (): void =>
          report({ message: `Making tasks of the project: ${admitted} admitted.`, progress: { done: tried, of: candidates }, making });
        // Clients read the decisions again after this change, so it comes after the write.
        void decisions.kept().then(tell, tell);
      },
    }, { seed: config.seed, count, heldOut, kinds }).finally(() => decisions.kept());
    frozen.test = test;
    frozen.project.push(...made);
  } else if (!file) {
    throw noJudge();
  }
  await folder.saveTasks(frozen);
  await folder.forgetTried();
  return frozen;
}

/** An estimate of the time until enough candidates are admitted or all are tried; undefined before the first. */
function secondsToPrepare({ tried, candidates, admitted, count, durations }: {
  readonly tried: number; readonly candidates: number; readonly admitted: number; readonly count: number; readonly durations: readonly number[];
}): number | undefined {
  if (durations.length === 0) return undefined;
  const triesLeft = Math.min(candidates - tried, admitted === 0 ? Infinity : (count - admitted) * (tried / admitted));
  return (triesLeft * durations.reduce((sum, one) => sum + one, 0)) / durations.length;
}

async function freezeFile(workspace: string, { tasks: { file: named, heldOutFile, heldOut, mix }, seed }: TrainingConfig, folder: TrainingFolder): Promise<FrozenTasks['file']> {
  if (mix) {
    if (named !== undefined || heldOutFile !== undefined) throw new TrainingError('tasks.mix draws all tasks from its files: leave out tasks.file and tasks.heldOutFile.');
    const { train, heldOut: rest } = await drawMix(mix, { workspace, seed, kept: folder.taskFile });
    return { path: mix.files.join(', '), sha256: await hashOf(folder.taskFile), train: [...train], heldOut: [...rest], isDrawn: true };
  }
  const file = path.resolve(workspace, named ?? TASKS_FILE);
  if (named === undefined && heldOutFile === undefined && !(await isThere(file))) return undefined;
  const kept = folder.taskFile;
  if (heldOutFile === undefined) await copyFile(file, kept);
  // Both files become one. The ids of the tasks say which of them are trained on.
  else await writeFile(kept, `${await readFile(file, 'utf8')}\n${await readFile(path.resolve(workspace, heldOutFile), 'utf8')}`);
  const tasks = await questionsOf(kept);
  const isDrawn = ({ id }: { readonly id: string }): boolean => draw(seed, 'held out', id) / 2 ** 48 < heldOut;
  const trained = heldOutFile === undefined ? tasks.filter((task) => !isDrawn(task)) : tasks.slice(0, (await questionsOf(file)).length);
  const rest = tasks.filter((task) => !trained.includes(task));
  const asked = new Set(trained.map(({ question }) => question));
  const shared = rest.find(({ question }) => asked.has(question));
  if (heldOutFile !== undefined && shared) {
    throw new TrainingError(`The task "${shared.id}" of ${heldOutFile} is trained on, too: remove it from one of the files.`);
  }
  return { path: file, sha256: await hashOf(kept), train: trained.map(({ id }) => id), heldOut: rest.map(({ id }) => id) };
}

async function questionsOf(file: string): Promise<{ readonly id: string; readonly question: string }[]> {
  const found = [];
  for await (const { id, question } of readTasks(file)) found.push({ id, question });
  return found;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** @throws TrainingError where what they are made of is gone */
export async function tasksOf(
  parts: TrainingRunParts, { project, test, file }: FrozenTasks, { training: { workspace }, folder }: Pick<TrainingRunOptions, 'training' | 'folder'>,
): Promise<SplitTasks> {
  const tasks = { train: [] as Task[], heldOut: [] as Task[] };
  if (test && project.length > 0) {
    if (!(await isThere(folder.files))) throw new TrainingError('The files that this training\'s tasks are made of are gone: start another training.');
    for (const { split, task } of frozenProjectTasks(parts, { project, test }, { workspace, files: folder.files })) {
      (split === 'train' ? tasks.train : tasks.heldOut).push(task);
    }
  }
  if (file) {
    if ((await hashOf(folder.taskFile).catch(() => undefined)) !== file.sha256) {
      throw new TrainingError('The tasks of this training have changed since it started: start another training.');
    }
    const [train, heldOut] = [new Set(file.train), new Set(file.heldOut)];
    for await (const { id, question, grader: spec, kind } of readTasks(folder.taskFile)) {
      const grader: Grader = createGrader(spec, parts.graderTools);
      const task: Task = { id, question, kind, context: '', grader };
      if (train.has(id)) tasks.train.push(task);
      else if (heldOut.has(id)) tasks.heldOut.push(task);
    }
  }
  return tasks;
}
