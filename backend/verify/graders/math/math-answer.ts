import { finalAnswer } from '../final-answer.ts';
import { orInfrastructure, shortened, wholeGrade, type Grade, type GradeOptions, type Grader } from '../grader.ts';
import type { MathComparer } from './math-comparer.ts';
import { MAX_LATEX_CHARACTERS, normalLatex, withoutSpaces } from './normal-latex.ts';
import { sameWrittenNumber, writtenNumber } from './rational.ts';
import type { Tolerance } from './tolerance.ts';

export interface MathAnswerOptions {
  /** LaTeX or plain text. */
  readonly expected: string;
  /** For numbers that need not be exact. */
  readonly tolerance?: Tolerance | undefined;
}

/** Right if the stated result means the same number, expression, set, interval, matrix or word as the expected one. */
export class MathAnswerGrader implements Grader {
  readonly #options: MathAnswerOptions;
  readonly #comparer: Pick<MathComparer, 'same'>;

  constructor(options: MathAnswerOptions, comparer: Pick<MathComparer, 'same'>) {
    this.#options = options;
    this.#comparer = comparer;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const stated = finalAnswer(answer);
    if (stated === undefined) return wholeGrade(false, 'The answer states no result.');
    return await orInfrastructure(async () => {
      const isRight = await this.#isRight(stated, signal);
      return wholeGrade(isRight, `The result "${shortened(stated)}" is ${isRight ? '' : 'not '}the expected one.`);
    });
  }

  async #isRight(stated: string, signal: AbortSignal): Promise<boolean> {
    const { tolerance } = this.#options;
    const [expected, given] = [normalLatex(this.#options.expected), normalLatex(stated)];
    if (withoutSpaces(expected) === withoutSpaces(given)) return true;
    // Most results are plain numbers. They need no process.
    const [one, other] = [writtenNumber(expected), writtenNumber(given)];
    if (one && other && sameWrittenNumber(one, other)) return true;
    if (one && other && !tolerance) return false;
    if (given === '' || given.length > MAX_LATEX_CHARACTERS) return false;
    return await this.#comparer.same(expected, given, tolerance, signal);
  }
}
