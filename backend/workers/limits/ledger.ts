import type { Failure } from '../../protocol/run-events.ts';
import type { Cost, Usage } from '../../protocol/usage.ts';
import type { ModelReply } from '../model.ts';

/*
 * The two things a call needs from whoever wants it made: somebody who lends the money, and somebody who writes down what was tried.
 * `solve` implements both on the journal; a test does so in a few lines.
 */

export interface Reservation {
  readonly id: string;
}

export interface Reserved {
  /** Upper bound in dollars; absent for an unpriced worker, which the token budget alone holds. */
  readonly usd?: number;
  readonly tokens: number;
}

/** What a call needs of whoever lends the money for it. */
export interface Asked extends Reserved {
  /** Nobody sends a bill for it: it is held by no limit and counts in none. */
  readonly isFree: boolean;
}

export interface Ledger {
  /**
   * Sets the amount aside in every scope it concerns (run, day, training), in one transaction across processes.
   * @throws BudgetSpentError when a scope has not that much left; then nothing is set aside.
   */
  reserve(amount: Asked): Reservation;
}

export interface Attempt {
  readonly attemptId: string;
  readonly worker: string;
  /** 1 for the first attempt at a call. */
  readonly number: number;
  readonly reserved: Reserved;
  readonly reservation: Reservation;
}

export interface AttemptSpent {
  readonly usage: Usage;
  readonly cost: Cost;
  readonly durationMs: number;
}

export interface AttemptLog {
  /** Must be durable before it returns: the request is sent next, and a request that was sent may be billed. */
  started(attempt: Attempt): void;
  /** Records the reply together with what it cost and settles the reservation, in one transaction. */
  succeeded(attempt: Attempt, reply: ModelReply, spent: AttemptSpent): void;
  /** Records the failure and settles the reservation. `retryInMs` is given when another attempt follows. */
  failed(attempt: Attempt, failure: Failure, spent: AttemptSpent, retryInMs?: number): void;
}
