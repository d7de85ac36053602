import type { Failure } from '../protocol/run-events.ts';
import { WorkerError } from '../workers/errors.ts';

/** Reasons why a run itself fails, as opposed to a worker. */
export type RunFailureKind =
  | 'empty-question'
  | 'untrusted-workspace'
  | 'no-worker'
  | 'unknown-worker'
  | 'no-conductor'
  | 'workers-file'
  | 'context'
  | 'test-command'
  | 'workspace'
  | 'plan-rejected'
  | 'step-stopped'
  | 'no-suggestion'
  /** Another program asked, and does not say what its tools returned. */
  | 'client-gone';

/** The run cannot continue. The message is one sentence that says what happened and what to do. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly kind: RunFailureKind;

  constructor(kind: RunFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The failure for an error, as journalled and shown. An unexpected error is reported as a bug of Conductor. */
export function failureOf(error: unknown): Failure {
  if (error instanceof WorkerError) return error.toFailure();
  if (error instanceof RunError) return { kind: error.kind, message: error.message, retryable: false };
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: 'internal', message: `Conductor itself failed (${detail}); the log has more, please report it.`, retryable: false };
}
