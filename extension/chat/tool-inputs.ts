import * as z from 'zod';

/*
 * What models call the tools with: the schemas of package.json, as VS Code tells them, are hints that a model need not keep to.
 */

const folder = z.string().min(1).max(4_096).optional();

const solveInputSchema = z.object({
  question: z.string().trim().min(1).max(32_000),
  folder,
  files: z.array(z.string().min(1).max(4_096)).max(64).default([]),
  continues: z.string().min(1).max(64).optional(),
});
export type SolveInput = z.infer<typeof solveInputSchema>;

const verifyInputSchema = z.object({ folder });

const runsInputSchema = z.object({
  runId: z.string().min(1).max(64).optional(),
  search: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(100).optional(),
});

export const readSolveInput = (input: unknown): SolveInput => read(solveInputSchema, input);
export const readVerifyInput = (input: unknown): z.infer<typeof verifyInputSchema> => read(verifyInputSchema, input);
export const readRunsInput = (input: unknown): z.infer<typeof runsInputSchema> => read(runsInputSchema, input);

/** @throws Error that says which part of the input is wrong */
function read<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const read = schema.safeParse(input ?? {});
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`The input of the tool is wrong: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}.`);
}
