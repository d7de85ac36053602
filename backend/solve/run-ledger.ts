import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import { unpricedTokensFor, usdForUnpriced } from '../protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../protocol/figures.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Budget, BudgetLimit, StopLimit } from '../protocol/worker-config.ts';
import type { Asked, Ledger, Reservation } from '../workers/limits/ledger.ts';
import { LimitReachedError } from './errors.ts';

export interface RunLedgerOptions {
  readonly run: Pick<RunSnapshot, 'runId' | 'budget'>;
  readonly budget: JournalBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of the training that the run is a rollout of. Its limits are read for each call: they may be raised meanwhile. */
  readonly training?: BudgetScope | undefined;
}

/** What workers without a known price may use of a training's dollars, in tokens. */
export function unpricedScope({ name, limitUsd }: BudgetScope): BudgetScope {
  return { name: `${name}.unpriced`, ...(limitUsd !== undefined && { limitTokens: unpricedTokensFor(limitUsd) }) };
}

/**
 * Lends a run its money: every call is held against the run's limits and the day's, in the journal, across processes. A rollout's is held by its
 * training's instead of the day's: what that may cost was agreed to by itself. One that nobody sends a bill for is held by nothing: a model of
 * this machine goes on when the money is spent, and takes nothing of it.
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
    const run = runScope(runId, limits);
    if (!training) return [run, dayScope(limits, now())];
    return [run, training, ...(usd === undefined ? [unpricedScope(training)] : [])];
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
): LimitReachedError {
  const amount = (value: number): string => (unit === 'usd' ? formatUsd(value) : `${formatTokens(value)} tokens`);
  const aside = reserved > 0 ? ` and ${amount(reserved)} set aside for calls under way` : '';
  const over = `does not hold the next call, which may take ${amount(asked)}: ${amount(spent)} are spent${aside}.`;
  const needed = spent + reserved + asked;
  const refused = (stopLimit: StopLimit, whose: string, atLeast = needed): LimitReachedError =>
    new LimitReachedError({
      limit: stopLimit, needed: atLeast, reserved, scope, message: `The budget of ${whose} ${over} Resume the ${training ? 'training' : 'run'} with a higher limit.`,
    });
  if (training && scope === training.name) return refused(unit, `this training (${amount(limit)})`);
  if (training && scope === unpricedScope(training).name) {
    return refused('usd', `this training (${formatUsd(training.limitUsd ?? 0)}, which is ${amount(limit)} where no price is known)`, usdForUnpriced(needed));
  }
  const isDay = scope.startsWith('day:');
  const setting: BudgetLimit = `${isDay ? 'day' : 'run'}${unit === 'usd' ? 'Usd' : 'Tokens'}`;
  return refused(setting, `${isDay ? 'the day' : training ? 'a rollout' : 'this run'} (${amount(limit)})`);
}
