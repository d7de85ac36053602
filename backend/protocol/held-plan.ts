import { heldRound } from './run-facts.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/** A plan that waits for a person, by the attempt that wrote it. */
export interface HeldPlan {
  readonly round: number;
  readonly attemptId: string;
}

/** The plan of the run that waits for a person; undefined if none does. */
export function heldPlan(run: Pick<RunSnapshot, 'state' | 'rounds'>): HeldPlan | undefined {
  const round = heldRound(run);
  return round?.planAttempt && { round: round.index, attemptId: round.planAttempt.attemptId };
}
