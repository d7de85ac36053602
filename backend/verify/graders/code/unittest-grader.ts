import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { TestChange, TestStatus } from '../../../protocol/verdict.ts';
import { answerCode } from '../answer-code.ts';
import {
  GraderInfrastructureError,
  infrastructureGrade,
  orInfrastructure,
  shortened,
  testsGrade,
  wholeGrade,
  type Grade,
  type GradeOptions,
  type Grader,
} from '../grader.ts';
import { lastComplaint, type ProgramLimits, type ProgramRun, type ProgramSandbox } from './program-sandbox.ts';
import { MISSING_MODULES_DRIVER, UNITTEST_DRIVER } from './unittest-driver.ts';

export interface UnittestGraderOptions {
  /** Python source with a class of tests. It and the program become one module. */
  readonly test: string;
  readonly className?: string | undefined;
  /** Source before the answer's, such as the imports of the task. */
  readonly prelude?: string | undefined;
  /** Modules that tests and answers may import. If one is missing, the outcome is `infrastructure`. */
  readonly modules?: readonly string[] | undefined;
  readonly limits?: Partial<ProgramLimits> | undefined;
}

/** BigCodeBench's defaults: of `untrusted_check` (`bigcodebench/eval/__init__.py`), and of its command line for the data limit. */
export const DEFAULT_UNITTEST_LIMITS: ProgramLimits = { cpuTimeMs: 60_000, memoryBytes: 4 * 1024 ** 3 };

type Ran = { readonly report: z.infer<typeof reportSchema> } | { readonly problem: string };

const reportSchema = z.object({
  key: z.string(),
  tests: z.record(z.string().max(500), z.enum(['passed', 'failed', 'skipped'])),
  tricks: z.array(z.string().max(500)).max(20),
});

const MAX_TESTS = 1_000;

/**
 * Runs a class of unit tests on the program of an answer. The tests need the program's values, so both share a process, and the program
 * can find the expected values in it. As a control, a program that passes runs again with every test made to fail. All of them must be
 * reported as failed. This does not detect a program that manipulates the driver in memory or knows the tests by heart.
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
    return await orInfrastructure(() => this.#gradeProgram(program, names, signal));
  }

  async #gradeProgram(program: string, names: readonly string[], signal: AbortSignal): Promise<Grade> {
    await this.#requireModules(signal);
    const ran = await this.#run(program, false, signal);
    if ('problem' in ran) return testsGrade(statuses(names, {}), ran.problem);
    const { tests, tricks } = ran.report;
    if (tricks.length > 0)
      return testsGrade(statuses(names, {}), `The program changes how tests are judged: ${shortened(tricks.join(', '))}.`);
    const grade = testsGrade(statuses(names, tests), undefined);
    if (!grade.verified || (await this.#holdsInControl(names, program, signal))) return grade;
    return testsGrade(statuses(names, {}), 'Tests that were made to fail were reported as passed.');
  }

  /** Whether each test is reported as failed if it is made to fail. */
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

function readReport(run: ProgramRun, key: string): Ran {
  if (run.end === 'out of time') return { problem: 'They did not end in time.' };
  try {
    const report = reportSchema.parse(JSON.parse(run.output ?? ''));
    if (run.end === 'ended' && report.key === key && Object.keys(report.tests).length <= MAX_TESTS) return { report };
  } catch {
    // The problem below.
  }
  return { problem: `The program ended before the tests had been reported. ${lastComplaint(run)}`.trim() };
}

/** The tests that the report must contain. */
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
