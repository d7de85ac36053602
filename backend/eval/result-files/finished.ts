import type { FiledTask } from '../evaluation/evaluate.ts';
import type { EvaluationResults } from '../evaluation/results.ts';
import type { Sample } from '../../protocol/evaluations.ts';

/** What a finished evaluation is written from. */
export interface Finished {
  readonly results: EvaluationResults;
  readonly samples: readonly Sample[];
  /** By id. */
  readonly tasks: ReadonlyMap<string, Pick<FiledTask, 'question' | 'form' | 'spec'>>;
}
