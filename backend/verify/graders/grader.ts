import type { TestChange, Verdict } from '../../protocol/verdict.ts';

/**
 * What a grader says of an answer, in the words of a verdict. `infrastructure`: the machine or the task failed, so nothing was
 * learned; it is neither a pass nor a failure and never becomes a reward.
 */
export type Grade = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'>;

export interface GradeOptions {
  /** The answer as the last worker wrote it: untrusted, of any length. */
  readonly answer: string;
  readonly signal: AbortSignal;
}

/** Judges answers to one task that has no project tests. */
export interface Grader {
  /** Whatever is wrong with answer, task or machine is an outcome. On abort it throws the signal's reason. */
  grade(options: GradeOptions): Promise<Grade>;
}

/** The grade of an answer that is right or wrong as a whole. */
export function wholeGrade(isRight: boolean, reason: string): Grade {
  return {
    verified: isRight,
    score: isRight ? 1 : 0,
    outcome: isRight ? 'verified' : 'failed',
    reason,
    tests: [{ id: 'answer', before: 'missing', after: isRight ? 'passed' : 'failed' }],
  };
}

/** The grade of an answer that was run through tests: verified where all passed, else scored by the share that did. */
export function testsGrade(tests: readonly TestChange[], failure: string | undefined): Grade {
  const passed = tests.filter(({ after }) => after === 'passed').length;
  if (tests.length > 0 && passed === tests.length && failure === undefined) {
    return { verified: true, score: 1, outcome: 'verified', reason: `All ${passed} tests passed.`, tests };
  }
  const score = tests.length === 0 || passed === tests.length ? 0 : passed / tests.length;
  const reason = `${passed} of ${tests.length} tests passed.${failure === undefined ? '' : ` ${failure}`}`;
  return { verified: false, score, outcome: 'failed', reason, tests };
}

/** Nothing was learned of the answer. */
export function infrastructureGrade(reason: string): Grade {
  return { verified: false, score: 0, outcome: 'infrastructure', reason, tests: [] };
}

/** The machine, not the answer, is to blame; the message says for what and what to do. */
export class GraderInfrastructureError extends Error {
  override readonly name = 'GraderInfrastructureError';
}

/** For a message: enough to recognise a text by, on one line. */
export function shortened(text: string, maxCharacters = 80): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters)}…`;
}
