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
  /** The lowest limit that would hold the call: dollars or tokens. */
  readonly needed: number;
  /** How much of it is set aside for calls under way, most of which they will not cost. */
  readonly reserved: number;
}

/** A limit of the run, of the day or of the training does not hold the next call. Nothing was sent. */
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

/** The run cannot be started, resumed or cancelled as things stand; the message says why and what to do. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError';
}
