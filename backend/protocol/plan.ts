import * as z from 'zod';

/** `all`, or the indices of the earlier steps whose outputs the step may read. */
export const accessSchema = z.union([z.literal('all'), z.array(z.number().int().nonnegative())]);

/** A valid plan: three lists of equal length, with one entry for each step. */
export const planSchema = z.object({
  modelIds: z.array(z.number().int().nonnegative()),
  subtasks: z.array(z.string()),
  accessList: z.array(accessSchema),
});
export type Plan = z.infer<typeof planSchema>;
