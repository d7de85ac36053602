import type { StoppedTraining } from '../../protocol/training.ts';
import type { Budget } from '../../protocol/worker-config.ts';
import { LimitReachedError } from '../../solve/errors.ts';
import { delay } from '../../workers/limits/delay.ts';

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

/**
 * Calls reserve far more than they spend, and many are under way together. A call that does not fit waits until others have released theirs.
 * @throws BudgetSpentError where nothing else is reserved and the call still does not fit
 */
export async function whenBudgetAllows<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof LimitReachedError) || error.reserved === 0) throw error;
    }
    await delay(RETRY_MS, signal);
  }
}
