import type { Finished } from './finished.ts';

/** A line of SWE-bench's file of predictions (https://www.swebench.com/SWE-bench/guides/evaluation/). */
export interface SweBenchPrediction {
  readonly instance_id: string;
  readonly model_name_or_path: string;
  readonly model_patch: string;
}

/**
 * A contestant's changes of a project in SWE-bench's form, one list for each seed, because its readers know a task by its id alone. Those
 * of rows of SWE-bench can be graded by its harness. A task of another project has an id of its own, for which the harness has no container.
 */
export function sweBenchPredictions({ samples, results }: Pick<Finished, 'samples' | 'results'>, contestant: string): SweBenchPrediction[][] {
  const own = samples.filter((sample) => sample.contestant === contestant);
  return Array.from({ length: results.seeds }, (_, seed) => own.flatMap((sample): SweBenchPrediction[] =>
    (sample.seed !== seed || sample.change === undefined ? [] : [{ instance_id: sample.task, model_name_or_path: `conductor/${contestant}`, model_patch: sample.change }])));
}
