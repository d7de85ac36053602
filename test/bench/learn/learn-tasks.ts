import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { isVerified } from '../../../backend/protocol/verdict-facts.ts';
import { countTokens } from '../../../backend/simulator/simulated-model.ts';
import type { MinedTask } from '../hands/mined-tasks.ts';

/*
 * Tasks that a training would mine from real projects, and what the real judge said of each answer that a simulated worker can give, once. Code of the
 * projects is not kept: an answer is known by what it is.
 */

const answerSchema = z.object({
  /** The change that was undone, a token of it mistaken, or nothing but a remark. */
  is: z.enum(['right', 'spoilt', 'none']),
  /** The outcome of the verdict, and whether it counts as verified. */
  outcome: z.string(),
  verified: z.boolean(),
  /** Of the changed lines. */
  tokens: z.number().int().nonnegative(),
});

const learnTaskSchema = z.object({
  id: z.string(),
  project: z.string(),
  language: z.string(),
  kind: z.enum(['write', 'repair', 'redo']),
  question: z.string(),
  /** What every step reads: the files that the task is about. */
  contextTokens: z.number().int().nonnegative(),
  /** The right one first. */
  answers: z.array(answerSchema).min(2),
});
export type LearnTask = z.infer<typeof learnTaskSchema>;

export const outcomesSchema = z.object({
  projects: z.array(z.object({ name: z.string(), repository: z.string(), commit: z.string(), language: z.string(), command: z.string() })),
  tasks: z.array(learnTaskSchema),
});
export type Outcomes = z.infer<typeof outcomesSchema>;

export const OUTCOMES = new URL('outcomes.json', import.meta.url);

export async function readOutcomes(): Promise<Outcomes> {
  return outcomesSchema.parse(JSON.parse(await readFile(OUTCOMES, 'utf8')));
}

export function withoutCode({ project, record: { id, kind, question, after, context }, answers }: MinedTask, language: string): LearnTask {
  return {
    id, project, language, kind, question,
    contextTokens: countTokens(context),
    answers: answers.map(({ text, verdict }, index) => ({
      is: index === 0 ? 'right' : index === answers.length - 1 ? 'none' : 'spoilt',
      outcome: verdict.outcome, verified: isVerified(verdict), tokens: countTokens(changedLines(after ?? '', text)),
    })),
  };
}

/** What records and routers know of a task before it is done: its project and the kind of its question. */
export function subjectOf({ project, question }: Pick<LearnTask, 'project' | 'question'>): { readonly project: string; readonly kind: string } {
  return { project, kind: readQuestion(question, { inProject: true }).kind };
}

/** The same in one word. */
export function cellOf(task: Pick<LearnTask, 'project' | 'question'>): string {
  const { project, kind } = subjectOf(task);
  return `${project}: ${kind}`;
}

/** The last third of each project's tasks of each kind is never paid for. */
export function splitTasks(tasks: readonly LearnTask[]): { readonly train: readonly LearnTask[]; readonly heldOut: readonly LearnTask[] } {
  const groups = [...Map.groupBy(tasks, ({ project, kind }) => `${project} ${kind}`).values()];
  const cut = ({ length }: readonly LearnTask[]): number => Math.ceil((2 / 3) * length);
  return { train: groups.flatMap((group) => group.slice(0, cut(group))), heldOut: groups.flatMap((group) => group.slice(cut(group))) };
}

/** From the first to the last line that differs. */
function changedLines(before: string, after: string): string {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  return to.slice(start, to.length - end).join('\n');
}
