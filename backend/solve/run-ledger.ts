import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import type { Budget } from '../protocol/worker-config.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import type { Ledger, Reservation, Reserved } from '../workers/ledger.ts';

export interface RunLedgerOptions {
  readonly runId: string;
  readonly limits: Budget;
  readonly budget: JournalBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Lends a run its money: every call is held against the run's limits and the day's, in the journal, across processes. */
export class RunLedger implements Ledger {
  readonly #options: RunLedgerOptions;

  constructor(options: RunLedgerOptions) {
    this.#options = options;
  }

  reserve(amount: Reserved): Reservation {
    const { runId, budget } = this.#options;
    const answer = budget.reserve({ runId, scopes: this.#scopes(), usd: amount.usd, tokens: amount.tokens });
    if (!answer.granted) throw new BudgetSpentError(answer.scope, refusal(answer));
    return { id: answer.reservationId };
  }

  #scopes(): BudgetScope[] {
    const { runId, limits, now } = this.#options;
    return [
      { name: `run:${runId}`, limitUsd: limits.runUsd, limitTokens: limits.runTokens },
      { name: `day:${localDay(now())}`, limitUsd: limits.dayUsd, limitTokens: limits.dayTokens },
    ];
  }
}

/** The calendar day where the user is, because that is when they expect a new day's budget. */
function localDay(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

function refusal({ scope, unit, limit, spent, reserved, asked }: Extract<ReservationAnswer, { granted: false }>): string {
  const amount = (value: number): string => (unit === 'usd' ? `$${value.toFixed(4)}` : `${value} tokens`);
  const whose = scope.startsWith('day:') ? 'the day' : 'this run';
  const setting = `${scope.startsWith('day:') ? 'day' : 'run'}${unit === 'usd' ? 'Usd' : 'Tokens'}`;
  return (
    `The budget of ${whose} (${amount(limit)}) does not hold another call of up to ${amount(asked)}: ${amount(spent)} are spent and ` +
    `${amount(reserved)} set aside. Raise "${setting}" in workers.json and resume the run.`
  );
}
