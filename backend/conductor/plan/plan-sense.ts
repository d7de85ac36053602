import type { SenseRule } from '../../protocol/plan-mend.ts';
import { stepsOf, type Plan } from '../../workflow/plan.ts';
import type { ReadQuestion } from '../question/read-question.ts';
import { readErrand, type Errand } from './read-errand.ts';

/*
 * Whether a plan makes sense for its question, whoever wrote it. The rules are about roles, kinds and access, and a rule speaks only where
 * what it needs was read for certain: a plan in words that are not understood is held to its lists alone.
 */

export interface Nonsense {
  readonly rule: SenseRule;
  /** The step that it is about; absent where it is about the plan. */
  readonly step?: number;
  /** One sentence that tells the Conductor what to change. */
  readonly message: string;
}

export interface SenseOptions {
  /** The most steps that the question is worth. */
  readonly steps: number;
  readonly round: number;
}

export function nonsenseIn(plan: Plan, question: ReadQuestion, { steps: most, round }: SenseOptions): Nonsense[] {
  const steps = stepsOf(plan);
  const errands = steps.map(({ subtask }) => readErrand(subtask));
  const last = steps.length - 1;
  const found: Nonsense[] = [];
  if (most === 1 && steps.length > 1) {
    const why = question.kind === 'small-talk' ? 'The question asks for no work' : 'The question is short and asks for an answer in words';
    found.push({ rule: 'steps', message: `${why}: one step is enough, and the plan has ${steps.length}.` });
  }
  for (const { index, worker, subtask, reads, readsPreviousRound } of steps) {
    const name = `Step ${index}`;
    if (index < last && !steps.some((other) => other.reads.includes(index))) {
      found.push({ rule: 'unread', step: index, message: `No later step may read step ${index}, so its work is lost: let one read it, or leave it out.` });
    }
    const twin = steps.find((other) => other.index < index && other.worker === worker && same(other.subtask, subtask) && other.reads.join() === reads.join());
    if (twin) found.push({ rule: 'repeated', step: index, message: `${name} is the same as step ${twin.index}: let another worker do it, give it another instruction, or leave it out.` });
    const shown = reads.length + (readsPreviousRound && round > 0 ? 1 : 0);
    const { speaksOf } = errands[index] as Errand;
    if (speaksOf > 0 && shown === 0) found.push({ rule: 'unseen', step: index, message: `${name} speaks of others' work and is shown none: give it access, or write its instruction without it.` });
    else if (speaksOf > shown) found.push({ rule: 'unseen', step: index, message: `${name} speaks of several outputs and is shown one: give it access to all that it is about.` });
    // After a round that did not hold, there is a fault to look for.
    if (round === 0 && sendsToFault(errands[index] as Errand, question)) {
      found.push({ rule: 'fault', step: index, message: `${name} sends its worker after a fault, and the question reports none: it asks ${ASKS[question.kind]}.` });
    }
  }
  const missing = missingInLast(errands[last] as Errand, question);
  if (missing !== undefined) found.push({ rule: 'last', step: last, message: missing });
  return found;
}

const same = (a: string, b: string): boolean => a.replace(/\s+/g, ' ').trim().toLowerCase() === b.replace(/\s+/g, ' ').trim().toLowerCase();

const ASKS: Readonly<Record<ReadQuestion['kind'], string>> = {
  'explain': 'for an explanation', 'why': 'for a reason', 'how-to': 'how something is done', 'feature': 'for a change', 'write': 'for new code', 'bug': 'to mend a fault', 'refactor': 'for a change that keeps behaviour',
  'tests': 'for tests', 'performance': 'for a faster version', 'review': 'for a review', 'documentation': 'for documentation', 'build': 'for a setup', 'small-talk': 'for no work', 'unclear': 'something else',
};

/** Kinds that may well lead to a fault though none is reported, and a question that was not understood. */
const MAY_MEET_FAULTS: ReadonlySet<ReadQuestion['kind']> = new Set(['review', 'unclear', 'bug', 'why']);

function sendsToFault({ kind, onlyLooks, speaksOf }: Errand, question: ReadQuestion): boolean {
  if (question.mayReportFault || MAY_MEET_FAULTS.has(question.kind)) return false;
  // Whoever checks others' work may mend it.
  return kind === 'bug' && !(onlyLooks && speaksOf > 0);
}

/** What the last step fails to return; undefined where it returns it, or where its words do not tell. */
function missingInLast({ kind, wants, onlyLooks }: Errand, question: ReadQuestion): string | undefined {
  if (kind === 'unclear' || kind === 'small-talk' || wants === 'any') return undefined;
  switch (question.wants) {
    case 'words':
      return !onlyLooks && (wants === 'change' || (wants === 'code' && question.kind !== 'how-to')) ? 'The last step asks for code or files, and the question asks for an answer in words: let it answer in words.' : undefined;
    case 'code':
    case 'change':
      return wants === 'words' && !onlyLooks && kind !== 'review'
        ? `The last step returns words, and the question asks for ${question.wants === 'code' ? 'code: let it return the code' : 'a change: let it return the changed files'}.` : undefined;
    case 'any':
      return undefined;
  }
}
