import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import { unpricedTokensFor } from '../protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../protocol/figures.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Budget, BudgetLimit } from '../protocol/worker-config.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import type { Asked, Ledger, Reservation } from '../workers/ledger.ts';
import { LimitReachedError } from './errors.ts';

export interface RunLedgerOptions {
  readonly run: Pick<RunSnapshot, 'runId' | 'budget'>;
  readonly budget: JournalBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of the training that the run is a rollout of. */
  readonly training?: BudgetScope | undefined;
}

/** What workers without a known price may use of a training's dollars, in tokens. */
export function unpricedScope({ name, limitUsd }: BudgetScope): BudgetScope {
  return { name: `${name}.unpriced`, ...(limitUsd !== undefined && { limitTokens: unpricedTokensFor(limitUsd) }) };
}

/**
 * Lends a run its money: every call is held against the run's limits and the day's, in the journal, across processes. One that nobody sends a
 * bill for is held by nothing: a model of this machine goes on when the money is spent, and takes nothing of it.
 */
export class RunLedger implements Ledger {
  readonly #options: RunLedgerOptions;

  constructor(options: RunLedgerOptions) {
    this.#options = options;
  }

  reserve(amount: Asked): Reservation {
    const { run, budget } = this.#options;
    const answer = budget.reserve({ runId: run.runId, scopes: amount.isFree ? [] : this.#scopes(amount), usd: amount.usd, tokens: amount.tokens });
    if (!answer.granted) throw refusal(answer, this.#options);
    return { id: answer.reservationId };
  }

  #scopes({ usd }: Asked): BudgetScope[] {
    const { run: { runId, budget: limits }, now, training } = this.#options;
    return [
      runScope(runId, limits),
      dayScope(limits, now()),
      ...(training ? [training] : []),
      ...(training && usd === undefined ? [unpricedScope(training)] : []),
    ];
  }
}

/** What a run may cost. */
export function runScope(runId: string, { runUsd, runTokens }: Pick<Budget, 'runUsd' | 'runTokens'>): BudgetScope {
  return { name: `run:${runId}`, limitUsd: runUsd, limitTokens: runTokens };
}

/** What everything may cost in the day of a time, in milliseconds since 1970. */
export function dayScope({ dayUsd, dayTokens }: Pick<Budget, 'dayUsd' | 'dayTokens'>, at: number): BudgetScope {
  return { name: `day:${localDay(at)}`, limitUsd: dayUsd, limitTokens: dayTokens };
}

/** The calendar day where the user is, because that is when they expect a new day's budget. */
export function localDay(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

function refusal(
  { scope, unit, limit, spent, reserved, asked }: Extract<ReservationAnswer, { granted: false }>, { training }: RunLedgerOptions,
): BudgetSpentError {
  const amount = (value: number): string => (unit === 'usd' ? formatUsd(value) : `${formatTokens(value)} tokens`);
  const aside = reserved > 0 ? ` and ${amount(reserved)} set aside for calls under way` : '';
  const over = `does not hold the next call, which may take ${amount(asked)}: ${amount(spent)} are spent${aside}.`;
  if (training && scope === training.name) {
    return new BudgetSpentError(scope, `The budget of this training (${amount(limit)}) ${over} Go on with a larger one.`);
  }
  if (training && scope === unpricedScope(training).name) {
    const dollars = formatUsd(training.limitUsd ?? 0);
    return new BudgetSpentError(
      scope, `The budget of this training (${dollars}, which is ${amount(limit)} where no price is known) ${over} Go on with a larger one.`,
    );
  }
  const isDay = scope.startsWith('day:');
  const setting: BudgetLimit = `${isDay ? 'day' : 'run'}${unit === 'usd' ? 'Usd' : 'Tokens'}`;
  const needed = spent + reserved + asked;
  // Of a rollout nobody is asked for a limit.
  const remedy = training ? `Raise "${setting}" in workers.json and resume the training.` : 'Resume the run with a higher limit.';
  const message = `The budget of ${isDay ? 'the day' : 'this run'} (${amount(limit)}) ${over} ${remedy}`;
  return new LimitReachedError({ limit: setting, needed, scope, message });
}
