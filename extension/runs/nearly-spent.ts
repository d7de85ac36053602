import { unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { isUnderWay } from '../training/trainings.ts';

/* What is told once, apart from the words: a run by its id, a day by its date, a training by what it may cost. */

/** Where it is remembered what was told; all windows share it. */
export interface ToldMemory {
  get(): readonly string[];
  set(told: readonly string[]): void;
}

const MAX_TOLD = 100;

/** @returns whether it is news, which it is no second time */
export function isNews(what: string, memory: ToldMemory): boolean {
  const told = memory.get();
  if (told.includes(what)) return false;
  memory.set([...told, what].slice(-MAX_TOLD));
  return true;
}

/** What a run's warning is about: limits of a day are told of once, whichever run comes near them. */
export function subjectOf({ runId, at, event }: StoredEvent): string | undefined {
  if (event.type !== 'budget.warned') return undefined;
  return event.limit.startsWith('day') ? `day ${new Date(at).toDateString()}` : `run ${runId}`;
}

/** Trainings under way that have spent so many hundredths of their dollars, or of the tokens that these stand for where no price is known. */
export function nearlySpent(trainings: readonly TrainingSummary[], percent: number): readonly TrainingSummary[] {
  return trainings.filter((training) => {
    const { spentUsd, unpricedTokens, maxUsd } = training;
    return isUnderWay(training) && Math.max(spentUsd / maxUsd, unpricedTokens / unpricedTokensFor(maxUsd)) >= percent / 100;
  });
}

/** With a larger budget a training may come near its end once more. */
export const subjectOfTraining = ({ trainingId, maxUsd }: TrainingSummary): string => `training ${trainingId} ${maxUsd}`;
