import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Grader } from '../verify/graders/grader.ts';
import type { Plan } from '../workflow/plan.ts';

/** A question with what judges its answers. */
export interface EvalTask {
  readonly id: string;
  readonly question: string;
  /** Parts of a workspace as text; empty when there are none. */
  readonly context: string;
  readonly grader: Grader;
}

export interface RunPlanOptions {
  /** Workers in the order of their ordinals. */
  readonly pool: readonly WorkerConfig[];
  /**
   * Which of several independent runs of the same plan; equal ones give equal results where the workers can be asked for that.
   */
  readonly sample: number;
  readonly signal: AbortSignal;
}

export interface PlanOutcome {
  readonly verified: boolean;
  /** 0 to 1. */
  readonly score: number;
  /** Of all the workers' calls. */
  readonly costUsd: number;
  /** The last step's output. */
  readonly answer: string;
}

/**
 * Executes a plan on a task and has its answer judged. A plan may have more steps than the Conductor's.
 * 
 * @throws PlanNotRunError where a worker, the sandbox or the machine failed, so that nothing is known of the plan; the signal's
 *   reason.
 */
export type RunPlan<T extends EvalTask = EvalTask> = (task: T, plan: Plan, options: RunPlanOptions) => Promise<PlanOutcome>;

/** Nothing was learned of the plan; its cost so far is lost. */
export class PlanNotRunError extends Error {
  override readonly name = 'PlanNotRunError';
  readonly taskId: string;
  readonly costUsd: number;

  constructor(taskId: string, costUsd: number, why: string, options?: ErrorOptions) {
    super(`The plan could not be run on the task "${taskId}": ${why} Mend that and start again.`, options);
    this.taskId = taskId;
    this.costUsd = costUsd;
  }
}
