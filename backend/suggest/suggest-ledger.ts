import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import type { Journal } from '../journal/journal.ts';
import { unpricedTokensFor } from '../protocol/budget-limits.ts';
import { formatTokens } from '../protocol/figures.ts';
import type { Failure } from '../protocol/run-events.ts';
import type { SuggestResult } from '../protocol/suggestions.ts';
import { totalTokens } from '../protocol/token-counts.ts';
import type { Budget } from '../protocol/worker-config.ts';
import { dayScope, localDay } from '../solve/run-ledger.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import type { Attempt, AttemptLog, AttemptSpent, Ledger, NextAttempt, Reservation, Reserved } from '../workers/limits/ledger.ts';
import type { ModelReply } from '../workers/model.ts';

/** What the reservations of suggestions stand under in the journal, where those of a run have its id. */
export const SUGGESTIONS = 'suggestions';

export interface SuggestLedgerOptions {
  readonly journal: Pick<Journal, 'budget' | 'transaction'>;
  /** Of workers.json. */
  readonly limits: Budget;
  /** What all suggestions of a day may cost; of those without a known price it limits the tokens. */
  readonly maxUsdPerDay: number;
  /** Nobody sends a bill for it: it is written down and held by nothing. */
  readonly isFree: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The money of suggestions: every call is held against what suggestions may cost in a day and against the day's budget before it
 * is made, and counts in both afterwards. Suggestions are many and small: the journal keeps what they cost and not what they say.
 */
export class SuggestLedger implements Ledger, AttemptLog {
  readonly #options: SuggestLedgerOptions;

  constructor(options: SuggestLedgerOptions) {
    this.#options = options;
  }

  reserve({ usd, tokens }: Reserved): Reservation {
    const { journal } = this.#options;
    const answer = journal.transaction(() => {
      const scopes = this.#scopes({ isPriced: usd !== undefined });
      const granted = journal.budget.reserve({ runId: SUGGESTIONS, scopes, usd, tokens });
      // Its request leaves at once; a transaction of its own would be one more wait for the disk at every suggestion.
      if (granted.granted) journal.budget.markSent(granted.reservationId);
      return granted;
    });
    if (!answer.granted) throw new BudgetSpentError(answer.scope, refusal(answer));
    return { id: answer.reservationId };
  }

  /** A reservation is marked as sent. */
  started(_attempt: NextAttempt, reserve: () => Reservation): Reservation {
    return reserve();
  }

  succeeded({ reservation }: Attempt, _reply: ModelReply, spent: AttemptSpent): void {
    this.#settle(reservation, spent);
  }

  failed({ reservation }: Attempt, _failure: Failure, spent: AttemptSpent): void {
    this.#settle(reservation, spent);
  }

  #settle({ id }: Reservation, { usage, cost }: AttemptSpent): void {
    const { journal } = this.#options;
    journal.transaction(() => {
      journal.budget.settle(id, { usd: cost.usd, tokens: totalTokens(usage) });
      // There would be one for every pause in somebody's typing, for ever.
      journal.budget.forget(id);
    });
  }

  #scopes({ isPriced }: { isPriced: boolean }): BudgetScope[] {
    const { limits, maxUsdPerDay, isFree, now } = this.#options;
    const name = suggestionsOfDay(now());
    if (isFree) return [{ name }];
    return [
      { name, limitUsd: maxUsdPerDay },
      ...(isPriced ? [] : [{ name: unpricedOfDay(now()), limitTokens: unpricedTokensFor(maxUsdPerDay) }]),
      dayScope(limits, now()),
    ];
  }
}

/** What all suggestions of the day have cost, in dollars and, of those without a known price, in tokens. */
export function spentOnSuggestions(
  budget: Pick<JournalBudget, 'spent'>, now: number,
): Pick<SuggestResult, 'spentTodayUsd' | 'unpricedTokensToday'> {
  return {
    spentTodayUsd: budget.spent(suggestionsOfDay(now)).usd,
    unpricedTokensToday: budget.spent(unpricedOfDay(now)).tokens,
  };
}

function suggestionsOfDay(at: number): string {
  return `suggestions:${localDay(at)}`;
}

function unpricedOfDay(at: number): string {
  return `suggestions-unpriced:${localDay(at)}`;
}

function refusal({ scope, unit, limit }: Extract<ReservationAnswer, { granted: false }>): string {
  const amount = unit === 'usd' ? `$${limit.toFixed(2)}` : `${formatTokens(limit)} tokens`;
  if (!scope.startsWith(SUGGESTIONS)) {
    return `The budget of the day (${amount}) is spent: raise "day${unit === 'usd' ? 'Usd' : 'Tokens'}" in workers.json.`;
  }
  return unit === 'usd'
    ? `Suggestions have cost what they may in a day (${amount}): they go on tomorrow, or with a higher limit in the settings.`
    : `Suggestions have used what they may in a day without a known price (${amount}): they go on tomorrow, with a "price" of the ` +
      'worker in workers.json, or with a higher limit in the settings.';
}
