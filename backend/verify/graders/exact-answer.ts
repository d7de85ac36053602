import { finalAnswer } from './final-answer.ts';
import { shortened, wholeGrade, type Grade, type GradeOptions, type Grader } from './grader.ts';

export interface ExactAnswerOptions {
  /** The accepted answers. */
  readonly answers: readonly string[];
  readonly caseSensitive?: boolean;
}

/** Right if the stated result equals an expected one, ignoring case, spaces, quotes and a final full stop. */
export class ExactAnswerGrader implements Grader {
  readonly #options: ExactAnswerOptions;

  constructor(options: ExactAnswerOptions) {
    this.#options = options;
  }

  grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const { answers, caseSensitive = false } = this.#options;
    const given = finalAnswer(answer);
    if (given === undefined) return Promise.resolve(wholeGrade(false, 'The answer states no result.'));
    const isRight = answers.some((expected) => plainText(expected, caseSensitive) === plainText(given, caseSensitive));
    const reason = `The result "${shortened(given)}" is ${isRight ? '' : 'not '}the expected one.`;
    return Promise.resolve(wholeGrade(isRight, reason));
  }
}

function plainText(text: string, caseSensitive: boolean): string {
  const plain = text
    .normalize('NFKC')
    .trim()
    .replace(/^\$+|\$+$/g, '')
    .replace(/^\\(?:text|mathrm|textbf|mbox)\{([^{}]*)\}$/, '$1')
    .replace(/^["'`“‘]+|["'`”’]+$/g, '')
    .replace(/[.!]$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return caseSensitive ? plain : plain.toLowerCase();
}
