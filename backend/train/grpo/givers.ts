import type { JudgedCompletion, StepMetrics } from './grpo-step.ts';

/** Other machines that sample and judge plans for the batches of this training. */
export interface Givers {
  /** From here on the version after so many steps is sampled from. Returns when the step can begin. @throws the signal's reason */
  begin(step: number, signal: AbortSignal): Promise<void>;
  /** The groups for a step, once they are there or were waited for long enough. @throws the signal's reason */
  groups(step: number, signal: AbortSignal): Promise<readonly (readonly JudgedCompletion[])[]>;
  /** The groups that could be handed in again and must not count twice, by name. A checkpoint keeps them. */
  readonly counted: readonly string[];
  /** What is recorded of a step besides. */
  metrics(step: number): StepMetrics;
}
