import * as z from 'zod';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';

/** Arguments of the command `conductor.solve` from extensions, keybindings and tests. */
const solveArgumentsSchema = z.object({ question: z.string(), confirmContext: z.boolean().optional() });
export type SolveArguments = z.infer<typeof solveArgumentsSchema>;

/** @returns undefined for other arguments, such as those of menus */
export function readSolveArguments(argument: unknown): SolveArguments | undefined {
  return solveArgumentsSchema.safeParse(argument).data;
}

/** @throws Error with a sentence about the invalid part of the request */
export function checkRequest(request: RunRequestInput): void {
  const checked = runRequestSchema.safeParse(request);
  if (!checked.success) throw new Error(sentenceOf(checked.error));
}

function sentenceOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const text = issue?.message ?? error.message;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
