import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Grader } from '../verify/graders/grader.ts';
import type { Plan } from '../workflow/plan.ts';

/** A question and its grader. */
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
   * Number of the independent run of a plan. Equal numbers give equal results, if the workers support seeds.
   */
  readonly sample: number;
  readonly signal: AbortSignal;
}

export interface PlanOutcome {
  readonly verified: boolean;
  /** 0 to 1. */
  readonly score: number;
  /** Cost of all worker calls. */
  readonly costUsd: number;
  /** The last step's output. */
  readonly answer: string;
}

/**
 * Executes a plan on a task and grades its answer. A plan may have more steps than the Conductor allows.
 * 
 * @throws PlanNotRunError if a worker, the sandbox or the machine failed, so that the plan has no grade; the signal's reason.
 */
export type RunPlan<T extends EvalTask = EvalTask> = (task: T, plan: Plan, options: RunPlanOptions) => Promise<PlanOutcome>;

/** The plan could not be graded. Its cost so far is not counted. */
export class PlanNotRunError extends Error {
  override readonly name = 'PlanNotRunError';
  readonly taskId: string;
  readonly costUsd: number;

  constructor(taskId: string, costUsd: number, why: string, options?: ErrorOptions) {
    super(`The plan could not be run on the task "${taskId}": ${why} Fix this and start again.`, options);
    this.taskId = taskId;
    this.costUsd = costUsd;
  }
}
