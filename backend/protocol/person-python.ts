import * as z from 'zod';

/** The Python environment that a person uses for a project: of a virtual environment or of conda, its folder (absolute). */
export const personPythonSchema = z.strictObject({
  folder: z.string().min(1).max(4_096),
  /** Chosen for the project, as in VS Code. It comes before what is found in the project; one that is only active in a shell comes after. */
  isChosen: z.boolean(),
});
export type PersonPython = z.infer<typeof personPythonSchema>;
