import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';

/** How a run ended, without times, ids and what attempts cost. */
export function outcomeOf(events: readonly StoredEvent[]) {
  const run = snapshotOf(events);
  return {
    state: run.state,
    outcome: run.outcome,
    // A lost attempt counts as spent, which a sentence about the budget says; a scripted model's name holds its home folder's.
    message: run.message?.replace(/[\d.]+k? tokens are spent/, 'some tokens are spent').replace(run.policy.model, 'planner'),
    answer: answerOf(run)?.text,
    rounds: run.rounds.map(({ plan, rejections, steps, verdict }) => ({
      plan, rejections: rejections.map(({ reason }) => reason), outputs: steps.map(({ output }) => output), workers: steps.map(({ worker }) => worker), verdict: verdict?.outcome,
    })),
  };
}

/** Attempts at a call whose result was already in the journal: money thrown away. */
export function repaid(events: readonly StoredEvent[]): string[] {
  const have = new Set<string>();
  const again: string[] = [];
  for (const { event } of events) {
    if (event.type === 'step.completed') have.add(`step ${event.round}.${event.step}`);
    if (event.type === 'plan.proposed' || event.type === 'plan.kept') have.add(`plan ${event.round}`);
    if (event.type === 'plan.discarded') have.delete(`plan ${event.round}`);
    if (event.type !== 'attempt.started') continue;
    const key = event.purpose.kind === 'plan' ? `plan ${event.round}` : `step ${event.round}.${event.purpose.step}`;
    if (have.has(key)) again.push(key);
  }
  return again;
}
