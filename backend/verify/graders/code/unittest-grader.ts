import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { TestChange, TestStatus } from '../../../protocol/verdict.ts';
import { answerCode } from '../answer-code.ts';
import {
  GraderInfrastructureError,
  infrastructureGrade,
  shortened,
  testsGrade,
  wholeGrade,
  type Grade,
  type GradeOptions,
  type Grader,
} from '../grader.ts';
import type { ProgramLimits, ProgramRun, ProgramSandbox } from './program-sandbox.ts';
import { MISSING_MODULES_DRIVER, UNITTEST_DRIVER } from './unittest-driver.ts';

export interface UnittestGraderOptions {
  /** Python source with a class of tests. It may name what the program defines: both become one module. */
  readonly test: string;
  readonly className?: string | undefined;
  /** Source that comes before the answer's, such as the imports of the task. */
  readonly prelude?: string | undefined;
  /** Modules that tests and answers may import. Where one is missing, nothing can be learned here. */
  readonly modules?: readonly string[] | undefined;
  readonly limits?: Partial<ProgramLimits> | undefined;
}

/** The defaults of BigCodeBench: of `untrusted_check` (`bigcodebench/eval/__init__.py`) and of its command line for data. */
export const DEFAULT_UNITTEST_LIMITS: ProgramLimits = { cpuTimeMs: 60_000, memoryBytes: 4 * 1024 ** 3 };

type Ran = { readonly report: z.infer<typeof reportSchema> } | { readonly problem: string };

const reportSchema = z.object({
  key: z.string(),
  tests: z.record(z.string().max(500), z.enum(['passed', 'failed', 'skipped'])),
  tricks: z.array(z.string().max(500)).max(20),
});

const MAX_TESTS = 1_000;

/**
 * Runs a class of unit tests on the program of an answer. The tests have to see the program's values, so the two share a process
 * and the expected values can be found in it: what passes is run again with every test made to fail, and has to say so. A program
 * that takes apart the driver in memory, or that knows the tests by heart, cannot be told from an honest one.
 */
export class UnittestGrader implements Grader {
  readonly #options: UnittestGraderOptions;
  readonly #programs: Pick<ProgramSandbox, 'run'>;
  #hasModules = false;

  constructor(options: UnittestGraderOptions, programs: Pick<ProgramSandbox, 'run'>) {
    this.#options = options;
    this.#programs = programs;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const code = answerCode(answer, 'python');
    if (code === undefined) return wholeGrade(false, 'The answer has no complete python code block.');
    const names = testNames(this.#options.test);
    if (names.length === 0) return infrastructureGrade('The task has no tests.');
    const { prelude } = this.#options;
    const program = prelude === undefined ? code : `${prelude}\n${code}`;
    try {
      await this.#requireModules(signal);
      const ran = await this.#run(program, false, signal);
      if ('problem' in ran) return testsGrade(statuses(names, {}), ran.problem);
      const { tests, tricks } = ran.report;
      if (tricks.length > 0) {
        return testsGrade(statuses(names, {}), `The program changes how tests are judged: ${shortened(tricks.join(', '))}.`);
      }
      const grade = testsGrade(statuses(names, tests), undefined);
      if (!grade.verified) return grade;
      return (await this.#holdsInControl(names, program, signal))
        ? grade
        : testsGrade(statuses(names, {}), 'Tests that were made to fail were reported as passed.');
    } catch (error) {
      if (error instanceof GraderInfrastructureError) return infrastructureGrade(error.message);
      throw error;
    }
  }

  /** Whether each test is reported as failed once it has been made to fail. */
  async #holdsInControl(names: readonly string[], program: string, signal: AbortSignal): Promise<boolean> {
    const ran = await this.#run(program, true, signal);
    return 'report' in ran && names.every((name) => ran.report.tests[name] === 'failed');
  }

  async #run(program: string, isControl: boolean, signal: AbortSignal): Promise<Ran> {
    const { test, className = 'TestCases', limits } = this.#options;
    const key = randomUUID();
    const run = await this.#programs.run({
      ...DEFAULT_UNITTEST_LIMITS,
      ...limits,
      language: 'python',
      driver: UNITTEST_DRIVER,
      driverArguments: [],
      source: '',
      input: JSON.stringify({ program, test, className, key, isControl }),
      signal,
    });
    return readReport(run, key);
  }

  async #requireModules(signal: AbortSignal): Promise<void> {
    const { modules = [] } = this.#options;
    if (modules.length === 0 || this.#hasModules) return;
    const run = await this.#programs.run({
      language: 'python',
      driver: MISSING_MODULES_DRIVER,
      driverArguments: [],
      source: '',
      input: modules.join('\n'),
      cpuTimeMs: 20_000,
      memoryBytes: 1024 ** 3,
      signal,
    });
    const missing = run.output?.split(/\s+/).filter((name) => name !== '') ?? [];
    if (run.end !== 'ended' || missing.length > 0) {
      const what = missing.length > 0 ? `lacks ${missing.join(', ')}` : `could not be asked for its modules (${run.complaint})`;
      throw new GraderInfrastructureError(
        `The Python of the sandbox ${what}, which the task needs: install it, or leave the task out.`,
      );
    }
    this.#hasModules = true;
  }
}

function readReport({ end, output, complaint }: ProgramRun, key: string): Ran {
  if (end === 'out of time') return { problem: 'They did not end in time.' };
  try {
    const report = reportSchema.parse(JSON.parse(output ?? ''));
    if (end === 'ended' && report.key === key && Object.keys(report.tests).length <= MAX_TESTS) return { report };
  } catch {
    // Told below.
  }
  return {
    problem: `The program ended before the tests had been reported. ${shortened(complaint.split('\n').at(-1) ?? '', 200)}`.trim(),
  };
}

/** The tests that must be in the report, whatever the report says. */
function testNames(test: string): string[] {
  return [...new Set([...test.matchAll(/^[ \t]+(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm)].map(([, name = '']) => name))];
}

function statuses(names: readonly string[], found: Readonly<Record<string, TestStatus>>): TestChange[] {
  const all = new Set([...names, ...Object.keys(found)]);
  return [...all].map((id) => ({
    id,
    before: 'missing',
    after: Object.hasOwn(found, id) ? (found[id] ?? 'missing') : 'missing',
  }));
}
