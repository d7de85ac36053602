import * as z from 'zod';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';

/** What another extension, a keybinding or a test may pass to the command `conductor.solve`. */
const solveArgumentsSchema = z.object({ question: z.string(), confirmContext: z.boolean().optional() });
export type SolveArguments = z.infer<typeof solveArgumentsSchema>;

/** @returns undefined for what menus pass. */
export function readSolveArguments(argument: unknown): SolveArguments | undefined {
  return solveArgumentsSchema.safeParse(argument).data;
}

/** @throws Error with a sentence about what of the request may not be as it is. */
export function checkRequest(request: RunRequestInput): void {
  const checked = runRequestSchema.safeParse(request);
  if (!checked.success) throw new Error(sentenceOf(checked.error));
}

function sentenceOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const text = issue?.message ?? error.message;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
