import { answerCode } from '../../verify/graders/answer-code.ts';
import { CasesGrader } from '../../verify/graders/code/cases-grader.ts';
import { factsGrader, mutantsGrader, replyGrader, shorterGrader } from './wants/want-graders.ts';
import type { ProgramSandbox } from '../../verify/graders/code/program-sandbox.ts';
import type { Grade, Grader } from '../../verify/graders/grader.ts';
import type { Kind } from '../../simulator/families/family.ts';
import type { GymTask } from './gym-tasks.ts';
import type { Want } from './wants/want.ts';

/** A task for evaluations and trainings. */
export interface JudgedGymTask {
  readonly id: string;
  readonly kind: Kind;
  readonly want: Want;
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
    const { id, kind, want, question } = task;
    return { id, kind, want, question, context: '', grader: this.graderOf(task) };
  }

  graderOf(task: GymTask): Grader {
    const { id, form } = task;
    // Words are read, not run: nothing needs to be remembered.
    if (form === 'words') return wordsGrader(task);
    const cold = codeGrader(task, this.#programs);
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

function codeGrader({ cases, functionName, judge }: GymTask, programs: Pick<ProgramSandbox, 'run'>): Grader {
  if (judge.by === 'mutants') return mutantsGrader(judge, programs);
  const grader = new CasesGrader({ cases: () => cases, functionName, language: 'javascript', inOneProcess: true }, programs);
  return judge.by === 'cases' && judge.longest !== undefined ? shorterGrader(judge.longest, grader) : grader;
}

function wordsGrader({ judge }: GymTask): Grader {
  return judge.by === 'facts' ? factsGrader(judge.facts) : replyGrader();
}

/**
 * Grades by comparison with the known solutions, without a sandbox: for tuning and quick tests, whose answers contain no other code.
 */
export function knownGrader(task: GymTask): Grader {
  const { source } = task;
  if (task.form === 'words') return wordsGrader(task);
  return {
    grade: ({ answer }) => {
      const isRight = answerCode(answer, 'javascript') === source;
      const outcome = isRight ? 'verified' : 'failed';
      return Promise.resolve({ verified: isRight, score: isRight ? 1 : 0, outcome,
        reason: `The solution is known to be ${isRight ? 'right' : 'wrong'}.`, tests: [] });
    },
  };
}
