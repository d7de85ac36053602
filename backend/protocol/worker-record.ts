import * as z from 'zod';
import { STEP_ROLES } from './step-role.ts';

const share = z.number().min(0).max(1);
const count = z.number().int().nonnegative();

/** What tests said of a worker before, as the Conductor is told. Counts, so that every reader can weigh how few they are. */
export const workerRecordSchema = z.object({
  /** Id of the worker. */
  worker: z.string(),
  /** Plans of this project with a verdict in which it did a step. */
  runs: count,
  /** Of them, those whose answer was verified. */
  verified: count,
  /** The steps that it did in them. */
  steps: count,
  /** Mean dollars of a step; absent if the price of one was unknown. */
  usd: z.number().nonnegative().optional(),
  /** Mean time of a step. */
  durationMs: z.number().nonnegative(),
  /** The verified share to expect for such a question, drawn towards what is known otherwise where it is known from few; absent in runs of an earlier version. */
  expected: share.optional(),
  /** The same counts of other projects; absent without any. */
  elsewhere: z.object({ runs: count, verified: count }).optional(),
  /** What to expect by role, where at least two roles have enough answers. */
  roles: z.array(z.object({ role: z.enum(STEP_ROLES), expected: share })).optional(),
});
export type WorkerRecord = z.infer<typeof workerRecordSchema>;
