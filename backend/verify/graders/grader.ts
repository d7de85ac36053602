import type { TestChange, Verdict } from '../../protocol/verdict.ts';

/**
 * A grader's result, with the fields of a verdict. `infrastructure`: the machine or the task failed. That is neither a pass nor a failure
 * and never becomes a reward.
 */
export type Grade = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'> & {
  /** For a task of a project: what the answer changes, as a diff; empty if nothing. */
  readonly change?: string;
};

export interface GradeOptions {
  /** The text of the last worker. It is untrusted and may be of any length. */
  readonly answer: string;
  readonly signal: AbortSignal;
}

/** Judges answers to one task that has no project tests. */
export interface Grader {
  /** A fault of the answer, the task or the machine is an outcome, not an error. Throws only the signal's reason. */
  grade(options: GradeOptions): Promise<Grade>;
}

/** For an answer that is right or wrong as a whole. */
export function wholeGrade(isRight: boolean, reason: string): Grade {
  return {
    verified: isRight,
    score: isRight ? 1 : 0,
    outcome: isRight ? 'verified' : 'failed',
    reason,
    tests: [{ id: 'answer', before: 'missing', after: isRight ? 'passed' : 'failed' }],
  };
}

/** For an answer that tests ran on: verified if all passed, else scored by the share that passed. */
export function testsGrade(tests: readonly TestChange[], failure: string | undefined): Grade {
  const passed = tests.filter(({ after }) => after === 'passed').length;
  if (tests.length > 0 && passed === tests.length && failure === undefined) {
    return { verified: true, score: 1, outcome: 'verified', reason: `All ${passed} tests passed.`, tests };
  }
  const score = tests.length === 0 || passed === tests.length ? 0 : passed / tests.length;
  const reason = `${passed} of ${tests.length} tests passed.${failure === undefined ? '' : ` ${failure}`}`;
  return { verified: false, score, outcome: 'failed', reason, tests };
}

/** Calls `grade`. A `GraderInfrastructureError` becomes an outcome. */
export async function orInfrastructure(grade: () => Promise<Grade>): Promise<Grade> {
  try {
    return await grade();
  } catch (error) {
    if (error instanceof GraderInfrastructureError) return infrastructureGrade(error.message);
    throw error;
  }
}

/** The answer was not judged. */
export function infrastructureGrade(reason: string): Grade {
  return { verified: false, score: 0, outcome: 'infrastructure', reason, tests: [] };
}

/** The machine or the task is at fault, not the answer. The message says what is wrong and what to do. */
export class GraderInfrastructureError extends Error {
  override readonly name = 'GraderInfrastructureError';
}

/** The start of a text on one line, for a message. */
export function shortened(text: string, maxCharacters = 80): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters)}…`;
}
