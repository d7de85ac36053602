import type { WorkerError, WorkerErrorKind } from '../errors.ts';

export const MAX_ATTEMPTS = 4;
/** A timed-out call may have been billed and has already taken long. An unreadable answer rarely becomes readable. */
const MAX_ATTEMPTS_BY_KIND: Partial<Record<WorkerErrorKind, number>> = {
  'first-token-timeout': 2,
  'idle-timeout': 2,
  'invalid-response': 2,
  // The cause, such as too little memory, usually persists.
  'model-died': 2,
};

/** The longest accepted Retry-After. For a longer one, another worker or a later run is better. */
export const MAX_RETRY_AFTER_MS = 120_000;

const FIRST_DELAY_MS = 500;
/** After a refusal for load without a Retry-After: LiteLLM rests a deployment as long (https://docs.litellm.ai/docs/routing). */
const FIRST_DELAY_UNDER_LOAD_MS = 5_000;
const MAX_DELAY_MS = 30_000;

export interface FailedAttempt {
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly error: WorkerError;
  /** A number in [0, 1). */
  readonly random: number;
  readonly maxAttempts?: number | undefined;
}

export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  /** `waitTooLong`: only the server's Retry-After prevents another attempt. */
  | { readonly retry: false; readonly waitTooLong: boolean };

/**
 * Decides whether to retry a failed attempt, and after which delay. Uses the server's Retry-After if there is one; otherwise exponential
 * backoff with full jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function decideRetry({ attempt, error, random, maxAttempts = MAX_ATTEMPTS }: FailedAttempt): RetryDecision {
  const allowed = Math.min(maxAttempts, MAX_ATTEMPTS_BY_KIND[error.kind] ?? MAX_ATTEMPTS);
  if (!error.retryable || attempt >= allowed) return { retry: false, waitTooLong: false };
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= MAX_RETRY_AFTER_MS
      ? { retry: true, delayMs: error.retryAfterMs }
      : { retry: false, waitTooLong: true };
  }
  const first = isLoad(error) ? FIRST_DELAY_UNDER_LOAD_MS : FIRST_DELAY_MS;
  const ceiling = Math.min(MAX_DELAY_MS, first * 2 ** (attempt - 1));
  return { retry: true, delayMs: Math.round(random * ceiling) };
}

/** Whether the refusal applies to all calls to the server. */
export function isLoad({ kind }: WorkerError): boolean {
  return kind === 'rate-limit' || kind === 'overloaded';
}
