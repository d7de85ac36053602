import * as z from 'zod';
import { evaluationBudgetSchema } from './evaluation-request.ts';
import { usageSchema } from './usage.ts';

/* Evaluations as clients see them. An evaluation is known by its folder (absolute). */

const estimateSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });
const share = z.number().min(0).max(1);
const count = z.number().int().nonnegative();

/** How a contestant did. All figures are means over tasks and seeds. */
export const resultRowSchema = z.object({
  name: z.string(),
  /** Share of right answers, with its 95 % interval. */
  right: estimateSchema,
  /** Right answers less those of the best single worker, and the p-value of Fisher's randomisation test for pairs; absent for that worker. */
  versusBest: z.object({ difference: estimateSchema, pValue: z.number() }).optional(),
  /** Dollars for a task, as if no other contestant had asked the same. */
  costUsd: z.number(),
  /** Tokens for a task, by kind. */
  usage: usageSchema.extend({ uncachedInput: z.number(), cacheRead: z.number(), cacheWrite: z.number(), output: z.number(), reasoning: z.number() }),
  seconds: z.number(),
  /** For a Conductor: the share of its texts that are valid plans. */
  formatRate: z.number().optional(),
  /** No other contestant is better for the same money, or cheaper for the same score. */
  isOnFrontier: z.boolean(),
});
export type ResultRow = z.infer<typeof resultRowSchema>;

const stepTraceSchema = z.object({
  worker: z.string(),
  subtask: z.string(),
  reads: z.array(z.number().int()),
  output: z.string(),
  served: z.boolean(),
});

/** One answer of a contestant to a task, judged. */
export const sampleSchema = z.object({
  contestant: z.string(),
  task: z.string(),
  seed: z.number().int(),
  verified: z.boolean(),
  score: share,
  /** Why it has this grade, in one sentence. */
  reason: z.string(),
  answer: z.string(),
  /** Of a task of a project: what the answer changes, as a diff. Absent where an earlier version judged it. */
  change: z.string().optional(),
  costUsd: z.number().nonnegative(),
  usage: usageSchema,
  seconds: z.number().nonnegative(),
  /** For a Conductor: whether its text was a valid plan. */
  isPlan: z.boolean().optional(),
  traces: z.array(z.array(stepTraceSchema)),
});
export type Sample = z.infer<typeof sampleSchema>;

/** A sample without what was said. */
export const listedSampleSchema = sampleSchema.pick({ contestant: true, task: true, seed: true, verified: true, costUsd: true, isPlan: true });
export type ListedSample = z.infer<typeof listedSampleSchema>;

/** A sample with its question, where that is known. Long texts are cut off: `samples.jsonl` has them whole. */
export const wholeSampleSchema = sampleSchema.extend({ question: z.string().optional() });
export type WholeSample = z.infer<typeof wholeSampleSchema>;

/**
 * `preparing`: its tasks are read or made. `waiting`: for a key. `elsewhere`: another process is at work on it. `stopped`: by a person, or
 * with its process. `budget`: the next call does not fit. `over`: all is answered, and its files of results are written.
 */
export const EVALUATION_STATES = ['preparing', 'running', 'waiting', 'elsewhere', 'stopped', 'budget', 'failed', 'over'] as const;

export const evaluationSummarySchema = z.object({
  folder: z.string(),
  state: z.enum(EVALUATION_STATES),
  /** What it waits for, or why it failed; one sentence. */
  message: z.string().optional(),
  /** Where its tasks came from: names of files, `gym`, `project`. */
  sources: z.array(z.string()),
  startedAt: z.number(),
  simulated: z.boolean(),
  done: count,
  /** Of samples; 0 while it is not known. */
  all: count,
  /** Workers are tried on tasks of practice first: `done` and `all` count those. */
  isPractice: z.boolean(),
  spentUsd: z.number().nonnegative(),
});
export type EvaluationSummary = z.infer<typeof evaluationSummarySchema>;

/** Tasks of an evaluation by their source. */
export const taskCountSchema = z.object({ name: z.string(), tasks: count, forms: z.record(z.string(), count) });

export const evaluationSchema = evaluationSummarySchema.extend({
  budget: evaluationBudgetSchema,
  seeds: count,
  /** Tasks that all contestants have answered: the rows compare these. */
  compared: count,
  tasks: count,
  /** Ids of workers. */
  pool: z.array(z.string()),
  /** The worker that contestants with one worker use, and why it was chosen. */
  best: z.object({ worker: z.string(), why: z.string() }).optional(),
  spent: z.object({ usd: z.number(), tokens: z.number(), unpricedTokens: z.number(), calls: count, lost: count }).optional(),
  rows: z.array(resultRowSchema),
  /** The page of results, once it is written. */
  page: z.string().optional(),
});
export type EvaluationView = z.infer<typeof evaluationSchema>;

/** What an evaluation would cost, before money is spent. */
export const evaluationOfferSchema = z.object({
  folder: z.string(),
  calls: count,
  usd: z.number().nonnegative(),
  /** Ids of workers whose calls have no known price. */
  unpriced: z.array(z.string()),
  pool: z.array(z.string()),
  tasks: z.array(taskCountSchema),
  simulated: z.boolean(),
  /** What was paid before in this folder: it is not paid for again. */
  before: z.object({ calls: count, usd: z.number().nonnegative() }),
});
export type EvaluationOffer = z.infer<typeof evaluationOfferSchema>;

export const MOST_LISTED_SAMPLES = 500;

export const samplesRequestSchema = z.object({
  folder: z.string().min(1).max(4_096),
  /** All by default. */
  contestant: z.string().max(1_000).optional(),
  verified: z.boolean().optional(),
  offset: count,
  limit: z.number().int().min(1).max(MOST_LISTED_SAMPLES),
});
export const samplesSchema = z.object({ samples: z.array(listedSampleSchema), all: count });
