import { fileURLToPath } from 'node:url';
import { ProgramSandbox } from '../../../backend/verify/graders/code/program-sandbox.ts';
import type { Grade, Grader } from '../../../backend/verify/graders/grader.ts';
import { MathComparer } from '../../../backend/verify/graders/math/math-comparer.ts';
import type { Scratch } from '../setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';

/** Whether programs of a language run in a sandbox here, and what a skipped test says where they do not. */
export async function tryPrograms(language: 'python' | 'javascript'): Promise<{ available: boolean; note: string }> {
  const sandbox = await trySandbox();
  if (!sandbox.available) return sandbox;
  await using scratch = await makeScratch();
  const outcome = await programsIn(scratch)
    .run({
      language,
      driver: language === 'python' ? 'print("here")' : 'console.log("here")',
      driverArguments: [],
      source: '',
      input: '',
      cpuTimeMs: 10_000,
      memoryBytes: 1024 ** 3,
      signal: new AbortController().signal,
    })
    .catch((error: Error) => error);
  if ('output' in outcome && outcome.output?.trim() === 'here') return { available: true, note: 'in the sandbox' };
  return {
    available: false,
    note: `not tried, no ${language} here: ${'message' in outcome ? outcome.message : outcome.complaint}`,
  };
}

export const programsIn = (scratch: Scratch, hidden: readonly string[] = []): ProgramSandbox =>
  new ProgramSandbox({ sandbox: scratch.sandbox, folders: scratch.folders, hidden });

/** A program by its lines. */
export const sourceOf = (...lines: readonly string[]): string => lines.join('\n');

export const python = (source: string): string => `Here it is.\n\n\`\`\`python\n${source}\n\`\`\`\n`;

export const javascript = (source: string): string => `\`\`\`js\n${source}\n\`\`\``;

export const gradeOf = (grader: Grader, answer: string, signal = new AbortController().signal): Promise<Grade> =>
  grader.grade({ answer, signal });

export const mathComparer = (timeoutMs?: number): MathComparer =>
  new MathComparer({
    script: fileURLToPath(new URL('../../../backend/verify/graders/math/math-process.ts', import.meta.url)),
    nodePath: process.execPath,
    environment: {},
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
