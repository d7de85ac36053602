import * as z from 'zod';
import { usageSchema } from '../../protocol/usage.ts';

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
  score: z.number().min(0).max(1),
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
