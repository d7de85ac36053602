import { answerCode } from '../../verify/graders/answer-code.ts';
import { CasesGrader } from '../../verify/graders/code/cases-grader.ts';
import type { ProgramSandbox } from '../../verify/graders/code/program-sandbox.ts';
import type { Grade, Grader } from '../../verify/graders/grader.ts';
import type { Kind } from '../../simulator/families/family.ts';
import type { GymTask } from './gym-tasks.ts';

/** A task for evaluations and trainings. */
export interface JudgedGymTask {
  readonly id: string;
  readonly kind: Kind;
  readonly question: string;
  readonly context: '';
  readonly grader: Grader;
}

/**
 * Grades answers to the gym's tasks. New code is executed in the sandbox and its grade is cached, because a training needs tens of thousands of
 * grades for few different answers.
 */
export class GymGrades {
  readonly #programs: Pick<ProgramSandbox, 'run'>;
  readonly #kept = new Map<string, Promise<Grade>>();

  constructor(programs: Pick<ProgramSandbox, 'run'>) {
    this.#programs = programs;
  }

  judged(task: GymTask): JudgedGymTask {
    const { id, kind, question } = task;
    return { id, kind, question, context: '', grader: this.graderOf(task) };
  }

  graderOf({ id, cases, functionName }: GymTask): Grader {
    const cold = new CasesGrader({ cases: () => cases, functionName, language: 'javascript', inOneProcess: true }, this.#programs);
    return {
      grade: async ({ answer, signal }) => {
        signal.throwIfAborted();
        const key = JSON.stringify([id, answerCode(answer, 'javascript') ?? null]);
        const kept = this.#kept.get(key);
        if (kept) return await kept;
        // If the first caller aborts, others still wait for this grade.
        const graded = cold.grade({ answer, signal: new AbortController().signal });
        this.#kept.set(key, graded);
        const isKept = await graded.then(({ outcome }) => outcome !== 'infrastructure', () => false);
        if (!isKept) this.#kept.delete(key);
        signal.throwIfAborted();
        return await graded;
      },
    };
  }
}

/**
 * Grades by comparison with the known solutions, without a sandbox: for tuning and quick tests, whose answers contain no other code.
 */
export function knownGrader({ source }: GymTask): Grader {
  return {
    grade: ({ answer }) => {
      const isRight = answerCode(answer, 'javascript') === source;
      const outcome = isRight ? 'verified' : 'failed';
      return Promise.resolve({ verified: isRight, score: isRight ? 1 : 0, outcome,
        reason: `The solution is known to be ${isRight ? 'right' : 'wrong'}.`, tests: [] });
    },
  };
}
