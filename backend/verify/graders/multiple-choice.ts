import { lastBoxed, withoutThinking } from './final-answer.ts';
import { wholeGrade, type Grade, type GradeOptions, type Grader } from './grader.ts';

export interface MultipleChoiceOptions {
  /** The options, in the order of their letters. */
  readonly choices: readonly string[];
  /** Index of the right option, from 0. */
  readonly answer: number;
}

const SEARCHED_CHARACTERS = 20_000;

/** Right if the answer finally chooses the right letter. */
export class MultipleChoiceGrader implements Grader {
  readonly #options: MultipleChoiceOptions;

  constructor(options: MultipleChoiceOptions) {
    this.#options = options;
  }

  grade({ answer, signal }: GradeOptions): Promise<Grade> {
    signal.throwIfAborted();
    const { choices, answer: expected } = this.#options;
    const chosen = chosenOption(answer, choices);
    if (chosen === undefined) return Promise.resolve(wholeGrade(false, 'The answer chooses none of the options, or several.'));
    const isRight = chosen === expected;
    return Promise.resolve(wholeGrade(isRight, `The answer chose ${letterOf(chosen)}, which is ${isRight ? 'right' : 'wrong'}.`));
  }
}

export const letterOf = (position: number): string => String.fromCharCode(65 + position);

/**
 * Returns the index of the option that an answer chooses: by its last statement of the form `\boxed{C}`, "Answer: C" or "the correct answer
 * is (C)", or else by a last line that is a letter or the text of an option. Undefined if there is no choice, or if a statement names
 * several options. The main form is that of simple-evals (`common.py`, ANSWER_PATTERN_MULTICHOICE). Unlike there, a letter that begins a
 * word ("Answer: Because …") does not count.
 */
export function chosenOption(answer: string, choices: readonly string[]): number | undefined {
  const text = withoutThinking(answer).trim().slice(-SEARCHED_CHARACTERS);
  const stated = lastStatement(text);
  if (stated !== undefined) return optionNamed(stated, choices);
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  return optionNamed(lastLine, choices);
}

const STATEMENT = new RegExp(
  [
    String.raw`\b(?:answer|option|choice)\b(?:\s+(?:letter|choice|option))?\W{0,4}(?::|=|\bis\b)`,
    String.raw`\b(?:i|we)\s+(?:would\s+)?(?:choose|pick|select)\b`,
  ].join('|'),
  'gi',
);

/** The content of the last box, tag or statement of the text, whichever comes last. */
function lastStatement(text: string): string | undefined {
  let last: { at: number; said: string } | undefined;
  for (const match of text.matchAll(STATEMENT)) {
    const from = match.index + match[0].length;
    // To the end of the line, or of the next line if the rest of this one is empty.
    const said = /^[ \t*_:]*\n?[ \t]*([^\n]*)/.exec(text.slice(from, from + 1_000))?.[1];
    if (said !== undefined && said.trim() !== '') last = { at: from, said };
  }
  const boxed = Math.max(text.lastIndexOf('\\boxed'), text.lastIndexOf('\\fbox'));
  if (boxed >= 0 && (last === undefined || boxed > last.at)) {
    const said = lastBoxed(text);
    if (said !== undefined) last = { at: boxed, said };
  }
  const tag = text.lastIndexOf('<answer>');
  if (tag >= 0 && (last === undefined || tag > last.at))
    last = { at: tag, said: text.slice(tag + 8).split('</answer>', 1)[0] ?? '' };
  return last?.said;
}

/** The option that a short text names by its letter or its text. */
function optionNamed(said: string, choices: readonly string[]): number | undefined {
  const plain = (lastBoxed(said) ?? said)
    .replaceAll(/\\(?:text|textbf|mathrm|mathbf|mathit|mbox)\s*\{([^{}]*)\}/g, '$1')
    .replaceAll(/[$*_`"“”{}]|\\[()[\]]/g, '')
    .replace(/^[\s:]+/, '')
    .replace(/^(?:option|choice|answer|letter)\s+/i, '')
    .trim();
  const byWords = choices.findIndex((choice) => sameWords(choice, plain));
  if (byWords >= 0) return byWords;
  const lastLetter = letterOf(choices.length - 1);
  // "C because …" is a choice, but "A good point …" is not.
  const named = new RegExp(
    String.raw`^[([]?\s*([A-${lastLetter}])\s*(?:[)\].,:;!]|$|\s[-–—]\s|(?=\s(?:because|since|as|which|for)\s))\s*(.*)$`,
    'is',
  ).exec(plain);
  if (!named) return undefined;
  const [, letter = '', rest = ''] = named;
  const option = letter.toUpperCase().charCodeAt(0) - 65;
  if (rest !== '' && !sameWords(choices[option] ?? '', rest) && namesAnother(rest, lastLetter, letter.toUpperCase()))
    return undefined;
  return option;
}

/** Whether a second letter follows as the name of an option: "A, B", "A or C", "A) and (B)". */
function namesAnother(rest: string, lastLetter: string, letter: string): boolean {
  const start = /^(?:(?:and|or|,|\/|&|also|maybe|possibly)\s*)*[([]?([A-Z])(?=[)\].,:;!\s]|$)/.exec(rest)?.[1];
  if (start !== undefined && start !== letter && start <= lastLetter) return true;
  return [...rest.matchAll(/\b(?:and|or|also)\s+(?:option\s+)?[([]?([A-Z])(?=[)\].,:;!]|$)/g)].some(
    ([, other = '']) => other !== letter && other <= lastLetter,
  );
}

function sameWords(one: string, other: string): boolean {
  const words = (text: string): string =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}.%+\-/^]+/gu, ' ')
      .replace(/[.\s]+$/, '')
      .trim();
  return words(one) !== '' && words(one) === words(other);
}
