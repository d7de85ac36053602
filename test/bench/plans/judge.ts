import { stepsOf, type Plan } from '../../../backend/workflow/plan.ts';
import type { LabelledQuestion } from './questions.ts';
import { type Product, type ReadSubtask, readSubtask } from './read-subtask.ts';

/** Why a plan does not fit its question. */
export const MISFITS = {
  'no plan': 'no valid plan was written',
  'fault': 'speaks of a fault where none was reported',
  'form': 'asks for code or files where words were asked for',
  'last': 'its last step does not return what was asked for',
  'names': 'carries not all names of the question',
  'unseen': 'a step refers to work that it is not shown',
  'unread': 'nobody reads what a step returns',
  'steps': 'has more steps than make sense',
  'subject': 'does something else than was asked for',
} as const;
export type Misfit = keyof typeof MISFITS;

/** Words by which a plan speaks of what its kind of question is about. */
const SUBJECTS: Partial<Record<LabelledQuestion['kind'], RegExp>> = {
  tests: /\btest|\bcases?\b|\bcoverage|\bbenchmark|\bassert|\bfuzz/i,
  performance: /fast|speed|slow|\btime|memory|measur|profil|perform|\bcost|optimi|alloc|quick|cheap|bottleneck|efficien|size|index/i,
  review: /review|check|look|secur|risk|examin|audit|assess|vulnerab|judge|read|weak|find|problem/i,
  documentation: /docu|docstring|comment|readme|changelog|message|guide|section|translat|entry|describ|record|explain|text/i,
};

/** The shortest passage of a question that counts as repeated. */
const PASSAGE_WORDS = 3;

/** Whether a plan fits its question, by the question's labels and the plan's words. An undefined plan is none. */
export function judgePlan(question: LabelledQuestion, plan: Plan | undefined): Misfit[] {
  if (!plan) return ['no plan'];
  const steps = stepsOf(plan);
  const read = steps.map(({ subtask }) => readSubtask(withoutPassages(withoutNames(subtask, question.names), question.text)));
  const last = steps.length - 1;
  const found = new Set<Misfit>();
  // Whoever judges what others wrote may find mistakes in it.
  const isFaultless = ({ fault, judges }: ReadSubtask, index: number): boolean => fault === 'none' || (fault === 'any' && judges && (steps[index]?.reads.length ?? 0) > 0);
  if (question.fault === 'none' && !read.every(isFaultless)) found.add('fault');
  if (question.wants.every((wanted) => wanted === 'words' || wanted === 'plan') && read.some(({ product }) => product === 'code' || product === 'change')) {
    found.add('form');
  } else if (!answers(question, read[last]?.product)) found.add('last');
  const words = plan.subtasks.join('\n').toLowerCase();
  if (question.names.some((name) => !words.includes(name.toLowerCase()))) found.add('names');
  steps.forEach(({ reads, readsPreviousRound }, index) => {
    if ((read[index]?.refersTo ?? 0) > reads.length && !(readsPreviousRound && reads.length > 0 && read[index]?.refersTo === 1)) found.add('unseen');
  });
  if (steps.some(({ index }) => index < last && !steps.some(({ reads }) => reads.includes(index)))) found.add('unread');
  if (steps.length > question.steps) found.add('steps');
  const subject = SUBJECTS[question.kind];
  const isSilent = subject && !subject.test(plan.subtasks.join('\n')) && !plan.subtasks.some((subtask) => withoutPassages(subtask, question.text) !== subtask);
  if (isSilent && read.some(({ product }) => product !== undefined)) found.add('subject');
  return [...found];
}

/** Code on its own also answers who wants a change: its place can be found. A file also answers who wants code. */
function answers({ wants }: LabelledQuestion, product: Product): boolean {
  switch (product) {
    case undefined:
      return true;
    case 'code':
    case 'change':
      return wants.includes('code') || wants.includes('change');
    case 'words':
    case 'plan':
      return wants.includes(product);
  }
}

/** Names may contain any word ("should keep the last value"), and a planner that repeats them says nothing by it. */
function withoutNames(text: string, names: readonly string[]): string {
  return names.reduce((left, name) => left.replaceAll(name, 'X'), text);
}

/** The text without the passages that repeat the question word by word: what they say, the asker has said. */
function withoutPassages(text: string, question: string): string {
  const asked = ` ${wordsOf(question).join(' ')} `;
  const parts = text.split(/(\s+)/);
  const kept: string[] = [];
  for (let at = 0; at < parts.length;) {
    let end = at;
    for (let to = at + 1; to <= parts.length; to += 1) {
      const words = wordsOf(parts.slice(at, to).join(''));
      if (words.length > 0 && !asked.includes(` ${words.join(' ')} `)) break;
      if (words.length >= PASSAGE_WORDS) end = to;
    }
    if (end > at) {
      kept.push('X ');
      at = end;
    } else kept.push(parts[at++] as string);
  }
  return kept.join('');
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}
