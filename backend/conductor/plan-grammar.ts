import { RecentlyUsed } from '../common/recently-used.ts';
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
  /** Text that stands already; the pattern describes what follows it. */
  readonly prefill?: string;
  /**
   * Tokens that are reserved for each subtask still to be written when the token limit forces the plan to end. During the reasoning they
   * are reserved for the largest number of subtasks.
   */
  readonly tokensPerSubtask?: number;
}

/** About the length of the subtasks in the prompt's examples (prompt-profile.ts): 100 to 140 characters. */
const TOKENS_PER_SUBTASK = 32;

const TEXT_CHARACTER = choice(codePoints([' ', '\u{10ffff}']), oneOf('\t\n\r'));

/** The characters that `\s` and `trim` treat as space. */
const SPACE = choice(
  oneOf('\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'),
  codePoints(['\u2000', '\u200a']),
);

const WORD_BYTE = byteOf([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
const ANY_TEXT = star(ANY_BYTE);

/**
 * What `parsePlan` reads as the beginning of a list (LABELLED_LIST there), with separators of any length: counting them would cost
 * states.
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
 * The reasoning before the first list. No part of it may read as a list, and the character before a label must not be part of a word.
 */
const REASONING = except(
  optional(sequence(star(TEXT_CHARACTER), except(TEXT_CHARACTER, WORD_BYTE))),
  sequence(optional(sequence(ANY_TEXT, except(ANY_BYTE, WORD_BYTE))), LIST_OPENING, ANY_TEXT),
);

/** `parsePlan` removes thinking before it searches for lists, wherever the tags are. */
const WITH_THINKING_TAG = sequence(
  ANY_TEXT, literal('<'), optional(literal('/')), literalInAnyCase('think'), literal('>'), ANY_TEXT,
);

const STRING_CHARACTER = codePoints([' ', '!'], ['#', '['], [']', '\u{10ffff}']);

/** Every escape that `readList` reads, without \U: its eight digits may name no character. */
const escapeOtherThan = (excluded: string): Pattern => sequence(literal('\\'), except(codePoints([' ', '~']), oneOf(excluded)));

/**
 * A subtask between double quotes. Validation trims it and refuses an empty one, so it begins with a character that is not a space and
 * not an escape.
 */
const SUBTASK = sequence(
  choice(except(STRING_CHARACTER, SPACE), escapeOtherThan(' nrtfuxU')),
  star(choice(STRING_CHARACTER, escapeOtherThan('U'))),
);

/** Entries, separated by a comma and a space. */
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
 * The texts that constrained decoding may write: reasoning, then the three lists in the form of `renderPlan`. `parsePlan` reads a valid
 * plan from each of them or, in a revision, the decision to keep the answer. Lengths in characters are not part of the pattern, which
 * would need too many states: the token limit keeps them small enough.
 *
 * Building the pattern is quick. Compiling its automaton takes some tenths of a second and happens in the model's process.
 */
export function planGrammar(options: PlanGrammarOptions): Pattern {
  const key = JSON.stringify(options);
  const known = grammars.get(key);
  if (known) return known;
  const made = newGrammar(options);
  grammars.set(key, made);
  return made;
}

/** There are a few for a pool: by the steps that a question is worth, and by how the text begins. */
const grammars = new RecentlyUsed<Pattern>(32);

function newGrammar({
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
