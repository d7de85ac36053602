import type { RunEvent, StoredEvent } from '../protocol/run-events.ts';
import { snapshotOf, type StepView } from '../protocol/run-snapshot.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';

/*
 * What a new run takes over from an earlier one. They are the earlier run's own events, marked with where they come from and paid for by
 * nobody: the new run's journal is whole by itself, and it is driven, resumed and shown like any other. Long texts are not doubled,
 * because the journal keeps each of them once.
 */

/** A step of a round; both count from 0. */
export interface StepPlace {
  readonly round: number;
  readonly step: number;
}

/**
 * All that stands when one step is asked again: the context, earlier rounds as they are, the round's plan, and those of its steps that do
 * not read the step's output, directly or by others.
 * @param events the earlier run's, oldest first
 */
export function keptOnRetry(events: readonly StoredEvent[], { round, step }: StepPlace): RunEvent[] {
  const redone = dependents(snapshotOf(events).rounds[round]?.steps ?? [], step);
  return events.flatMap(({ runId, event }): RunEvent[] => {
    switch (event.type) {
      case 'context.gathered':
        return [event];
      case 'plan.proposed':
      case 'plan.kept':
        return event.round <= round ? [keptFrom(runId, event)] : [];
      case 'step.completed':
        return event.round < round || (event.round === round && !redone.has(event.step)) ? [keptFrom(runId, event)] : [];
      case 'answer.ready':
      case 'verify.completed':
        return event.round < round ? [event] : [];
      default:
        return [];
    }
  });
}

/** What stands when the same is asked of others. */
export function keptContext(events: readonly StoredEvent[]): RunEvent[] {
  return events.map(({ event }) => event).filter(({ type }) => type === 'context.gathered');
}

/** The step and all that read its output, directly or by others. A step reads only earlier ones. */
function dependents(steps: readonly StepView[], first: number): ReadonlySet<number> {
  const found = new Set([first]);
  for (const { index, reads } of steps) if (reads.some((read) => found.has(read))) found.add(index);
  return found;
}

type Paid = Extract<RunEvent, { keptFrom?: string | undefined }>;

function keptFrom(runId: string, event: Paid): Paid {
  return { ...event, keptFrom: event.keptFrom ?? runId, usage: NO_USAGE, cost: { usd: 0, estimated: false } };
}
