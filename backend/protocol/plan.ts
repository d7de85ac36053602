import * as z from 'zod';

/** `all`, or the positions of the earlier steps whose outputs the step may read. */
export const accessSchema = z.union([z.literal('all'), z.array(z.number().int().nonnegative())]);

/** A valid plan: three lists of one length, one entry a step. */
export const planSchema = z.object({
  modelIds: z.array(z.number().int().nonnegative()),
  subtasks: z.array(z.string()),
  accessList: z.array(accessSchema),
});
export type Plan = z.infer<typeof planSchema>;
