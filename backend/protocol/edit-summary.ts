import * as z from 'zod';

/** A file changed by the answer, as a diff to show. The edit to apply is computed from the answer again. */
export const editSummarySchema = z.object({
  path: z.string(),
  kind: z.enum(['create', 'modify', 'delete']),
  /** Unified diff against the workspace at the time of the answer. */
  diff: z.string(),
});
export type EditSummary = z.infer<typeof editSummarySchema>;
