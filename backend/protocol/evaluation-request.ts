import * as z from 'zod';
import { CONTESTANTS, type ContestantName } from './contestants.ts';
import { testCommandText, testImageName, testReportsGlob, testRunnerName } from './test-command.ts';

/** `gym`, `project`, or the absolute path of a file. */
const tasksSchema = z.string().max(4_096).regex(/^(?:gym|project|\/.*|[A-Za-z]:[\\/].*|\\\\.*)$/s, 'Name tasks by an absolute path, or gym, or project.');
const fileSchema = z.string().min(1).max(4_096);
const daySchema = z.iso.date();

/** The budget of an evaluation: for all calls together, also those before a restart. */
export const evaluationBudgetSchema = z.object({ usd: z.number().positive().max(1_000_000), tokens: z.number().int().positive() });
export type EvaluationBudget = z.infer<typeof evaluationBudgetSchema>;

/** What is to be evaluated. */
export const evaluationRequestSchema = z.object({
  sources: z.array(tasksSchema).min(1).max(32),
  /** Tasks that routers learn from; `project`: tasks of other files of the project than those of the evaluation. */
  practice: z.array(tasksSchema).max(32),
  /** What `project` is: the workspace (absolute), and how its tests run. */
  project: z.object({
    workspace: fileSchema,
    test: z.object({ command: testCommandText.optional(), runner: testRunnerName.optional(), reports: testReportsGlob.optional() }).optional(),
    image: testImageName.optional(),
  }).optional(),
  contestants: z.array(z.enum(Object.keys(CONTESTANTS) as [ContestantName, ...ContestantName[]])).max(32),
  /** Workers that plan, with their switches. */
  planners: z.array(z.string().min(1).max(400)).max(64),
  /** Of each Conductor whose switches name none. */
  rounds: z.number().int().min(1).max(6),
  attempts: z.number().int().min(1).max(5),
  /** A file (absolute) of a person's examples for the prompts of Conductors. */
  examples: fileSchema.optional(),
  /** Ids; all enabled workers by default. */
  pool: z.array(z.string().min(1).max(200)).min(1).max(64).optional(),
  /** Simulated workers instead of those of workers.json. */
  simulated: z.boolean(),
  best: z.string().min(1).max(200).optional(),
  /** BigCodeBench's questions: in words, or the start of a program. */
  bigCodeBench: z.enum(['instruct', 'complete']).optional(),
  /** Of tasks of files that have dates. */
  dates: z.object({ start: daySchema.optional(), end: daySchema.optional() }).optional(),
  /** At most this many tasks of each source. */
  limit: z.number().int().min(1).max(1_000_000_000).optional(),
  seeds: z.number().int().min(1).max(100),
  seed: z.number().int().min(0).max(1_000_000_000),
  budget: evaluationBudgetSchema,
  concurrency: z.number().int().min(1).max(64),
});
export type AskedEvaluation = z.output<typeof evaluationRequestSchema>;

/** Unless somebody says otherwise. */
export const USUAL_EVALUATION = {
  practice: [], contestants: [], planners: [], rounds: 1, attempts: 1, simulated: false, seeds: 1, seed: 1,
  budget: { usd: 10, tokens: 20_000_000 }, concurrency: 8,
} as const satisfies Partial<AskedEvaluation>;
