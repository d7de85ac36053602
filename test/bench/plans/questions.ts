import { readFileSync } from 'node:fs';
import * as z from 'zod';

export const QUESTION_KINDS = [
  'explain', 'why', 'how to', 'feature', 'write from nothing', 'bug', 'refactor', 'tests', 'performance', 'review', 'documentation',
  'build and setup', 'small talk', 'follow-up',
] as const;

/** What the asker gets: an answer in words, code by itself, a change of the project, or a plan for people. */
const WANTS = ['words', 'code', 'change', 'plan'] as const;
export type Wants = (typeof WANTS)[number];

/** A question as people ask it, with labels set by hand. */
const labelledQuestionSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(QUESTION_KINDS),
  language: z.string(),
  /** Every product that answers the question. */
  wants: z.array(z.enum(WANTS)).min(1),
  /** Whether the question reports a fault, asks to look for faults, or does neither. */
  fault: z.enum(['none', 'reported', 'sought']),
  /** Words of the question that a plan has to carry. */
  names: z.array(z.string()).max(3),
  /** The largest number of steps that makes sense. */
  steps: z.int().min(1).max(5),
  text: z.string().min(1),
});
export type LabelledQuestion = z.infer<typeof labelledQuestionSchema>;

export const QUESTION_SETS = ['open', 'held-out'] as const;
export type QuestionSet = (typeof QUESTION_SETS)[number];

export function readQuestions(set: QuestionSet): LabelledQuestion[] {
  const lines = readFileSync(new URL(`questions/${set}.jsonl`, import.meta.url), 'utf8').split('\n').filter((line) => line !== '');
  return lines.map((line) => labelledQuestionSchema.parse(JSON.parse(line)));
}
