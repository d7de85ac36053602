import type { Outcome } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';

/*
 * Exit codes for scripts. An answer that needs no test, that no test could check, or whose tests pass without being shown to notice a wrong
 * answer, counts as success (0), unless `--require-verified` is given.
 */
export const EXIT = {
  ok: 0,
  /** The run ended without an answer, or the tests did not accept its answer. */
  failed: 1,
  usage: 2,
  /** The run stopped at its budget or its plan waits for a person, or the training is paused; all can be resumed. */
  stopped: 3,
  /** The change could not be verified: no sandbox, no report, or the tests of HEAD cannot run. */
  infrastructure: 4,
  /** The code that shells report for a program ended by Ctrl+C. */
  cancelled: 130,
} as const;

/** The outcomes that are enough unless an answer has to be verified. */
const ENOUGH: ReadonlySet<string | undefined> = new Set(['verified', 'passes', 'answered', 'unchecked'] satisfies Outcome[]);

export function exitCodeOf({ state, outcome }: RunSnapshot, { requireVerified = false } = {}): number {
  switch (state) {
    case 'completed':
      return (requireVerified ? outcome === 'verified' : ENOUGH.has(outcome)) ? EXIT.ok : EXIT.failed;
    case 'stopped':
    case 'waiting':
      return EXIT.stopped;
    case 'cancelled':
      return EXIT.cancelled;
    default:
      return EXIT.failed;
  }
}
