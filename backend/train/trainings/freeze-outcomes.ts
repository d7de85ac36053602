import type { OutcomesCheck, Outcomes } from '../../protocol/learning.ts';
import type { TrainingConfig } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { rewardOf } from '../grpo/reward.ts';
import { collectOutcomes, type WantedOutcomes } from '../outcomes/collect-outcomes.ts';
import { FEWEST_EACH } from '../outcomes/judge-logged.ts';
import { stepsFor } from '../outcomes/learn-plans.ts';
import { outcomeKey, type Outcome } from '../outcomes/outcome.ts';
import { ownPlans, type OwnPlan } from '../outcomes/own-plans.ts';
import { splitOutcomes } from '../outcomes/split-outcomes.ts';
import type { FrozenOutcomes } from './frozen-outcomes.ts';
import { TrainingError } from './training-error.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';

/** A plan counts half as much as one that came so many plans later, as answers do in records (docs/decisions/0028). */
const HALF_LIFE = 100;
/** With fewer, what is learned is an accident. */
const FEWEST_TAUGHT = 8;
/** An invalid plan has the reward 0 and a wrong one this much; what is above it is for a right answer, less its cost. */
const REWARD_OF_WRONG = 0.5;

/** Decides what a training learns from. @throws TrainingError where that is too little */
export async function freezeOutcomes({ journal }: Pick<TrainingRunParts, 'journal'>, { training, folder, cast: { conductor, pool }, known, signal, change }: TrainingRunOptions): Promise<FrozenOutcomes> {
  const workspace = training.workspace === '' ? undefined : training.workspace;
  const sorted = await sortOutcomes(journal, { workspace, conductor, pool, known, signal }, training.config.reward);
  const missing = missingIn(sorted);
  if (missing !== undefined) throw new TrainingError(missing);
  const { taught, own, heldOut, seen, counts } = sorted;
  const frozen: FrozenOutcomes = {
    taught: taught.map(({ outcome: { runId, round }, weight }) => ({ runId, round, weight })),
    own: own.map(({ outcome: { runId, round }, advantage }) => ({ runId, round, advantage })),
    heldOut: heldOut.map(({ outcome: { runId, round }, isRight }) => ({ runId, round, verified: isRight })),
    seen: seen.map(outcomeKey),
    before: [...known.outcomes],
    steps: stepsFor(Math.max(taught.length, own.length)),
    counts,
  };
  await folder.saveOutcomes(frozen);
  await change({ outcomes: counts, tasks: { train: taught.length, heldOut: heldOut.length } });
  return frozen;
}

/** What there is to learn from. Changes nothing. */
export async function checkOutcomes(
  { journal }: Pick<TrainingRunParts, 'journal'>, wanted: LearnerOutcomes, reward: TrainingConfig['reward'],
): Promise<Omit<OutcomesCheck, 'conductor'>> {
  const sorted = await sortOutcomes(journal, wanted, reward);
  const missing = missingIn(sorted);
  const { verified, other } = sorted.counts.heldOut;
  return { ...sorted.counts, own: sorted.own.length, canTell: Math.min(verified, other) >= FEWEST_EACH, ...(missing !== undefined && { missing }) };
}

interface LearnerOutcomes extends WantedOutcomes {
  readonly conductor: Pick<WorkerConfig, 'model'>;
}

interface SortedOutcomes {
  readonly taught: readonly { readonly outcome: Outcome; readonly weight: number }[];
  readonly own: readonly OwnPlan[];
  readonly heldOut: readonly { readonly outcome: Outcome; readonly isRight: boolean }[];
  readonly seen: readonly Outcome[];
  readonly counts: Outcomes;
}

async function sortOutcomes(journal: TrainingRunParts['journal'], wanted: LearnerOutcomes, reward: TrainingConfig['reward']): Promise<SortedOutcomes> {
  const { outcomes, leftOut } = await collectOutcomes(journal, wanted);
  const { learned: seen, heldOut } = splitOutcomes(outcomes);
  const worth = ({ judged }: Outcome): number => Math.max(0, (rewardOf(judged, reward) ?? 0) - REWARD_OF_WRONG) / (1 - REWARD_OF_WRONG);
  // What is right is so by the training's own rule, whatever it cost.
  const isRight = ({ judged }: Outcome): boolean => judged.verified || (judged.passes === true && reward.passes === 'right');
  const right = seen.filter((outcome) => isRight(outcome) && worth(outcome) > 0);
  const recency = (index: number, of: readonly unknown[]): number => 2 ** (-(of.length - 1 - index) / HALF_LIFE);
  const taught = right.map((outcome, index) => ({ outcome, weight: worth(outcome) * recency(index, right) }));
  const own = ownPlans(seen.filter(({ sampledBy }) => sampledBy === wanted.conductor.model), reward)
    .map(({ outcome, advantage }, index, all) => ({ outcome, advantage: advantage * recency(index, all) }));
  const count = (of: readonly Outcome[]): { verified: number; other: number } => {
    const verified = of.filter(isRight).length;
    return { verified, other: of.length - verified };
  };
  return {
    taught, own, seen, heldOut: heldOut.map((outcome) => ({ outcome, isRight: isRight(outcome) })),
    counts: { learned: count(seen), heldOut: count(heldOut), leftOut },
  };
}

function missingIn({ taught }: Pick<SortedOutcomes, 'taught'>): string | undefined {
  return taught.length >= FEWEST_TAUGHT ? undefined
    : `There is too little to learn from: it takes ${FEWEST_TAUGHT} verified plans before the newest fifth of the questions, and there are ${taught.length}. Ask more, and learn again.`;
}
