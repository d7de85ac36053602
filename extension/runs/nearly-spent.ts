import { unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { isUnderWay } from '../training/trainings.ts';

/* Decides which warnings are shown, and shows each only once: per run id, per date, and per training and budget. */

/** Stores which warnings were shown; shared by all windows. */
export interface ToldMemory {
  get(): readonly string[];
  set(shown: readonly string[]): void;
}

const MAX_TOLD = 100;

/** @returns true on the first call for a subject */
export function isNews(what: string, memory: ToldMemory): boolean {
  const shown = memory.get();
  if (shown.includes(what)) return false;
  memory.set([...shown, what].slice(-MAX_TOLD));
  return true;
}

/** The subject of a run's warning. Daily limits warn once a day, whichever run reaches them. */
export function subjectOf({ runId, at, event }: StoredEvent): string | undefined {
  if (event.type !== 'budget.warned') return undefined;
  return event.limit.startsWith('day') ? `day ${new Date(at).toDateString()}` : `run ${runId}`;
}

/** Active trainings that have spent at least this percentage of their dollars, or of the equivalent tokens of unpriced workers. */
export function nearlySpent(trainings: readonly TrainingSummary[], percent: number): readonly TrainingSummary[] {
  return trainings.filter((training) => {
    const { spentUsd, unpricedTokens, maxUsd } = training;
    return isUnderWay(training) && Math.max(spentUsd / maxUsd, unpricedTokens / unpricedTokensFor(maxUsd)) >= percent / 100;
  });
}

/** Includes the budget, so that a raised budget can warn again. */
export const subjectOfTraining = ({ trainingId, maxUsd }: TrainingSummary): string => `training ${trainingId} ${maxUsd}`;
