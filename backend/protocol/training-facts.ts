// What is known of a training without its schemas, which the panel must not carry.

/** So many of a step's rollouts are told of, those that come first. */
export const MAX_TOLD_ROLLOUTS = 64;

interface Extent {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
}

/** Plans that a training has carried out, all its steps together; what is held out is compared behind that. */
export const rolloutsOf = ({ steps, tasksPerStep, groupSize }: Extent): number => steps * tasksPerStep * groupSize;

/** @param state a `TrainingState`. */
export const isTrainingOver = (state: string): boolean => state === 'completed' || state === 'failed' || state === 'cancelled';
