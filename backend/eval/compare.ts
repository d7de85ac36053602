import type { Contestant } from './contestant.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { mapInOrder } from '../common/map-in-order.ts';
import { gradeAnswer, type EvalTask, type ExecutePlan, type PlanOutcome } from './run-plan.ts';

export interface CompareOptions<T extends EvalTask> {
  readonly contestants: readonly Contestant<T>[];
  readonly tasks: readonly T[];
  readonly pool: readonly WorkerConfig[];
  /** The random seed of the workers, the same for every contestant. */
  readonly seeds: readonly number[];
  readonly runFor: (seed: number) => ExecutePlan;
  /** Number of concurrent tasks. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

/** The scores of one contestant: a row for each seed, a column for each task. */
export interface ContestantResult {
  readonly name: string;
  readonly outcomes: readonly (readonly Pick<PlanOutcome, 'verified' | 'score' | 'costUsd'>[])[];
}

/** Runs all contestants on the same tasks with the same seeds. @throws PlanNotRunError, the signal's reason */
export async function compare<T extends EvalTask>(options: CompareOptions<T>): Promise<ContestantResult[]> {
  const { contestants, tasks, pool, seeds, runFor, concurrency, signal, onProgress } = options;
  const results = contestants.map(({ name }) => ({ name, outcomes: [] as Pick<PlanOutcome,
    'verified' | 'score' | 'costUsd'>[][] }));
  let done = 0;
  for (const seed of seeds) {
    const run = runFor(seed);
    for (const [at, contestant] of contestants.entries()) {
      const row = await mapInOrder(tasks, concurrency, async (task) => {
        const answered = await contestant.answer(task, (plan, sample) => run(task, plan, { pool, sample, signal }), seed);
        const { verified, score, costUsd } = await gradeAnswer(task, answered, signal);
        return { verified, score, costUsd };
      });
      results[at]?.outcomes.push(row);
      onProgress?.((done += 1), seeds.length * contestants.length);
    }
  }
  return results;
}
