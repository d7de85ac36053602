import type { Failure } from '../protocol/run-events.ts';
import type { Usage } from '../protocol/usage.ts';

/** What can go wrong with a call, as far as code decides by it. */
export type WorkerErrorKind =
  | 'authentication'
  | 'missing-key'
  | 'payment'
  | 'permission'
  | 'not-found'
  | 'invalid-request'
  | 'context-overflow'
  | 'rate-limit'
  | 'overloaded'
  | 'server'
  | 'network'
  | 'first-token-timeout'
  | 'idle-timeout'
  | 'incomplete'
  | 'invalid-response'
  | 'too-large'
  /** A model of this machine: its process ended in the middle. */
  | 'model-died'
  /** A model of this machine cannot be loaded or cannot answer, now and next time. */
  | 'model-unusable'
  /** A local model was unloaded while a call needed it. */
  | 'model-unloaded'
  | 'cancelled';

const RETRYABLE: ReadonlySet<WorkerErrorKind> = new Set([
  'rate-limit', 'overloaded', 'server', 'network', 'first-token-timeout', 'idle-timeout', 'incomplete', 'invalid-response',
  'model-died',
]);

export interface WorkerErrorData {
  readonly kind: WorkerErrorKind;
  /** One sentence that says what happened and what to do; holds no key and no prompt. */
  readonly message: string;
  readonly status?: number | undefined;
  /** What the server asked us to wait, from Retry-After or its relatives. */
  readonly retryAfterMs?: number | undefined;
  /**
   * What the attempt used, where it is known: nothing, for a request that was refused or never sent. Where absent, it is
   * estimated.
   */
  readonly usage?: Usage | undefined;
  readonly cause?: unknown;
}

/** A model call that did not work, classified once, in `classify-error.ts`. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly kind: WorkerErrorKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly usage: Usage | undefined;

  constructor({ kind, message, status, retryAfterMs, usage, cause }: WorkerErrorData) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.usage = usage;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.kind);
  }

  toFailure(): Failure {
    return { kind: this.kind, message: this.message, retryable: this.retryable };
  }
}

/** A scope of the budget has too little left for the next call. Nothing was sent. */
export class BudgetSpentError extends Error {
  override readonly name = 'BudgetSpentError';
  readonly scope: string;

  constructor(scope: string, message: string) {
    super(message);
    this.scope = scope;
  }
}
