import type { Gatherer } from '../../train/grpo/gatherer.ts';

/**
 * Where every plan is right the cost decides, for the tasks that `counts` names. For all others plans cost nothing: a hard task that no plan
 * has solved must not teach to plan less.
 */
export function costOnlyWhere<Task>(gatherer: Gatherer<Task>, counts: (task: Task) => boolean): Gatherer<Task> {
  return {
    prompt: (task, at) => gatherer.prompt(task, at),
    outcomes: async (task, plans, at, signal) => {
      const outcomes = await gatherer.outcomes(task, plans, at, signal);
      return counts(task) ? outcomes : outcomes.map((outcome) => (outcome.kind === 'judged' ? { ...outcome, costUsd: 0 } : outcome));
    },
  };
}
