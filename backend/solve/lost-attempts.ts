import type { RunEvent, RunEventOf, StoredEvent } from '../protocol/run-events.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';

/**
 * Events that end the attempts which a killed process left open. The provider may have billed them, so their reservation counts as spent
 * and as an estimate. The journal's budget does the same.
 */
export function lostAttempts(events: readonly StoredEvent[]): RunEvent[] {
  const open = new Map<string, { event: RunEventOf<'attempt.started'>; at: number }>();
  for (const { event, at } of events) {
    if (event.type === 'attempt.started') open.set(event.attemptId, { event, at });
    else if ('attemptId' in event) open.delete(event.attemptId);
  }
  const endedAt = events.at(-1)?.at ?? 0;
  return [...open.values()].map(({ event: { round, purpose, attemptId, reserved }, at }) => ({
    type: 'attempt.failed',
    round,
    purpose,
    attemptId,
    failure: { kind: 'lost', message: 'The backend ended during this attempt, which may have been billed.', retryable: true },
    usage: { ...NO_USAGE, uncachedInput: reserved.tokens, estimated: true },
    cost: { usd: reserved.usd, estimated: true },
    durationMs: Math.max(0, endedAt - at),
  }));
}
