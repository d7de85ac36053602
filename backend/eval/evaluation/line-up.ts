import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { ContestantName } from '../../protocol/contestants.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { ablation } from '../../conductor/plan/ablations.ts';
import type { ConductorSwitches } from '../conductor-switches.ts';
import type { Contestant } from '../contestant.ts';
import { contrastiveRouter } from '../contestants/contrastive-router.ts';
import { fusionCascade } from '../contestants/fusion-cascade.ts';
import { fusionCritique } from '../contestants/fusion-critique.ts';
import { fusionSingle } from '../contestants/fusion-single.ts';
import { majority } from '../contestants/majority.ts';
import { mixtureOfAgents } from '../contestants/mixture-of-agents.ts';
import { moreContext } from '../contestants/more-context.ts';
import { nearestNeighbourRouter, type RoutedExample } from '../contestants/nearest-neighbour-router.ts';
import { promptedConductor } from '../contestants/prompted-conductor.ts';
import { randomPlans } from '../contestants/random-plans.ts';
import { selfReflection } from '../contestants/self-reflection.ts';
import { workerAlone } from '../contestants/worker-alone.ts';
import { QUESTION_SHAPES, QUESTION_SUBTASKS } from '../plans.ts';
import type { EvalTask } from '../run-plan.ts';
import type { SameAnswer } from '../voting.ts';
import type { AskModel } from './paid-calls.ts';

/** A Conductor, and how it differs from one as it is. */
export interface PlannerChoice {
  readonly name: string;
  readonly planner: WorkerConfig;
  readonly profile: PromptProfile;
  readonly switches: ConductorSwitches;
}

export interface LineUpOptions {
  readonly names: readonly ContestantName[];
  readonly planners: readonly PlannerChoice[];
  /** By ordinal. */
  readonly pool: readonly WorkerConfig[];
  /** Ordinals of the best worker and of the cheapest one. */
  readonly best: number;
  readonly cheapest: number;
  /** Dollars for a million tokens each of input and output, by ordinal; Infinity where no price is known. */
  readonly priceOf: (worker: number) => number;
  readonly ask: AskModel;
  readonly sameFor: (task: EvalTask) => SameAnswer;
  /** Results of each worker on the tasks of practice. */
  readonly examples: readonly RoutedExample[];
  readonly signal: AbortSignal;
}

const MOST_CRITICS = 3;

/** The contestants of these names, in their order, then the Conductors. */
export function lineUp({ names, planners, pool, best, cheapest, priceOf, ask, sameFor, examples, signal }: LineUpOptions): Contestant[] {
  const workers = pool.map((_, worker) => worker);
  const nameOf = (worker: number): string => pool[worker]?.id ?? String(worker);
  const others = workers.filter((worker) => worker !== best).slice(0, MOST_CRITICS);
  const made: Readonly<Record<ContestantName, () => Contestant[]>> = {
    'alone': () => workers.map((worker) => workerAlone(worker, nameOf(worker), QUESTION_SHAPES)),
    'random': () => [randomPlans(workers.length, QUESTION_SUBTASKS)],
    'reflection': () => [selfReflection(best, QUESTION_SHAPES)],
    'majority': () => [majority(best, sameFor, QUESTION_SHAPES)],
    'mixture': () => [mixtureOfAgents(workers, best, QUESTION_SHAPES)],
    'context': () => [moreContext(best, nameOf(best), QUESTION_SHAPES)],
    'router': () => [{ ...nearestNeighbourRouter(examples, QUESTION_SHAPES), version: JSON.stringify(examples) }],
    'trained-router': () => [{ ...contrastiveRouter(examples, QUESTION_SHAPES), version: JSON.stringify(examples) }],
    'fusion-single': () => [fusionSingle(best, QUESTION_SHAPES)],
    'fusion-cascade': () => [fusionCascade(cheapest, best, best, QUESTION_SHAPES)],
    'fusion-critique': () => [fusionCritique(best, others, QUESTION_SHAPES)],
  };
  // The same name with another worker as the best one is another contestant.
  const withBest = (contestant: Contestant): Contestant => ({ ...contestant, version: JSON.stringify([nameOf(best), nameOf(cheapest), contestant.version]) });
  return [
    ...names.flatMap((name) => made[name]()).map(withBest),
    ...planners.map(({ name, planner, profile, switches }) => promptedConductor({
      name, planner, profile, switches, pool, priceOf, ask, signal, ablations: switches.ablations.map((one) => ablation(one, best)),
    })),
  ];
}
