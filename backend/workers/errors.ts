import { MOMENTARY_FAILURES } from '../protocol/failure-kinds.ts';
import type { Failure } from '../protocol/run-events.ts';
import type { Usage } from '../protocol/usage.ts';

/** The kinds of errors that the code distinguishes. */
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
  /** Nothing was written, also when it was asked once more. */
  | 'empty-answer'
  /** The process of a local model ended during a call. */
  | 'model-died'
  /** A local model cannot be loaded or cannot answer, and a retry would not help. */
  | 'model-unusable'
  /** A local model was unloaded while a call needed it. */
  | 'model-unloaded'
  /** An agent ended, broke its protocol or exceeded a limit. It begins nothing anew by itself: it may have been paid for much. */
  | 'agent-failed'
  | 'cancelled';

const RETRYABLE: ReadonlySet<WorkerErrorKind> = new Set<WorkerErrorKind>(MOMENTARY_FAILURES);

export interface WorkerErrorData {
  readonly kind: WorkerErrorKind;
  /** Says what happened and what to do. Contains no key and no prompt. */
  readonly message: string;
  readonly status?: number | undefined;
  /** The wait requested by the server, from Retry-After or similar headers. */
  readonly retryAfterMs?: number | undefined;
  /**
   * The usage of the attempt, if known; zero for a request that was refused or never sent. If absent, it is estimated.
   */
  readonly usage?: Usage | undefined;
  /** Dollars, where the provider itself says what the attempt cost. */
  readonly usd?: number | undefined;
  readonly cause?: unknown;
}

/** A failed model call. `classify-error.ts` classifies it once. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly kind: WorkerErrorKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly usd: number | undefined;

  constructor({ kind, message, status, retryAfterMs, usage, usd, cause }: WorkerErrorData) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.usage = usage;
    this.usd = usd;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.kind);
  }

  toFailure(): Failure {
    const { kind, message, retryable, retryAfterMs } = this;
    return { kind, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
}

/** A budget has too little left for the next call. Nothing was sent. */
export class BudgetSpentError extends Error {
  override readonly name = 'BudgetSpentError';
  readonly scope: string;

  constructor(scope: string, message: string) {
    super(message);
    this.scope = scope;
  }
}
