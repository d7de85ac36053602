import type { Budget as JournalBudget, BudgetScope, ReservationAnswer } from '../journal/budget.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Budget } from '../protocol/worker-config.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import type { Ledger, Reservation, Reserved } from '../workers/ledger.ts';
import { LimitReachedError } from './errors.ts';

export interface RunLedgerOptions {
  readonly run: Pick<RunSnapshot, 'runId' | 'budget' | 'request'>;
  readonly budget: JournalBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of the training that the run is a rollout of. */
  readonly training?: BudgetScope | undefined;
}

/** Lends a run its money: every call is held against the run's limits and the day's, in the journal, across processes. */
export class RunLedger implements Ledger {
  readonly #options: RunLedgerOptions;

  constructor(options: RunLedgerOptions) {
    this.#options = options;
  }

  reserve(amount: Reserved): Reservation {
    const { run, budget } = this.#options;
    const answer = budget.reserve({ runId: run.runId, scopes: this.#scopes(), usd: amount.usd, tokens: amount.tokens });
    if (!answer.granted) throw refusal(answer, this.#options);
    return { id: answer.reservationId };
  }

  #scopes(): BudgetScope[] {
    const { run: { runId, budget: limits }, now, training } = this.#options;
    return [
      runScope(runId, limits),
      dayScope(limits, now()),
      ...(training ? [training] : []),
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
  { scope, unit, limit, spent, reserved, asked }: Extract<ReservationAnswer, { granted: false }>,
  { run: { runId, request }, training }: RunLedgerOptions,
): BudgetSpentError {
  const amount = (value: number): string => (unit === 'usd' ? `$${value.toFixed(4)}` : `${value} tokens`);
  const over = `does not hold another call of up to ${amount(asked)}: ${amount(spent)} are spent and ${amount(reserved)} set aside.`;
  if (scope === training?.name) return new BudgetSpentError(scope, `The budget of this training (${amount(limit)}) ${over} Go on with a larger one.`);
  const whose = scope.startsWith('day:') ? 'the day' : 'this run';
  const setting = `${scope.startsWith('day:') ? 'day' : 'run'}${unit === 'usd' ? 'Usd' : 'Tokens'}` as const;
  // A limit that came with the question stands before the file's.
  const option = { runUsd: '--max-usd', runTokens: '--max-tokens', dayUsd: undefined, dayTokens: undefined }[setting];
  const remedy = option !== undefined && request.budget?.[setting] !== undefined
    ? `Resume the run with more: conductor runs resume ${runId} ${option} N`
    : `Raise "${setting}" in workers.json and resume the run.`;
  return new LimitReachedError(setting, scope, `The budget of ${whose} (${amount(limit)}) ${over} ${remedy}`);
}
