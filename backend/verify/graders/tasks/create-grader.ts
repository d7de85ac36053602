import { CasesGrader, DEFAULT_CASE_LIMITS, type TestCase } from '../code/cases-grader.ts';
import { CheckGrader, DEFAULT_CHECK_LIMITS } from '../code/check-grader.ts';
import type { ProgramLimits, ProgramSandbox } from '../code/program-sandbox.ts';
import { DEFAULT_UNITTEST_LIMITS, UnittestGrader } from '../code/unittest-grader.ts';
import { ExactAnswerGrader } from '../exact-answer.ts';
import { GraderInfrastructureError, type Grader } from '../grader.ts';
import { MathAnswerGrader } from '../math/math-answer.ts';
import type { MathComparer } from '../math/math-comparer.ts';
import { MultipleChoiceGrader } from '../multiple-choice.ts';
import type { GraderSpec } from './grader-spec.ts';
import { unpackCases, UnpackError } from './packed-cases.ts';

export interface GraderTools {
  readonly programs: Pick<ProgramSandbox, 'run'>;
  readonly comparer: Pick<MathComparer, 'same'>;
}

/** Creates the grader that a task file specifies. */
export function createGrader(spec: GraderSpec, { programs, comparer }: GraderTools): Grader {
  switch (spec.kind) {
    case 'cases': {
      const { language, runAllCases, function: functionName } = spec;
      const limits = limitsOf(spec, DEFAULT_CASE_LIMITS);
      return new CasesGrader({ cases: () => allCases(spec), functionName, language, runAllCases, limits }, programs);
    }
    case 'check': {
      const { prelude, test } = spec;
      return new CheckGrader({ prelude, test, limits: limitsOf(spec, DEFAULT_CHECK_LIMITS) }, programs);
    }
    case 'unittest': {
      const { test, className, prelude, modules } = spec;
      return new UnittestGrader({ test, className, prelude, modules, limits: limitsOf(spec, DEFAULT_UNITTEST_LIMITS) }, programs);
    }
    case 'choice': {
      const { choices, answer } = spec;
      const position = typeof answer === 'number' ? answer : answer.toUpperCase().charCodeAt(0) - 65;
      return new MultipleChoiceGrader({ choices, answer: position });
    }
    case 'math':
      return new MathAnswerGrader({ expected: spec.answer, tolerance: spec.tolerance }, comparer);
    case 'exact': {
      const { answer, caseSensitive = false } = spec;
      return new ExactAnswerGrader({ answers: typeof answer === 'string' ? [answer] : answer, caseSensitive });
    }
  }
}

function limitsOf(
  { timeLimitMs, memoryMiB }: { readonly timeLimitMs?: number | undefined; readonly memoryMiB?: number | undefined },
  defaults: ProgramLimits,
): ProgramLimits {
  return {
    cpuTimeMs: timeLimitMs ?? defaults.cpuTimeMs,
    memoryBytes: memoryMiB === undefined ? defaults.memoryBytes : memoryMiB * 1024 * 1024,
  };
}

function allCases({ cases, packedCases }: Extract<GraderSpec, { kind: 'cases' }>): readonly TestCase[] {
  if (packedCases === undefined) return cases;
  try {
    return [...cases, ...unpackCases(packedCases)];
  } catch (error) {
    if (error instanceof UnpackError) throw new GraderInfrastructureError(`The task's cases cannot be read: ${error.message}`);
    throw error;
  }
}
