import { MAX_STEPS } from '../workflow/plan.ts';
import type { PlanGrammarOptions } from './plan-grammar.ts';

/*
 * The texts that a server's structured outputs may write: plans in the form of `plan-grammar.ts`, as a regular expression. It is stricter
 * where a regular expression would have to say what a text does not contain: the reasoning has no brackets, so no part of it reads as a list,
 * and no tags. Servers compile it for their own vocabulary, with several engines; so it uses no look-around and no named classes.
 */

/** Reasoning; the character before the first list's name is no part of a word. */
const REASONING = '([^\\[\\]<>]*[^\\[\\]<>A-Za-z0-9_])?';

/** Begins with a character that is no space, of those that trimming takes away. Escapes are those of both Python and JSON. */
const SPACES = '\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const SUBTASK = `([^ ${SPACES}\\t\\n\\r"\\\\]|\\\\["\\\\])([^\\t\\n\\r"\\\\]|\\\\["\\\\nt])*`;

const oneBelow = (count: number): string => `(${Array.from({ length: count }, (_, number) => number).join('|')})`;

/** What the step at `index` may read: nothing, everything, or numbers of earlier steps. */
function access(index: number): string {
  if (index === 0) return '\\[("all")?\\]';
  return `\\[("all"|${oneBelow(index)}(, ${oneBelow(index)}){0,${index - 1}})?\\]`;
}

function lists(steps: number, workers: number): string {
  const positions = Array.from({ length: steps }, (_, index) => index);
  return [
    `model_id = \\[${positions.map(() => oneBelow(workers)).join(', ')}\\]`,
    `subtasks = \\[${positions.map(() => `"${SUBTASK}"`).join(', ')}\\]`,
    `access_list = \\[${positions.map(access).join(', ')}\\]`,
  ].join('\\n');
}

/** A regular expression for the whole text after the prefill. `parsePlan` reads a plan from each text, or in a revision the wish to keep the answer. */
export function planRegex({ workers, maximumSteps = MAX_STEPS, revision }: Pick<PlanGrammarOptions, 'workers' | 'maximumSteps' | 'revision'>): string {
  const counts = Array.from({ length: maximumSteps }, (_, index) => index + 1);
  return `${REASONING}(${[...(revision ? [0] : []), ...counts].map((steps) => lists(steps, workers)).join('|')})`;
}
