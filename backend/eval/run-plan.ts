import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import type { Usage } from '../protocol/usage.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { StepCopies } from '../hands/step-copies.ts';
import type { ProjectFacts } from '../protocol/project-facts.ts';
import type { Grade, Grader } from '../verify/graders/grader.ts';
import type { ReadableOutput } from '../workflow/execute-plan.ts';
import type { Plan, Step } from '../workflow/plan.ts';
import type { WorkerBriefing } from '../workflow/worker-messages.ts';

/** Where the steps of workers with hands work on a task. */
export interface TaskHands {
  /** What tells this place from others, with the project and its surroundings. */
  readonly name: string;
  /** The project's files (absolute). */
  readonly folder: string;
  /** Copies of it. */
  readonly copies: Pick<StepCopies, 'open'>;
}

/** A question and its grader. */
export interface EvalTask {
  readonly id: string;
  readonly question: string;
  /** Parts of a workspace as text; empty when there are none. */
  readonly context: string;
  readonly grader: Grader;
  /**
   * What a person has to judge answers with before the answer is given: the project's tests, or the examples that the question shows. Absent
   * where there is nothing.
   */
  readonly tests?: Grader | undefined;
  /** For a task whose answer changes files of a project: the paths of the files in the context, and what a Conductor is told. */
  readonly project?: { readonly shown: readonly string[]; readonly facts: ProjectFacts } | undefined;
  /** Where workers with hands do their steps; or that they would. Without it they answer in one call. */
  readonly hands?: TaskHands | 'rehearsed' | undefined;
}

export interface RunPlanOptions {
  /** Workers in the order of their ordinals. */
  readonly pool: readonly WorkerConfig[];
  /**
   * Number of the independent run of a plan. Equal numbers give equal results, if the workers support seeds.
   */
  readonly sample: number;
  readonly signal: AbortSignal;
  readonly previousRound?: WorkerBriefing['previousRound'];
  readonly moreContext?: string | undefined;
  /** Does a step of the worker after the last one of the pool, by a plan of its own. */
  readonly self?: ((step: Step, inputs: readonly ReadableOutput[]) => Promise<PlanAnswer>) | undefined;
}

/** What calls of workers used. */
export interface Spent {
  /** Dollars of all calls whose price is known. */
  readonly costUsd: number;
  /** Tokens of all calls. */
  readonly usage: Usage;
  /** Seconds until the last answer, if steps that do not read each other run at the same time. */
  readonly seconds: number;
}

export interface WorkerReply {
  readonly text: string;
  readonly costUsd: number;
  readonly usage: Usage;
  readonly seconds: number;
  /** True if it was paid for earlier. */
  readonly served?: boolean;
}

/** A step as it ran. */
export interface StepTrace {
  readonly worker: string;
  readonly subtask: string;
  /** Positions of the steps that it read. */
  readonly reads: readonly number[];
  readonly output: string;
  /** True if the answer was paid for earlier, by another contestant or before a restart. */
  readonly served: boolean;
}

/** What a plan, or several, answered. */
export interface PlanAnswer extends Spent {
  /** The last step's output. */
  readonly answer: string;
  /** The steps of each plan that ran. */
  readonly traces: readonly (readonly StepTrace[])[];
  /** For a Conductor: whether its text was a valid plan. */
  readonly isPlan?: boolean;
}

export interface PlanOutcome extends PlanAnswer {
  readonly verified: boolean;
  /** 0 to 1. */
  readonly score: number;
}

/**
 * Executes a plan on a task. A plan may have more steps than the Conductor allows.
 *
 * @throws PlanNotRunError if a worker failed; the signal's reason.
 */
export type ExecutePlan<T extends EvalTask = EvalTask> = (task: T, plan: Plan, options: RunPlanOptions) => Promise<PlanAnswer>;

/**
 * Executes a plan on a task and grades its answer.
 *
 * @throws PlanNotRunError if a worker, the sandbox or the machine failed, so that the plan has no grade; the signal's reason.
 */
export type RunPlan<T extends EvalTask = EvalTask> = (task: T, plan: Plan, options: RunPlanOptions) => Promise<PlanOutcome>;

export const NOTHING_SPENT: Spent = { costUsd: 0, usage: NO_USAGE, seconds: 0 };

/** An answer of nobody, which is wrong. */
export const UNANSWERED: PlanAnswer = { ...NOTHING_SPENT, answer: '', traces: [] };

/** The chosen answer, with what all of them used. `at once`: they ran at the same time; `in turn`: one after another. */
export function withAll(chosen: PlanAnswer, all: readonly PlanAnswer[], how: 'at once' | 'in turn'): PlanAnswer {
  const seconds = all.map((one) => one.seconds);
  return {
    answer: chosen.answer,
    costUsd: all.reduce((sum, { costUsd }) => sum + costUsd, 0),
    usage: all.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    seconds: how === 'at once' ? Math.max(0, ...seconds) : seconds.reduce((sum, one) => sum + one, 0),
    traces: all.flatMap(({ traces }) => traces),
  };
}

/** @throws PlanNotRunError if the machine is at fault; the signal's reason */
export async function gradeAnswer({ id, grader }: EvalTask, answered: PlanAnswer, signal: AbortSignal): Promise<PlanOutcome & Pick<Grade, 'reason' | 'change'>> {
  const grade = await grader.grade({ answer: answered.answer, signal });
  if (grade.outcome === 'infrastructure') throw new PlanNotRunError(id, answered.costUsd, grade.reason);
  const { verified, score, reason, change } = grade;
  return { ...answered, verified, score, reason, ...(change !== undefined && { change }) };
}

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
