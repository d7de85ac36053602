import { checkedCompletion } from '../../verify/graders/code/check-grader.ts';
import type { Finished } from './finished.ts';

/** Our forms, EvalPlus's name of the data set, and its ids of tasks. */
export const EVALPLUS_SETS = [
  { form: 'HumanEval', dataset: 'humaneval', idOf: (task: string): string => task },
  { form: 'MBPP', dataset: 'mbpp', idOf: (task: string): string => task.replace(/^mbpp\//, 'Mbpp/') },
] as const;

export interface EvalPlusSample {
  readonly task_id: string;
  readonly solution: string;
}

/**
 * A contestant's programs for `evalplus.evaluate --samples` (https://github.com/evalplus/evalplus). They are what was judged here: the start
 * that the question shows, then the answer's code. An answer without code is an empty solution, which fails there as it did here.
 */
export function evalPlusSamples({ samples, tasks }: Pick<Finished, 'samples' | 'tasks'>, contestant: string, { form, idOf }: typeof EVALPLUS_SETS[number]): EvalPlusSample[] {
  return samples.filter((sample) => sample.contestant === contestant).flatMap(({ task, answer }) => {
    const found = tasks.get(task);
    if (found?.form !== form || found.spec?.kind !== 'check') return [];
    const completion = checkedCompletion(answer);
    return [{ task_id: idOf(task), solution: completion === undefined ? '' : found.spec.prelude + completion }];
  });
}
