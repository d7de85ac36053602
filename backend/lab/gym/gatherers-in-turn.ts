import type { Gatherer, GroupPlace } from '../../train/grpo/gatherer.ts';
import type { RolloutGatherer } from '../../train/rollouts/rollout-gatherer.ts';

type PooledGatherer<Task> = Gatherer<Task> & Pick<RolloutGatherer, 'poolOf'>;

/** Combines several gatherers: the tasks of a step go to each in turn. */
export function gatherersInTurn<Task>(gatherers: readonly PooledGatherer<Task>[]): PooledGatherer<Task> {
  const whose = ({ place }: GroupPlace): PooledGatherer<Task> => gatherers[place % gatherers.length] as PooledGatherer<Task>;
  return {
    prompt: (task, at) => whose(at).prompt(task, at),
    outcomes: (task, plans, at, signal) => whose(at).outcomes(task, plans, at, signal),
    poolOf: (at) => whose(at).poolOf(at),
  };
}
