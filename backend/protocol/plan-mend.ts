import * as z from 'zod';

/*
 * Why another plan was taken than a Conductor wrote. It made no sense for its question, and the nearest one that does was taken; or records
 * chose another one.
 */

/** `steps`: more than the question is worth; the others are about one step, or about the last one. */
export const SENSE_RULES = ['steps', 'unread', 'repeated', 'unseen', 'last', 'fault'] as const;
export type SenseRule = (typeof SENSE_RULES)[number];

export const planMendSchema = z.object({
  /** A step counts from 0 in the plan as it was written; absent where the fault is one of the whole plan. */
  wrong: z.array(z.object({ rule: z.enum(SENSE_RULES), step: z.number().int().nonnegative().optional() })),
  /** How many steps were written. */
  written: z.number().int().nonnegative(),
  /** Steps of the plan that was taken, from 0, whose instruction is not one that was written. */
  reworded: z.array(z.number().int().nonnegative()),
  /** Steps that read others than was written; empty where steps were left out, which moves what all others read. */
  rewired: z.array(z.number().int().nonnegative()),
  /** Nothing was wrong: what tests said of workers chose the plan. */
  byRecords: z.literal(true).optional(),
});
export type PlanMend = z.infer<typeof planMendSchema>;
