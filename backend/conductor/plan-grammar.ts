import {
  ANY_BYTE, byteOf, choice, codePoints, except, following, literal, literalInAnyCase, oneOf, optional, reserving, sequence, star,
  type Pattern,
} from '../lm/automaton/pattern.ts';
import { MAX_STEPS } from '../workflow/plan.ts';

export interface PlanGrammarOptions {
  /** Number of workers in the pool. */
  readonly workers: number;
  readonly maximumSteps?: number;
  /** A later round, in which three empty lists keep the answer. */
  readonly revision: boolean;
  /** Words with which the text already begins; the pattern is of what follows them. */
  readonly prefill?: string;
  /**
   * Where the limit on tokens forces the plan to be ended, so many tokens are kept for each subtask still to be written; while
   * reasoning, for as many subtasks as a plan may have.
   */
  readonly tokensPerSubtask?: number;
}

/** The subtasks of the prompt's examples (prompt-profile.ts) are about as long: 100 to 140 characters. */
const TOKENS_PER_SUBTASK = 32;

const TEXT_CHARACTER = choice(codePoints([' ', '\u{10ffff}']), oneOf('\t\n\r'));

/** What `\s` and `trim` count as space. */
const SPACE = choice(
  oneOf('\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'),
  codePoints(['\u2000', '\u200a']),
);

const WORD_BYTE = byteOf([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
const ANY_TEXT = star(ANY_BYTE);

/**
 * What `parsePlan` takes for the beginning of a list (LABELLED_LIST there), and a little more: separators of any length, since to
 * count them would cost states.
 */
const LIST_OPENING = sequence(
  choice(
    sequence(literalInAnyCase('model'), optional(oneOf('_ -')), literalInAnyCase('id'), optional(literalInAnyCase('s'))),
    sequence(literalInAnyCase('sub'), optional(oneOf('_ -')), literalInAnyCase('task'), optional(literalInAnyCase('s'))),
    sequence(
      literalInAnyCase('access'),
      optional(sequence(optional(oneOf('_ -')), literalInAnyCase('list'), optional(literalInAnyCase('s')))),
    ),
  ),
  star(choice(oneOf('"\'`*'), SPACE)),
  oneOf(':='),
  star(choice(oneOf('`*'), SPACE)),
  optional(choice(literalInAnyCase('python'), literalInAnyCase('json'))),
  star(SPACE),
  literal('['),
);

/**
 * Reasoning, up to where the first list begins: nothing in it may be taken for a list, and a label needs something other than a
 * word before it.
 */
const REASONING = except(
  optional(sequence(star(TEXT_CHARACTER), except(TEXT_CHARACTER, WORD_BYTE))),
  sequence(optional(sequence(ANY_TEXT, except(ANY_BYTE, WORD_BYTE))), LIST_OPENING, ANY_TEXT),
);

/** `parsePlan` drops thinking before it looks for lists, wherever its tags stand. */
const WITH_THINKING_TAG = sequence(
  ANY_TEXT, literal('<'), optional(literal('/')), literalInAnyCase('think'), literal('>'), ANY_TEXT,
);

const STRING_CHARACTER = codePoints([' ', '!'], ['#', '['], [']', '\u{10ffff}']);

/** Any backslash that `readList` can read; \U is left out, because eight digits after it may be no character. */
const escapeOtherThan = (excluded: string): Pattern => sequence(literal('\\'), except(codePoints([' ', '~']), oneOf(excluded)));

/**
 * A subtask between its double quotes. It begins with something that is no space, because validation trims it and wants something
 * left; an escape that may stand for a space does not count.
 */
const SUBTASK = sequence(
  choice(except(STRING_CHARACTER, SPACE), escapeOtherThan(' nrtfuxU')),
  star(choice(STRING_CHARACTER, escapeOtherThan('U'))),
);

/** Entries with a comma and a space between them. */
const joined = (entries: readonly Pattern[]): Pattern =>
  sequence(...entries.flatMap((entry, index) => (index === 0 ? [entry] : [literal(', '), entry])));

const oneBelow = (count: number): Pattern => choice(...Array.from({ length: count }, (_, number) => literal(String(number))));

/** What the step at `index` may read: nothing, everything, or up to `index` numbers of earlier steps, in any order. */
function access(index: number): Pattern {
  const counts = Array.from({ length: index }, (_, earlier) => earlier + 1);
  const numbers = counts.map((count) => joined(Array.from({ length: count }, () => oneBelow(index))));
  return sequence(literal('['), choice(literal(''), literal('"all"'), ...numbers), literal(']'));
}

function lists(steps: number, workers: number, tokensPerSubtask: number): Pattern {
  const positions = Array.from({ length: steps }, (_, index) => index);
  const subtasks = positions.map((index) => {
    const toCome = steps - 1 - index;
    return reserving(toCome * tokensPerSubtask, sequence(SUBTASK, literal(toCome > 0 ? '", "' : '"')));
  });
  return sequence(
    literal('model_id = ['),
    joined(positions.map(() => oneBelow(workers))),
    literal(']'),
    reserving(steps * tokensPerSubtask, literal(steps > 0 ? '\nsubtasks = ["' : '\nsubtasks = [')),
    ...subtasks,
    literal(']\naccess_list = ['),
    joined(positions.map(access)),
    literal(']'),
  );
}

/**
 * The texts that constrained decoding may write: reasoning, then the three lists as `renderPlan` writes them. `parsePlan` reads a
 * valid plan from each of them (or, in a revision, that the answer is kept), as long as no subtask is longer than validation
 * allows and the text no longer than is read: characters cannot be counted with so few states, so that is left to the limit on
 * tokens.
 *
 * The pattern is made at once; the automaton takes some tenths of a second, so it is compiled where the model runs.
 */
export function planGrammar({
  workers, maximumSteps = MAX_STEPS, revision, prefill = '', tokensPerSubtask = TOKENS_PER_SUBTASK,
}: PlanGrammarOptions): Pattern {
  for (const [what, count] of Object.entries({ workers, maximumSteps })) {
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`A plan needs at least one of ${what}, not ${count}.`);
  }
  const counts = Array.from({ length: maximumSteps }, (_, index) => index + 1);
  const plans = [...(revision ? [0] : []), ...counts].map((steps) => lists(steps, workers, tokensPerSubtask));
  const reasoning = reserving(maximumSteps * tokensPerSubtask, REASONING);
  return following(prefill, except(sequence(reasoning, choice(...plans)), WITH_THINKING_TAG));
}
