import * as z from 'zod';

/**
 * How a text file differs from the one it began as, as the lines between the first and the last that differ. Null on one side: there is no
 * such file. Exact, so that a file can be made again from it, and small, so that each turn can be journalled.
 */
export const fileChangeSchema = z.object({
  /** Relative to the workspace, with forward slashes. */
  path: z.string(),
  /** The first line that differs, from 1. */
  line: z.number().int().min(1),
  removed: z.string().nullable(),
  inserted: z.string().nullable(),
});
export type FileChange = z.infer<typeof fileChangeSchema>;
