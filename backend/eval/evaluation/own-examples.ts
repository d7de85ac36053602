import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import type { PlanExample } from '../../conductor/plan-examples.ts';
import { MAX_STEPS } from '../../workflow/plan.ts';
import { EvaluationRequestError } from './request-error.ts';

const MAX_BYTES = 1024 * 1024;
const MOST_EXAMPLES = 20;

const access = z.union([z.literal('all'), z.tuple([z.literal('all')]), z.array(z.number().int().min(0))]);
const exampleSchema = z.object({
  question: z.string().min(1),
  reasoning: z.string(),
  model_id: z.array(z.number().int().min(0)).min(1).max(MAX_STEPS),
  subtasks: z.array(z.string().min(1)),
  access_list: z.array(access),
}).refine(({ model_id: ids, subtasks, access_list: lists }) => ids.length === subtasks.length && ids.length === lists.length, 'the three lists differ in length');

/** A person's examples for a Conductor's prompt: JSON lines with a question, the reasoning and the three lists of a plan. @throws EvaluationRequestError */
export async function readOwnExamples(file: string): Promise<PlanExample[]> {
  const { size } = await stat(file);
  if (size > MAX_BYTES) throw new EvaluationRequestError(`${file} is larger than 1 MiB: a prompt has room for a few examples.`);
  const lines = (await readFile(file, 'utf8')).split('\n').map((text, index) => ({ text: text.trim(), line: index + 1 })).filter(({ text }) => text !== '');
  if (lines.length === 0 || lines.length > MOST_EXAMPLES) throw new EvaluationRequestError(`${file} has ${lines.length} examples: give 1 to ${MOST_EXAMPLES}, one a line.`);
  return lines.map(({ text, line }) => {
    const parsed = exampleSchema.safeParse(objectIn(text));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new EvaluationRequestError(`Line ${line} of ${file} is no example: ${issue?.path.join('.') || 'the line'}: ${issue?.message ?? 'is not valid'}.`);
    }
    const { question, reasoning, model_id: modelIds, subtasks, access_list: lists } = parsed.data;
    return { question, reasoning, plan: { modelIds, subtasks, accessList: lists.map((entry) => (entry === 'all' || entry[0] === 'all' ? 'all' : (entry as number[]))) } };
  });
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
