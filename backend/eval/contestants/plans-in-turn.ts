import type { Plan } from '../../workflow/plan.ts';
import type { Contestant } from '../contestant.ts';
import { gradeAnswer, UNANSWERED, withAll, type EvalTask, type PlanOutcome } from '../run-plan.ts';

export interface PlansInTurnOptions<T extends EvalTask> {
  /** The plans in the order in which they are tried; nothing where a Conductor wrote no plan. */
  readonly plansFor: (task: T, seed: number) => readonly Plan[] | Promise<readonly Plan[]>;
  readonly signal: AbortSignal;
}

/**
 * Attempts: plans are tried in turn, and the first verified answer ends the run. Where none is, the one with the highest score is the answer. All
 * that were tried are paid for. What verifies is the task's own grader, so this is the most that attempts can gain: a project's tests see less.
 */
export function plansInTurn<T extends EvalTask>(name: string, { plansFor, signal }: PlansInTurnOptions<T>): Contestant<T> {
  return {
    name,
    answer: async (task, play, seed) => {
      const tried: PlanOutcome[] = [];
      for (const [sample, plan] of (await plansFor(task, seed)).entries()) {
        const outcome = await gradeAnswer(task, await play(plan, sample), signal);
        tried.push(outcome);
        if (outcome.verified) break;
      }
      const chosen = tried.find(({ verified }) => verified) ?? tried.toSorted((a, b) => b.score - a.score)[0];
      return chosen ? withAll(chosen, tried, 'in turn') : UNANSWERED;
    },
  };
}
