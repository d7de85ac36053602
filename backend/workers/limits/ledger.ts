import type { Failure } from '../../protocol/run-events.ts';
import type { Cost, Usage } from '../../protocol/usage.ts';
import type { ModelReply } from '../model.ts';

/*
 * What a call needs from its caller: a ledger that reserves the money, and a log of the attempts. `solve` implements both on the
 * journal.
 */

export interface Reservation {
  readonly id: string;
}

export interface Reserved {
  /** Upper bound in dollars; absent for an unpriced worker, which only the token budget limits. */
  readonly usd?: number;
  readonly tokens: number;
}

/** The reservation that a call asks for. */
export interface Asked extends Reserved {
  /** Costs nothing: no limit applies to it or counts it. */
  readonly isFree: boolean;
}

export interface Ledger {
  /**
   * Sets the amount aside in every scope it concerns (run, day, training), in one transaction across processes.
   * @throws BudgetSpentError when a scope has not that much left; then nothing is set aside.
   */
  reserve(amount: Asked): Reservation;
}

/** An attempt whose money is yet to be set aside. */
export interface NextAttempt {
  readonly attemptId: string;
  readonly worker: string;
  /** 1 for the first attempt at a call. */
  readonly number: number;
  readonly reserved: Reserved;
}

export interface Attempt extends NextAttempt {
  readonly reservation: Reservation;
}

export interface AttemptSpent {
  readonly usage: Usage;
  readonly cost: Cost;
  readonly durationMs: number;
}

export interface AttemptLog {
  /**
   * Sets the money aside with `reserve` and notes the attempt: both, or neither where it throws. Must be durable before it returns: the
   * request is sent next, and a request that was sent may be billed.
   */
  started(attempt: NextAttempt, reserve: () => Reservation): Reservation;
  /** Records the reply together with what it cost and settles the reservation, in one transaction. */
  succeeded(attempt: Attempt, reply: ModelReply, spent: AttemptSpent): void;
  /** Records the failure and settles the reservation. `retryInMs` is given when another attempt follows. */
  failed(attempt: Attempt, failure: Failure, spent: AttemptSpent, retryInMs?: number): void;
}
