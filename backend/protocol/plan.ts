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

/** A plan as a person changed it. Larger than any valid one, so that what is wrong with it can be said in a sentence. */
export const editedPlanSchema = z.strictObject({
  modelIds: z.array(z.number().int().nonnegative()).max(32),
  subtasks: z.array(z.string().max(100_000)).max(32),
  accessList: z.array(z.union([z.literal('all'), z.array(z.number().int().nonnegative()).max(32)])).max(32),
});
