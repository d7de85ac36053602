import type { Account } from '../protocol/conversation.ts';
import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import { unpricedTokensFor, usdForUnpriced } from '../protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../protocol/figures.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Budget, BudgetLimit, StopLimit } from '../protocol/worker-config.ts';
import type { Asked, Ledger, Reservation } from '../workers/limits/ledger.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import { LimitReachedError } from './errors.ts';

export interface RunLedgerOptions {
  readonly run: Pick<RunSnapshot, 'runId' | 'budget' | 'conversation'>;
  readonly budget: JournalBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The training's scope, for a rollout. Its limits are read for each call, because they can be raised meanwhile. */
  readonly training?: BudgetScope | undefined;
}

/** The scope of a training for workers without a known price, with its dollars converted to tokens. */
export function unpricedScope({ name, limitUsd }: BudgetScope): BudgetScope {
  return { name: `${name}.unpriced`, ...(limitUsd !== undefined && { limitTokens: unpricedTokensFor(limitUsd) }) };
}

/**
 * Reserves the cost of every call within the limits of the run and the day, in the journal and across processes. A rollout is limited by
 * its training's budget instead of the day's. Free calls are not limited: a model of this machine works even when the budget is spent.
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
    const { account } = this.#options.run.conversation ?? {};
    const ofAccount = account ? [accountScope(account), ...(usd === undefined ? [unpricedScope(accountScope(account))] : [])] : [];
    if (!training) return [run, dayScope(limits, now()), ...ofAccount];
    return [run, training, ...(usd === undefined ? [unpricedScope(training)] : [])];
  }
}

/** The scope of a run's own limits. */
export function runScope(runId: string, { runUsd, runTokens }: Pick<Budget, 'runUsd' | 'runTokens'>): BudgetScope {
  return { name: `run:${runId}`, limitUsd: runUsd, limitTokens: runTokens };
}

/** The scope of everything that the conversations of an account have cost. */
export function accountScope({ id, maxUsd }: Pick<Account, 'id' | 'maxUsd'>): BudgetScope {
  return { name: `key:${id}`, limitUsd: maxUsd };
}

/** The scope of the limits of a day. @param at a time of that day, in milliseconds since 1970 */
export function dayScope({ dayUsd, dayTokens }: Pick<Budget, 'dayUsd' | 'dayTokens'>, at: number): BudgetScope {
  return { name: `day:${localDay(at)}`, limitUsd: dayUsd, limitTokens: dayTokens };
}

/** The calendar day in the user's time zone, because users expect the budget to renew at their midnight. */
export function localDay(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

function refusal(
  { scope, unit, limit, spent, reserved, asked }: Extract<ReservationAnswer, { granted: false }>, { training, run }: RunLedgerOptions,
): BudgetSpentError {
  const amount = (value: number): string => (unit === 'usd' ? formatUsd(value) : `${formatTokens(value)} tokens`);
  const aside = reserved > 0 ? ` and ${amount(reserved)} set aside for calls under way` : '';
  const over = `does not hold the next call, which may take ${amount(asked)}: ${amount(spent)} are spent${aside}.`;
  const needed = spent + reserved + asked;
  const refused = (stopLimit: StopLimit, whose: string, atLeast = needed): LimitReachedError =>
    new LimitReachedError({
      limit: stopLimit, needed: atLeast, reserved, scope, message: `The budget of ${whose} ${over} Resume the ${training ? 'training' : 'run'} with a higher limit.`,
    });
  const { account } = run.conversation ?? {};
  if (account && scope.startsWith('key:')) {
    return new BudgetSpentError(scope, `The limit of the key "${account.name}" (${formatUsd(account.maxUsd ?? 0)}) ${over}`);
  }
  if (training && scope === training.name) return refused(unit, `this training (${amount(limit)})`);
  if (training && scope === unpricedScope(training).name) {
    return refused('usd', `this training (${formatUsd(training.limitUsd ?? 0)}, which is ${amount(limit)} where no price is known)`, usdForUnpriced(needed));
  }
  const isDay = scope.startsWith('day:');
  const setting: BudgetLimit = `${isDay ? 'day' : 'run'}${unit === 'usd' ? 'Usd' : 'Tokens'}`;
  return refused(setting, `${isDay ? 'the day' : training ? 'a rollout' : 'this run'} (${amount(limit)})`);
}
