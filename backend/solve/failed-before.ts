import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { LeavingOut } from '../verify/judge/left-out.ts';

/* What a person says of tests that fail before any change: whether an answer has to mend them cannot be read from a question. */

/** Which tests judge the answers of a run, and which are left out. */
export function judgedBy({ request: { tests, failedBefore } }: Pick<RunSnapshot, 'request'>): LeavingOut {
  return { ...(tests && { targets: tests }), ...(failedBefore === 'leave-out' && { leaveOut: 'failed before' }) };
}
