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

/** A limit of the run, of the day or of the training does not hold the next call. Nothing was sent. */
export class LimitReachedError extends BudgetSpentError {
  readonly limit: StopLimit;
  /** The lowest limit that would hold the call: dollars or tokens. */
  readonly needed: number;

  constructor({ limit, needed, scope, message }: { limit: StopLimit; needed: number; scope: string; message: string }) {
    super(scope, message);
    this.limit = limit;
    this.needed = needed;
  }
}

/** The run cannot be started, resumed or cancelled as things stand; the message says why and what to do. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError';
}
