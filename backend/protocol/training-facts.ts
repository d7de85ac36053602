import type { Training, TrainingConfig, TrainingEvent } from './training.ts';

// Facts about trainings without their schemas, which must not be in the panel's bundle.

/** The maximum number of rollouts listed for a step: the first ones. */
export const MAX_TOLD_ROLLOUTS = 64;

interface Extent {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  readonly carriedOut: number;
  readonly rounds: 1 | 2;
}

/** How many plans of a step are carried out where that is not all. */
export const someCarriedOut = ({ tasksPerStep, groupSize, carriedOut, rounds }: Omit<Extent, 'steps'>): number | undefined =>
  (rounds === 1 && carriedOut < tasksPerStep * groupSize ? carriedOut : undefined);

/** The most plans that are carried out in so many steps, without those on held-out tasks. */
export const rolloutsOf = (extent: Extent): number => extent.steps * (someCarriedOut(extent) ?? extent.tasksPerStep * extent.groupSize);

/** The most plans of all steps, and of the looks at held-out tasks on the way. */
export const mostPlans = (config: Extent & Pick<TrainingConfig, 'evaluation'>): number =>
  rolloutsOf(config) + Math.floor(rolloutsOf(config) * config.evaluation.onTheWay) * plansOfTry(config);

/** The most plans that the final comparison runs for each held-out task. */
export const mostComparedPlans = (config: Pick<TrainingConfig, 'evaluation'>): number => 2 * config.evaluation.samples * plansOfTry(config);

const plansOfTry = ({ evaluation: { rounds = 1, attempts } }: Pick<TrainingConfig, 'evaluation'>): number => (attempts > 1 ? attempts : rounds);

/** @param state a `TrainingState`. */
export const isTrainingOver = (state: string): boolean => state === 'completed' || state === 'failed' || state === 'cancelled';

/** Whether it has ended with all tries of held-out tasks made, and more of them could tell whether it is better. */
export const canGoOnComparing = ({ state, comparison, looks = [] }: Pick<Training, 'state' | 'comparison' | 'looks'>): boolean =>
  state === 'completed' && comparison?.says === 'not-known' && looks.length > 0;

/** Whether a training belongs to a project: it is of that one, or learns from all. */
export const isOfProject = ({ workspace }: Pick<Training, 'workspace'>, project: string): boolean => workspace === project || workspace === '';

/** Applies a change. A change that was already applied has no effect, so replays are harmless. */
export function applyTrainingEvent(training: Training, { seq, at, change }: TrainingEvent): Training {
  if (seq <= training.seq) return training;
  const { metrics, progress, making, stopped, rollouts, ...replaced } = change;
  return {
    ...training, ...replaced, seq, updatedAt: at,
    ...(progress !== undefined && { progress: progress ?? undefined }),
    ...(making !== undefined && { making: making ?? undefined }),
    ...(stopped !== undefined && { stopped: stopped ?? undefined }),
    ...(metrics && { metrics: [...training.metrics.slice(0, metrics.after), ...metrics.told] }),
    ...(rollouts && { rollouts: withRollouts(training.rollouts, rollouts) }),
  };
}

function withRollouts(before: Training['rollouts'], { step, list }: NonNullable<Training['rollouts']>): NonNullable<Training['rollouts']> {
  const known = new Map((before?.step === step ? before.list : []).map((rollout) => [rollout.runId, rollout]));
  for (const rollout of list) {
    if (known.has(rollout.runId) || known.size < MAX_TOLD_ROLLOUTS) known.set(rollout.runId, rollout);
  }
  return { step, list: [...known.values()] };
}
