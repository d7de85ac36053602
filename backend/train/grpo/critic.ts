import type { JudgedPlan } from '../../records/plan-value.ts';
import type { SampledCompletion } from '../engines/engine.ts';
import type { GroupPlace } from './gatherer.ts';
import type { JudgedCompletion } from './grpo-step.ts';

/** The plans of a task in a step, in the order in which they were sampled. */
export interface TaskGroup<Task> {
  readonly task: Task;
  readonly at: GroupPlace;
  readonly group: readonly JudgedCompletion[];
}

/** What outcomes so far say of plans. It changes between steps alone: a plan's own outcome has no part in what is expected of it. */
export interface Critic<Task> {
  /** How likely each plan's answer is right; undefined for a text that is no plan. */
  chances(task: Task, completions: readonly SampledCompletion[], at: GroupPlace): readonly (number | undefined)[];
  /** Learns from the plans of a step that were carried out. */
  learn(step: readonly TaskGroup<Task>[]): void;
  /** All that it has learned from, newest first. A checkpoint keeps it. */
  readonly judged: readonly JudgedPlan[];
}
