import { answerCode } from '../verify/graders/answer-code.ts';
import type { Contestant } from './contestant.ts';
import { majority } from './contestants/majority.ts';
import { mixtureOfAgents } from './contestants/mixture-of-agents.ts';
import { randomPlans } from './contestants/random-plans.ts';
import { selfReflection } from './contestants/self-reflection.ts';
import { workerAlone } from './contestants/worker-alone.ts';
import { shapesOf, SUBTASKS, type Phrasebook } from './plans.ts';
import type { EvalTask } from './run-plan.ts';
import { byKey, type SameAnswer } from './voting.ts';

/** Inputs of the baselines that the Conductor is compared with (arXiv 2512.04388 §4.2). */
export interface BaselineOptions {
  readonly workerCount: number;
  /** Ordinal of the best single worker. */
  readonly best: number;
  readonly nameOf: (worker: number) => string;
  /** How the majority votes; by default equal code in JavaScript is the same vote. */
  /** By default the plans ask for a function. */
  readonly words?: Phrasebook;
  readonly sameFor?: (task: EvalTask) => SameAnswer;
}

const sameCode = byKey((answer) => answerCode(answer, 'javascript') ?? '');

/** The baselines: each worker alone, random plans, and the usual methods with several calls. */
export function baselines({ workerCount, best, nameOf, sameFor = () => sameCode, words = SUBTASKS }: BaselineOptions): Contestant[] {
  const workers = Array.from({ length: workerCount }, (_, worker) => worker);
  const shapes = shapesOf(words);
  return [
    ...workers.map((worker) => workerAlone(worker, nameOf(worker), shapes)),
    randomPlans(workerCount, words),
    selfReflection(best, shapes),
    majority(best, sameFor, shapes),
    mixtureOfAgents(workers, best, shapes),
  ];
}
