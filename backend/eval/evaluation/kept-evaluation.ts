import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { clip } from '../../common/clip.ts';
import { replaceFile } from '../../common/replace-file.ts';
import { evaluationRequestSchema } from '../../protocol/evaluation-request.ts';
import { sampleSchema, taskCountSchema, type Sample } from '../../protocol/evaluations.ts';
import { simulationSchema } from '../../protocol/simulation.ts';
import { FILES } from './files.ts';

/*
 * What an evaluation leaves in its folder while it is under way, so that any client can show it and go on with it: what was asked for
 * (`evaluation.json`), its questions (`tasks.jsonl`), and each sample as soon as it is judged (`samples.jsonl`, in order at the end).
 */

/** The version changes with every change that a reader of the file would notice. */
export const keptEvaluationSchema = z.object({
  version: z.literal(1),
  request: evaluationRequestSchema,
  /** The simulation whose workers were meant. */
  simulation: simulationSchema.optional(),
  /** Who runs it. A backend goes on with what its predecessor had under way. */
  host: z.enum(['terminal', 'backend']),
  startedAt: z.number(),
  /** `running` also of a process that was killed. */
  state: z.enum(['running', 'stopped', 'budget', 'failed', 'over']),
  message: z.string().optional(),
  /** Absent while tasks are read or made. */
  lineUp: z.object({
    tasks: z.array(taskCountSchema), contestants: z.array(z.string()), pool: z.array(z.string()), best: z.object({ worker: z.string(), why: z.string() }), simulated: z.boolean(),
  }).optional(),
  /** Samples; of a killed process, those before it. */
  judged: z.number().int().nonnegative().optional(),
  spent: z.object({ usd: z.number(), tokens: z.number(), unpricedTokens: z.number(), calls: z.number().int(), lost: z.number().int() }).optional(),
});
export type KeptEvaluation = z.infer<typeof keptEvaluationSchema>;

/** Larger files are not read: an evaluation of thousands of samples has some tens of megabytes. */
const MOST_BYTES = 256 * 1024 * 1024;
const QUESTION_CHARACTERS = 20_000;

export async function keepEvaluation(folder: string, kept: KeptEvaluation): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(path.join(folder, FILES.kept), `${JSON.stringify(kept, null, 2)}\n`);
}

/** Undefined if there is none, or only one in the form of another version. */
export async function readKeptEvaluation(folder: string): Promise<KeptEvaluation | undefined> {
  const text = await readText(path.join(folder, FILES.kept));
  if (text === undefined) return undefined;
  try {
    return keptEvaluationSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The samples of one run of an evaluation, written one by one. A killed process leaves what it has judged. */
export class SampleLog {
  readonly #file: string;

  /** Begins anew: what was judged before comes again, from the evaluation's own file. @throws file system errors */
  constructor(folder: string, questions: readonly { readonly id: string; readonly question: string }[]) {
    this.#file = path.join(folder, FILES.samples);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.#file, '', { mode: 0o600 });
    const lines = questions.map(({ id, question }) => `${JSON.stringify({ task: id, question: clip(question, QUESTION_CHARACTERS) })}\n`);
    writeFileSync(path.join(folder, FILES.questions), lines.join(''), { mode: 0o600 });
  }

  add(sample: Sample): void {
    appendFileSync(this.#file, `${JSON.stringify(sample)}\n`);
  }
}

/** A line that is cut off, or is none of this form, is left out. */
export const readSamples = (folder: string): Promise<Sample[]> => readLines(path.join(folder, FILES.samples), sampleSchema);

const questionSchema = z.object({ task: z.string(), question: z.string() });

/** By the id of the task. */
export async function readQuestions(folder: string): Promise<ReadonlyMap<string, string>> {
  return new Map((await readLines(path.join(folder, FILES.questions), questionSchema)).map(({ task, question }) => [task, question]));
}

/** Changes whenever the samples in the folder do. */
export async function samplesStamp(folder: string): Promise<string> {
  const found = await stat(path.join(folder, FILES.samples)).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

async function readText(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() && found.size <= MOST_BYTES ? await readFile(file, 'utf8').catch(() => undefined) : undefined;
}

async function readLines<T>(file: string, schema: z.ZodType<T>): Promise<T[]> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile() || found.size > MOST_BYTES) return [];
  const handle = await open(file);
  const read: T[] = [];
  for await (const line of handle.readLines()) {
    const row = parsed(line, schema);
    if (row !== undefined) read.push(row);
  }
  return read;
}

function parsed<T>(line: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
