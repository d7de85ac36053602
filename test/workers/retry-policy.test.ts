import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkerError, type WorkerErrorKind } from '../../backend/workers/errors.ts';
import { parseRetryAfter } from '../../backend/workers/limits/retry-after.ts';
import { decideRetry, MAX_ATTEMPTS, MAX_RETRY_AFTER_MS } from '../../backend/workers/limits/retry-policy.ts';

const RETRYABLE: WorkerErrorKind[] = [
  'rate-limit', 'overloaded', 'server', 'network', 'first-token-timeout', 'idle-timeout', 'incomplete', 'invalid-response',
];
const FINAL: WorkerErrorKind[] = [
  'authentication', 'missing-key', 'payment', 'permission', 'not-found', 'invalid-request', 'context-overflow', 'too-large',
  'cancelled',
];
const errorOf = (kind: WorkerErrorKind, retryAfterMs?: number) => new WorkerError({ kind, message: 'x', retryAfterMs });

test.each(FINAL)('%s is never tried again, whatever the server asks', (kind) => {
  expect(decideRetry({ attempt: 1, error: errorOf(kind, 1_000), random: 0 })).toEqual({ retry: false, waitTooLong: false });
});

test('there are at most four attempts, two where a failure is slow or unlikely to pass', () => {
  const attempts = (kind: WorkerErrorKind) => {
    let attempt = 1;
    while (decideRetry({ attempt, error: errorOf(kind), random: 0 }).retry) attempt += 1;
    return attempt;
  };
  expect(Object.fromEntries(RETRYABLE.map((kind) => [kind, attempts(kind)]))).toEqual({
    'rate-limit': 4, overloaded: 4, server: 4, network: 4, incomplete: 4,
    'first-token-timeout': 2, 'idle-timeout': 2, 'invalid-response': 2,
  });
});

test('delays lie between nothing and a ceiling that doubles up to half a minute', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RETRYABLE),
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (kind, attempt, random) => {
        const decision = decideRetry({ attempt, error: errorOf(kind), random });
        if (attempt >= MAX_ATTEMPTS) expect(decision.retry).toBe(false);
        if (!decision.retry) return;
        const first = kind === 'rate-limit' || kind === 'overloaded' ? 5_000 : 500;
        expect(decision.delayMs).toBeGreaterThanOrEqual(0);
        expect(decision.delayMs).toBeLessThanOrEqual(Math.min(30_000, first * 2 ** (attempt - 1)));
      },
    ),
  );
});

test('Retry-After is obeyed to the millisecond up to the cap and ends the call beyond it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.double({ min: 0, max: 0.99, noNaN: true }), (retryAfterMs, random) => {
      expect(decideRetry({ attempt: 1, error: errorOf('rate-limit', retryAfterMs), random })).toEqual(
        retryAfterMs <= MAX_RETRY_AFTER_MS ? { retry: true, delayMs: retryAfterMs } : { retry: false, waitTooLong: true },
      );
    }),
  );
});

test('a caller may ask for fewer attempts, not for more', () => {
  const error = errorOf('server');
  expect(decideRetry({ attempt: 1, error, random: 0, maxAttempts: 1 }).retry).toBe(false);
  expect(decideRetry({ attempt: 4, error, random: 0, maxAttempts: 9 }).retry).toBe(false);
});

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:40 GMT' }, 40_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{}, undefined],
])('%j asks for %s ms', (headers, expected) => {
  expect(parseRetryAfter(new Headers(headers as Record<string, string>), 60_000)).toBe(expected);
});
