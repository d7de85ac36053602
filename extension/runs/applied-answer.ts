import * as z from 'zod';
import { fileEditSchema } from '../../backend/protocol/methods.ts';

/** The last applied answer, kept in workspace storage so that it can be undone after a reload. */
const appliedSchema = z.object({ runId: z.string(), folder: z.string(), edits: z.array(fileEditSchema) });
export type Applied = z.infer<typeof appliedSchema>;

/** @param raw from workspace storage. @returns undefined if it is not a valid record */
export function readApplied(raw: unknown): Applied | undefined {
  return appliedSchema.safeParse(raw).data;
}
