import * as z from 'zod';
import { verdictSchema } from './verdict.ts';

/** The verdict on a person's own change, as `conductor verify` writes it into a file for the editor. */
export const verifiedChangeSchema = verdictSchema.extend({
  /** Null if no command was run. */
  command: z.string().nullable(),
  /** The commit that the change was judged against. */
  commit: z.string().nullable(),
});
export type VerifiedChange = z.infer<typeof verifiedChangeSchema>;
