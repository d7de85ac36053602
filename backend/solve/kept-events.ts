import type { RunEvent, RunEventOf, StoredEvent } from '../protocol/run-events.ts';
import { hasAttempts } from '../protocol/run-facts.ts';
import { snapshotOf } from '../protocol/fold-run.ts';
import type { StepView } from '../protocol/run-snapshot.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';

/*
 * The events that a new run copies from an earlier one. Each names its origin and costs nothing. The new run's journal is complete by
 * itself, so the run is driven, resumed and shown like any other. The journal stores long texts once, so copies take little space.
 */

/** A step of a round; both count from 0. */
export interface StepPlace {
  readonly round: number;
  readonly step: number;
}

/**
 * The events to keep when one step is asked again: the context, earlier rounds, the round's plan, and its steps that do not depend on
 * the step's output. Attempts do not revise each other, so the later ones are kept, too.
 * @param events the earlier run's, oldest first
 */
export function keptOnRetry(events: readonly StoredEvent[], { round, step }: StepPlace): RunEvent[] {
  const run = snapshotOf(events);
  const { rounds } = run;
  /** Nothing of these rounds follows from the step. */
  const isAnother = (of: number): boolean => (hasAttempts(run) && !rounds[round]?.localTry ? of !== round : of < round);
  const isPlanKept = (of: number): boolean => of === round || isAnother(of);
  const redone = dependents(rounds[round]?.steps ?? [], step);
  const discardedAt = (of: number): number => events.findLast(({ event }) => event.type === 'plan.discarded' && event.round === of)?.seq ?? 0;
  const isKept = (of: StepPlace): boolean => isAnother(of.round) || (of.round === round && !redone.has(of.step));
  return events.flatMap(({ runId, seq, event }): RunEvent[] => {
    switch (event.type) {
      case 'context.gathered':
        return isPlanKept(event.round ?? 0) ? [event] : [];
      case 'try.begun':
        // One that is made again counts as another one.
        return [round === event.round ? event : { ...event, keptFrom: event.keptFrom ?? runId }];
      case 'try.omitted':
        return [event];
      case 'plan.proposed':
      case 'plan.kept':
        return isPlanKept(event.round) && seq > discardedAt(event.round) ? [keptFrom(runId, event)] : [];
      case 'plan.edited':
        return isPlanKept(event.round) && seq > discardedAt(event.round) ? [event] : [];
      case 'step.completed':
        return isKept(event) ? [keptFrom(runId, event)] : [];
      case 'step.tried':
        return isKept(event) ? [event] : [];
      case 'step.reassigned':
        return isKept(event) && rounds[event.round]?.steps[event.step]?.output !== undefined ? [{ ...event, keptFrom: event.keptFrom ?? runId }] : [];
      case 'answer.ready':
      case 'verify.completed':
      case 'round.failed':
        return isAnother(event.round) ? [event] : [];
      // What a person said of tests holds for any answer.
      case 'verdict.decided':
        return isPlanKept(event.round) ? [{ ...event, keptFrom: event.keptFrom ?? runId }] : [];
      default:
        return [];
    }
  });
}

/** The events to keep when the same question is asked of other workers. */
export function keptContext(events: readonly StoredEvent[]): RunEvent[] {
  return events.map(({ event }) => event).filter((event) => event.type === 'context.gathered' && (event.round ?? 0) === 0);
}

/** The step and all steps that depend on its output. A step reads earlier steps only. */
function dependents(steps: readonly StepView[], first: number): ReadonlySet<number> {
  const found = new Set([first]);
  for (const { index, reads } of steps) if (reads.some((read) => found.has(read))) found.add(index);
  return found;
}

type Paid = RunEventOf<'plan.proposed' | 'plan.kept' | 'step.completed'>;

function keptFrom(runId: string, event: Paid): Paid {
  return { ...event, keptFrom: event.keptFrom ?? runId, usage: NO_USAGE, cost: { usd: 0, estimated: false } };
}
