import * as z from 'zod';

/** What a Conductor is told of the project. What is not known is absent. */
export const projectFactsSchema = z.object({
  /** Names of its main programming languages, the most frequent first. */
  languages: z.array(z.string()).optional(),
  /** The command whose tests judge an answer. */
  testCommand: z.string().optional(),
});
export type ProjectFacts = z.infer<typeof projectFactsSchema>;
