import * as z from 'zod';
import { fileEditSchema } from '../../backend/protocol/methods.ts';

/** What was applied last, kept in the workspace's own storage so that it can be undone after a reload, too. */
const appliedSchema = z.object({ runId: z.string(), folder: z.string(), edits: z.array(fileEditSchema) });
export type Applied = z.infer<typeof appliedSchema>;

/** @param raw from the workspace's storage. @returns undefined for what is no such record. */
export function readApplied(raw: unknown): Applied | undefined {
  return appliedSchema.safeParse(raw).data;
}
