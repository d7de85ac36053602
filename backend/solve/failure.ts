import type { Failure } from '../protocol/run-events.ts';
import { WorkerError } from '../workers/errors.ts';

/** Reasons for a run to fail that are its own, and not a worker's. */
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
  | 'no-suggestion';

/** The run cannot go on as it is. The message is one sentence for people: what happened and what to do. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly kind: RunFailureKind;

  constructor(kind: RunFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Any error as the journal and people get it. An error nobody foresaw is named as such: it is ours to mend. */
export function failureOf(error: unknown): Failure {
  if (error instanceof WorkerError) return error.toFailure();
  if (error instanceof RunError) return { kind: error.kind, message: error.message, retryable: false };
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: 'internal', message: `Conductor itself failed (${detail}); the log has more, please report it.`, retryable: false };
}
