import { BASELINES, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';
import { withAll, type EvalTask, type PlanAnswer } from '../run-plan.ts';
import { groupAnswers, type SameAnswer } from '../voting.ts';

const RUNS = 5;

/**
 * Majority vote (Wang et al., "Self-Consistency", arXiv 2203.11171): a worker answers five times, and the answer that most runs gave wins.
 * `sameFor` says when two answers to a task are the same: equal choices, equivalent mathematics, code that behaves alike. Ties go to the
 * earliest run. All runs are paid for.
 */
export function majority(worker: number, sameFor: (task: EvalTask) => SameAnswer, shapes = FUNCTION_SHAPES): Contestant {
  return {
    name: BASELINES.majority,
    answer: async (task, play) => {
      const answers = await Promise.all(Array.from({ length: RUNS }, (_, sample) => play(shapes.alone(worker), sample)));
      const groups = await groupAnswers(answers.map(({ answer }) => answer), sameFor(task));
      const largest = groups.reduce((a, b) => (b.length > a.length ? b : a));
      return withAll(answers[largest[0] ?? 0] as PlanAnswer, answers, 'at once');
    },
  };
}
