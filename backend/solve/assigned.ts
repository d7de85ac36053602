import type { RoundView } from '../protocol/run-snapshot.ts';
import type { Step } from '../workflow/plan.ts';

/** The step with the worker that does it now, which need not be the plan's choice. */
export function withWorker(step: Step, { steps }: Pick<RoundView, 'steps'>): Step {
  return { ...step, worker: steps[step.index]?.worker ?? step.worker };
}
