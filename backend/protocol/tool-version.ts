import * as z from 'zod';

/** A program that the tests ran with, and the version that the project asks for. */
export const toolVersionSchema = z.object({
  /** As people call it: `Node`. */
  name: z.string(),
  version: z.string(),
  /** The environment that it is part of, such as `.venv`. */
  of: z.string().optional(),
  /** What a file of the project asks for, and whether this is it. */
  asked: z.object({ by: z.string(), version: z.string(), isMet: z.boolean() }).optional(),
});
export type ToolVersion = z.infer<typeof toolVersionSchema>;
