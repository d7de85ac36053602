import { setTimeout as sleep } from 'node:timers/promises';
import { DownloadError } from './download-error.ts';

export interface RetryPolicy {
  /** After this many consecutive failures without progress, the last error is thrown. */
  readonly failures: number;
  readonly firstDelayMs: number;
  /** Also the longest wait that a server may request. If it requests more, the error is thrown. */
  readonly longestDelayMs: number;
}

/** About a minute for a server that does not answer. */
export const RETRY_POLICY: RetryPolicy = { failures: 7, firstDelayMs: 500, longestDelayMs: 30_000 };

/**
 * Runs `attempt` until it succeeds, fails with an error that is not retryable, or fails too often. `attempt` calls `progressed` when it
 * gets further than all attempts before it. This resets the count, because a long download over a bad connection fails more often.
 * @throws the error of the last attempt; the signal's reason after it aborted
 */
export async function retrying<T>(
  attempt: (progressed: () => void) => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await attempt(() => { failures = 0; });
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (!(error instanceof DownloadError) || !error.retryable || failures >= policy.failures) throw error;
      const waitMs = error.retryAfterMs ?? backoffMs(failures, policy);
      if (waitMs > policy.longestDelayMs) throw error;
      await wait(waitMs, signal);
    }
  }
}

/** Doubles with each failure. Half of the delay is random, so that clients that failed together do not retry together. */
function backoffMs(failures: number, { firstDelayMs, longestDelayMs }: RetryPolicy): number {
  const full = Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1));
  return full / 2 + (Math.random() * full) / 2;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    // Node wraps the reason in another error.
    signal.throwIfAborted();
    throw error;
  }
}
