import type { RunSnapshot } from '../protocol/run-snapshot.ts';

/*
 * What scripts decide by. An answer that no test could judge is an answer, and its exit code is 0; `--require-verified` makes
 * everything but a green run a failure.
 */
export const EXIT = {
  ok: 0,
  /** The run ended without an answer, or the tests did not accept its answer. */
  failed: 1,
  usage: 2,
  /** The run stopped at its budget, or the training is paused; both can be resumed. */
  stopped: 3,
  /** Nothing was learned of the change to verify: no sandbox, no report, or the tests of HEAD cannot be run. */
  infrastructure: 4,
  /** As a shell reports a program that Ctrl+C ended. */
  cancelled: 130,
} as const;

export function exitCodeOf({ state, outcome }: RunSnapshot, { requireVerified = false } = {}): number {
  switch (state) {
    case 'completed':
      return outcome === 'verified' || (outcome === 'unchecked' && !requireVerified) ? EXIT.ok : EXIT.failed;
    case 'stopped':
      return EXIT.stopped;
    case 'cancelled':
      return EXIT.cancelled;
    default:
      return EXIT.failed;
  }
}
