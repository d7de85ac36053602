import * as z from 'zod';

/** What a worker did in one project, in runs that the project's tests judged. Counts, so that every reader can weigh how few they are. */
export const workerRecordSchema = z.object({
  /** Id of the worker. */
  worker: z.string(),
  /** Judged runs in which it did a step. */
  runs: z.number().int().min(1),
  /** Of them, those whose answer was verified. */
  verified: z.number().int().nonnegative(),
  /** The steps that it did in them. */
  steps: z.number().int().min(1),
  /** Mean dollars of a step; absent if the price of one was unknown. */
  usd: z.number().nonnegative().optional(),
  /** Mean time of a step. */
  durationMs: z.number().nonnegative(),
});
export type WorkerRecord = z.infer<typeof workerRecordSchema>;
