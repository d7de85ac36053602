import type { Prompt, SampledCompletion } from '../engines/engine.ts';
import type { StepMetrics } from './grpo-step.ts';
import type { RolloutOutcome } from './reward.ts';

/** The place of a group in its training. Everything that is drawn for the group follows from it. */
export interface GroupPlace {
  readonly step: number;
  /** The index of its task within the step. */
  readonly place: number;
}

/** A plan to run for a task. */
export interface SampledPlan {
  /** Its index within the group. Answers of workers are shared between equal samples only. */
  readonly sample: number;
  readonly completion: SampledCompletion;
  /** The plans that this one revises: the same sample's, of the rounds before, oldest first. */
  readonly revises?: readonly SampledCompletion[] | undefined;
}

/** The environment of a training: it asks for plans and judges them. */
export interface Gatherer<Task> {
  /** The prompt for a plan. */
  prompt(task: Task, at: GroupPlace): Prompt;
  /** The prompt for a revision of a plan that has run; undefined where that plan led to no answer. */
  revisionPrompt?(task: Task, at: GroupPlace, plan: Pick<SampledPlan, 'sample' | 'revises'>): Prompt | undefined;
  /** Told of each group of sampled plans before any of it is carried out. */
  sampled?(task: Task, plans: readonly SampledPlan[], at: GroupPlace): void;
  /** Runs sampled plans and judges their answers. The failure of one plan is its outcome. @throws where the training cannot go on */
  outcomes(task: Task, plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]>;
  /** What is recorded of a step besides what it taught, once its plans are judged. */
  metrics?(step: number): StepMetrics;
}
