import type { Journal } from '../../journal/journal.ts';
import { formatUsd } from '../../protocol/figures.ts';
import { LimitReachedError } from '../../solve/errors.ts';
import type { Pay } from '../engines/engine-start.ts';
import { RemoteError, type RemoteErrorKind } from '../engines/remote/remote-error.ts';
import { TrainingBudgetError, whenBudgetAllows } from '../rollouts/training-budget.ts';

export interface EngineAccountOptions {
  readonly journal: Journal;
  readonly trainingId: string;
  /** The budget's scope for everything that the training costs. */
  readonly scope: string;
  /** In dollars; read for each call, since it can be raised. */
  readonly limitUsd: () => number | undefined;
}

/** Refused before anything was done. After another failure the server may bill what it was asked. */
const NOT_BILLED: ReadonlySet<RemoteErrorKind> = new Set(['key', 'refused', 'full']);

/**
 * Pays for an engine out of its training's budget, which it shares with the workers. What a killed process had under way counts with the most that it may have
 * cost. Calls that the budget does not hold throw TrainingBudgetError.
 */
export function engineAccount({ journal, trainingId, scope, limitUsd }: EngineAccountOptions): Pay {
  const { budget } = journal;
  const owner = `${trainingId}.engine`;
  budget.closeAbandoned(owner);

  const reserve = (usd: number): string => journal.transaction(() => {
    const limit = limitUsd();
    const answer = budget.reserve({ runId: owner, scopes: [{ name: scope, limitUsd: limit }], usd, tokens: 0 });
    if (answer.granted) {
      budget.markSent(answer.reservationId);
      return answer.reservationId;
    }
    const { spent, reserved, asked } = answer;
    throw new LimitReachedError({
      limit: 'usd', needed: spent + reserved + asked, reserved, scope,
      message: `The budget of this training (${formatUsd(limit ?? 0)}) does not hold the next call of the training server, which may cost ${formatUsd(asked)}: ${formatUsd(spent)} are spent. Resume the training with a higher limit.`,
    });
  });

  return async (mostUsd, call, usedUsd, signal = NEVER) => {
    const reservationId = await whenBudgetAllows(async () => reserve(mostUsd), signal).catch((error: unknown) => {
      if (!(error instanceof LimitReachedError)) throw error;
      throw new TrainingBudgetError(error.message, { by: 'usd', limit: limitUsd() ?? 0, needed: error.needed });
    });
    let usd = mostUsd;
    try {
      const result = await call();
      usd = usedUsd(result);
      return result;
    } catch (error) {
      if (error instanceof RemoteError && NOT_BILLED.has(error.kind)) usd = 0;
      throw error;
    } finally {
      journal.transaction(() => {
        budget.settle(reservationId, { usd, tokens: 0 });
        budget.forget(reservationId);
      });
    }
  };
}

const NEVER = new AbortController().signal;
