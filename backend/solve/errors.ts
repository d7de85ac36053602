import type { StopLimit } from '../protocol/worker-config.ts';
import { BudgetSpentError } from '../workers/errors.ts';

/** No run has this id. */
export class RunNotFoundError extends Error {
  override readonly name = 'RunNotFoundError';
  readonly runId: string;

  constructor(runId: string) {
    super(`There is no run "${runId}"; "conductor runs list" shows those there are.`);
    this.runId = runId;
  }
}

interface ReachedLimit {
  readonly limit: StopLimit;
  /** The lowest limit that would allow the call, in dollars or tokens. */
  readonly needed: number;
  /** How much of it is reserved for running calls. They usually cost far less. */
  readonly reserved: number;
}

/** A limit of the run, the day or the training does not allow the next call. Nothing was sent. */
export class LimitReachedError extends BudgetSpentError implements ReachedLimit {
  readonly limit: StopLimit;
  readonly needed: number;
  readonly reserved: number;

  constructor({ limit, needed, reserved, scope, message }: ReachedLimit & { readonly scope: string; readonly message: string }) {
    super(scope, message);
    this.limit = limit;
    this.needed = needed;
    this.reserved = reserved;
  }
}

/** The run cannot be started, resumed or cancelled in its state. The message says why and what to do. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError';
}
