import type { TestChange } from '../../../protocol/verdict.ts';
import { answerCode, type CodeLanguage } from '../answer-code.ts';
import {
  GraderInfrastructureError,
  infrastructureGrade,
  orInfrastructure,
  testsGrade,
  wholeGrade,
  type Grade,
  type GradeOptions,
  type Grader,
} from '../grader.ts';
import { sameOutput } from './compare-output.ts';
import { isComparable, sameValue } from './compare-value.ts';
import { JAVASCRIPT_DRIVER } from './javascript-driver.ts';
import { lastComplaint, type ProgramLimits, type ProgramRun, type ProgramSandbox } from './program-sandbox.ts';
import { PYTHON_DRIVER } from './python-driver.ts';

/** One case: an input and the expected output. For a function: its arguments as JSON, one per line, and its result as JSON. */
export interface TestCase {
  readonly input: string;
  readonly output: string;
}

export interface CasesGraderOptions {
  /** Called when an answer has a program to run. Throws `GraderInfrastructureError` if the task's cases cannot be read. */
  readonly cases: () => readonly TestCase[];
  /** The function to call. Without it, the program reads standard input and writes standard output. */
  readonly functionName?: string | undefined;
  readonly language?: CodeLanguage | undefined;
  readonly limits?: Partial<ProgramLimits> | undefined;
  /** By default the first failure ends the run, as in LiveCodeBench. The cases after it count as not passed: the score is a lower bound. */
  readonly runAllCases?: boolean | undefined;
  /**
   * Calls the function for all cases in one process, under the limits of one case. This is many times faster, but calls share state. By
   * default each case has its own process.
   */
  readonly inOneProcess?: boolean | undefined;
}

/** The failure of a case, if it failed, and how long it ran. */
interface CaseRun {
  readonly message: string | undefined;
  readonly durationMs: number;
}

/** Six seconds per case, as in LiveCodeBench (`run_test`). */
export const DEFAULT_CASE_LIMITS: ProgramLimits = { cpuTimeMs: 6_000, memoryBytes: 1024 ** 3 };

/** Runs the program of an answer on cases, by default each in its own process and sandbox. Outputs are compared outside the sandbox. */
export class CasesGrader implements Grader {
  readonly #options: CasesGraderOptions;
  readonly #programs: Pick<ProgramSandbox, 'run'>;

  constructor(options: CasesGraderOptions, programs: Pick<ProgramSandbox, 'run'>) {
    this.#options = options;
    this.#programs = programs;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const language = this.#options.language ?? 'python';
    const source = answerCode(answer, language);
    if (source === undefined) return wholeGrade(false, `The answer has no complete ${language} code block.`);
    return await orInfrastructure(async () => {
      const cases = this.#options.cases();
      return cases.length === 0 ? infrastructureGrade('The task has no test cases.') : await this.#gradeOn(cases, source, signal);
    });
  }

  async #gradeOn(cases: readonly TestCase[], source: string, signal: AbortSignal): Promise<Grade> {
    const { functionName, runAllCases = false, inOneProcess = false } = this.#options;
    const wrong = functionName === undefined ? -1 : cases.findIndex(({ output }) => !isComparable(output));
    if (wrong >= 0) throw new GraderInfrastructureError(`The expected result of case ${wrong + 1} is not JSON.`);
    const together = inOneProcess && functionName !== undefined ? await this.#runTogether(cases, source, signal) : undefined;
    const tests: TestChange[] = [];
    let failure: string | undefined;
    for (const [index, testCase] of cases.entries()) {
      const id = `case ${index + 1}`;
      if (failure !== undefined && !runAllCases) {
        tests.push({ id, before: 'missing', after: 'missing' });
        continue;
      }
      const { message, durationMs } = together?.[index] ?? (await this.#runAlone(testCase, source, signal));
      if (message === undefined) tests.push({ id, before: 'missing', after: 'passed', durationMs });
      else tests.push({ id, before: 'missing', after: 'failed', message, durationMs });
      if (message !== undefined) failure ??= `${id}: ${message}`;
    }
    return testsGrade(tests, failure);
  }

  async #runAlone({ input, output }: TestCase, source: string, signal: AbortSignal): Promise<CaseRun> {
    const { functionName } = this.#options;
    const run = await this.#run(functionName === undefined ? input : JSON.stringify(input), source, signal);
    return { message: failureOf(run, output, functionName === undefined ? sameOutput : sameValue), durationMs: run.durationMs };
  }

  /** If the program ends early, the cases that it did not reach fail with the reason. */
  async #runTogether(cases: readonly TestCase[], source: string, signal: AbortSignal): Promise<CaseRun[]> {
    const run = await this.#run(cases.map(({ input }) => JSON.stringify(input)).join('\n'), source, signal);
    const results = run.output?.split('\n').slice(0, -1) ?? [];
    return cases.map(({ output }, index) => {
      const reached: ProgramRun = index < results.length ? { ...run, end: 'ended', output: results[index] } : { ...run, output: '' };
      return { message: failureOf(reached, output, sameValue), durationMs: run.durationMs / cases.length };
    });
  }

  #run(input: string, source: string, signal: AbortSignal): Promise<ProgramRun> {
    const { functionName, language = 'python', limits } = this.#options;
    return this.#programs.run({
      ...DEFAULT_CASE_LIMITS,
      ...limits,
      language,
      driver: language === 'python' ? PYTHON_DRIVER : JAVASCRIPT_DRIVER,
      driverArguments: functionName === undefined ? ['program'] : ['call', functionName],
      source,
      input,
      signal,
    });
  }
}

/** Undefined if the run is right. The expected output is left out of the text, because the text may become part of a later prompt. */
function failureOf(run: ProgramRun, expected: string, isSame: (expected: string, output: string) => boolean): string | undefined {
  switch (run.end) {
    case 'out of time':
      return 'It did not end in time.';
    case 'wrote too much':
      return 'It wrote too much.';
    case 'crashed':
      return `It ended with an error. ${lastComplaint(run)}`.trim();
    case 'ended':
      return isSame(expected, run.output ?? '') ? undefined : 'Its output is not the expected one.';
  }
}
