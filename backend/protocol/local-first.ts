import * as z from 'zod';

/*
 * Local first: a worker that costs nothing may try a question before anybody is paid, and the tests decide whether its answer is enough.
 * docs/decisions/0027-a-worker-that-costs-nothing-may-try-first.md has the reasons.
 */

/** Why nobody tries first although it was asked for. */
export const noTrySchema = z.enum([
  /** No test command judges the answer. */
  'no-tests',
  /** The tests give no result on the code as it is. */
  'no-result',
  /** All tests pass on the code as it is: none could verify a try. */
  'nothing-red',
  /** The question wants no change of the project. */
  'no-change',
  /** No worker of the run costs nothing. */
  'nobody-free',
  /** Nobody in the run costs money. */
  'nobody-paid',
]);
export type NoTry = z.infer<typeof noTrySchema>;

/** How tries turned out in a project so far, by the journal. */
export const localRecordSchema = z.object({
  /** Questions that were tried first at no cost. */
  tried: z.number().int().nonnegative(),
  /** Of them, those whose try was verified: nobody was paid. */
  verified: z.number().int().nonnegative(),
  /** The mean time of a try with its tests; absent without one. */
  durationMs: z.number().nonnegative().optional(),
  /** What the verified tries saved if each had cost as much as a run in which workers were paid: absent where too few runs say what that is. */
  saved: z.object({
    /** In dollars. */
    usd: z.number().nonnegative(),
    /** The number of runs in which workers were paid. */
    runs: z.number().int().min(1),
  }).optional(),
});
export type LocalRecord = z.infer<typeof localRecordSchema>;

/** Who would try first in a project, and how tries turned out there. */
export const localFirstSchema = z.object({
  /** Id of the worker; absent where no worker of the next run costs nothing, or nobody costs money, its Conductor included. */
  worker: z.string().optional(),
  /** Absent without a project, or without a worker. */
  record: localRecordSchema.optional(),
});
export type LocalFirst = z.infer<typeof localFirstSchema>;

export const NO_LOCAL_RECORD: LocalRecord = { tried: 0, verified: 0 };
