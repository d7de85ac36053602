import type { OutcomesCheck, Outcomes } from '../../protocol/learning.ts';
import type { TrainingConfig } from '../../protocol/training.ts';
import { rewardOf } from '../grpo/reward.ts';
import { collectOutcomes, type WantedOutcomes } from '../outcomes/collect-outcomes.ts';
import { stepsFor } from '../outcomes/imitate.ts';
import { FEWEST_EACH } from '../outcomes/judge-logged.ts';
import { outcomeKey, type Outcome } from '../outcomes/outcome.ts';
import { splitOutcomes } from '../outcomes/split-outcomes.ts';
import type { FrozenOutcomes } from './frozen-outcomes.ts';
import { TrainingError } from './training-error.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';

/** A plan counts half as much as one that came so many verified plans later, as answers do in records (docs/decisions/0028). */
const HALF_LIFE = 100;
/** With fewer, what is learned is an accident. */
const FEWEST_TAUGHT = 8;
/** An invalid plan has the reward 0 and a wrong one this much; what is above it is for a right answer, less its cost. */
const REWARD_OF_WRONG = 0.5;

/** Decides what a training learns from. @throws TrainingError where that is too little */
export async function freezeOutcomes({ journal }: Pick<TrainingRunParts, 'journal'>, { training, folder, cast: { pool }, known, signal, change }: TrainingRunOptions): Promise<FrozenOutcomes> {
  const workspace = training.workspace === '' ? undefined : training.workspace;
  const sorted = await sortOutcomes(journal, { workspace, pool, known, signal }, training.config.reward);
  const missing = missingIn(sorted);
  if (missing !== undefined) throw new TrainingError(missing);
  const { taught, heldOut, seen, counts } = sorted;
  const frozen: FrozenOutcomes = {
    taught: taught.map(({ outcome: { runId, round }, weight }) => ({ runId, round, weight })),
    heldOut: heldOut.map(({ outcome: { runId, round }, isRight }) => ({ runId, round, verified: isRight })),
    seen: seen.map(outcomeKey),
    before: [...known.outcomes],
    steps: stepsFor(taught.length),
    counts,
  };
  await folder.saveOutcomes(frozen);
  await change({ outcomes: counts, tasks: { train: taught.length, heldOut: heldOut.length } });
  return frozen;
}

/** What there is to learn from. Changes nothing. */
export async function checkOutcomes(
  { journal }: Pick<TrainingRunParts, 'journal'>, wanted: WantedOutcomes, reward: TrainingConfig['reward'],
): Promise<Omit<OutcomesCheck, 'conductor'>> {
  const sorted = await sortOutcomes(journal, wanted, reward);
  const missing = missingIn(sorted);
  const { verified, other } = sorted.counts.heldOut;
  return { ...sorted.counts, canTell: Math.min(verified, other) >= FEWEST_EACH, ...(missing !== undefined && { missing }) };
}

interface SortedOutcomes {
  readonly taught: readonly { readonly outcome: Outcome; readonly weight: number }[];
  readonly heldOut: readonly { readonly outcome: Outcome; readonly isRight: boolean }[];
  readonly seen: readonly Outcome[];
  readonly counts: Outcomes;
}

async function sortOutcomes(journal: TrainingRunParts['journal'], wanted: WantedOutcomes, reward: TrainingConfig['reward']): Promise<SortedOutcomes> {
  const { outcomes, leftOut } = await collectOutcomes(journal, wanted);
  const { learned: seen, heldOut } = splitOutcomes(outcomes);
  const worth = ({ judged }: Outcome): number => Math.max(0, (rewardOf(judged, reward) ?? 0) - REWARD_OF_WRONG) / (1 - REWARD_OF_WRONG);
  // What is right is so by the training's own rule, whatever it cost.
  const isRight = ({ judged }: Outcome): boolean => judged.verified || (judged.passes === true && reward.passes === 'right');
  const right = seen.filter((outcome) => isRight(outcome) && worth(outcome) > 0);
  const taught = right.map((outcome, index) => ({ outcome, weight: worth(outcome) * 2 ** (-(right.length - 1 - index) / HALF_LIFE) }));
  const count = (of: readonly Outcome[]): { verified: number; other: number } => {
    const verified = of.filter(isRight).length;
    return { verified, other: of.length - verified };
  };
  return {
    taught, seen, heldOut: heldOut.map((outcome) => ({ outcome, isRight: isRight(outcome) })),
    counts: { learned: count(seen), heldOut: count(heldOut), leftOut },
  };
}

function missingIn({ taught }: Pick<SortedOutcomes, 'taught'>): string | undefined {
  return taught.length >= FEWEST_TAUGHT ? undefined
    : `There is too little to learn from: it takes ${FEWEST_TAUGHT} verified plans before the newest fifth of the questions, and there are ${taught.length}. Ask more, and learn again.`;
}
