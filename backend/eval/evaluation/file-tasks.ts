import { createHash } from 'node:crypto';
import { shuffled } from '../../train/statistics/draws.ts';
import { createGrader, type GraderTools } from '../../verify/graders/tasks/create-grader.ts';
import type { Grader } from '../../verify/graders/grader.ts';
import type { GraderSpec, Task } from '../../verify/graders/tasks/grader-spec.ts';
import type { FormOptions } from '../../verify/graders/tasks/published-forms.ts';
import { readTasks, TaskFileError } from '../../verify/graders/tasks/task-file.ts';
import type { FiledTask } from './evaluate.ts';

/** A task of a file. */
export interface SpecifiedTask extends FiledTask {
  readonly spec: GraderSpec;
  readonly form: string;
  /** A right answer, where the file has one. */
  readonly reference: string | undefined;
}

export interface ReadFileTasksOptions {
  readonly tools: GraderTools;
  /** At most this many tasks, drawn by the seed; all by default. */
  readonly limit?: number | undefined;
  readonly seed: number;
  readonly bigCodeBench?: FormOptions['bigCodeBench'] | undefined;
  readonly dates?: DateWindow | undefined;
}

/** The first and the last day of the tasks to take, as `2025-04-30`. */
export interface DateWindow {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** The tasks of a file, in the form of one of the data sets that are known or in our own. @throws TaskFileError, an error of the file system */
export async function readFileTasks(file: string, { tools, limit, seed, bigCodeBench = 'instruct', dates }: ReadFileTasksOptions): Promise<SpecifiedTask[]> {
  const tasks: Task[] = [];
  for await (const task of readTasks(file, { bigCodeBench })) {
    if (isWithin(task, file, dates)) tasks.push(task);
  }
  const chosen = limit === undefined || limit >= tasks.length ? tasks : shuffled(tasks, seed, 'limit', file.split(/[/\\]/).at(-1) ?? '').slice(0, limit);
  return chosen.map(({ id, question, grader: spec, form, reference }) => ({
    id, question, context: '', spec, form, reference,
    grader: createGrader(spec, tools), tests: shownExamples(spec, tools),
    fingerprint: createHash('sha256').update(JSON.stringify([question, spec])).digest('hex'),
  }));
}

/** @throws TaskFileError if the days are to choose, and the task has none */
export function isWithin({ date, line }: { readonly date?: string | undefined; readonly line?: number }, file: string, dates: DateWindow | undefined): boolean {
  if (dates?.start === undefined && dates?.end === undefined) return true;
  if (date === undefined) throw new TaskFileError(file, line, 'its tasks have no dates, so --start-date and --end-date cannot choose among them.');
  return (dates.start === undefined || date >= dates.start) && (dates.end === undefined || date <= dates.end);
}

/** What the question shows of its own cases is all that may judge an answer before it is given. */
function shownExamples(spec: GraderSpec, tools: GraderTools): Grader | undefined {
  if (spec.kind !== 'cases' || !spec.visible) return undefined;
  return createGrader({ ...spec, cases: spec.cases.slice(0, spec.visible) }, tools);
}
