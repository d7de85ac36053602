import type { StoppedTraining } from '../../protocol/training.ts';
import type { Budget } from '../../protocol/worker-config.ts';
import { LimitReachedError } from '../../solve/errors.ts';
import { whenOthersEnd } from '../../workers/limits/when-others-end.ts';

/** `usd` and `tokens`: limits for all rollouts of the training together. */
export type RolloutBudget = Budget & { readonly usd?: number | undefined; readonly tokens?: number | undefined };

/** A limit of the training, or of one rollout, does not allow the next call. The training can go on with a higher limit. */
export class TrainingBudgetError extends Error {
  override readonly name = 'TrainingBudgetError';
  readonly stopped: StoppedTraining;

  constructor(message: string, stopped: StoppedTraining) {
    super(message);
    this.stopped = stopped;
  }
}

/** How long a call that does not fit waits for others to end. */
const RETRY_MS = 250;

/** Waits where other calls hold what this one needs. @throws BudgetSpentError where nothing else is reserved and the call still does not fit */
export const whenBudgetAllows = <T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  whenOthersEnd(call, (error) => error instanceof LimitReachedError && error.reserved > 0, { retryMs: RETRY_MS, signal });
