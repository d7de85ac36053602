import type { Journal } from '../../backend/journal/journal.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { accepted, usage } from './sample-events.ts';

/* Events of runs whose answers tests judged. */

/** A plan whose steps are done by these workers, by their ordinals. */
export const planned = (workers: readonly number[], { round = 0, subtasks = workers.map(() => 'Write it.') }: { readonly round?: number; readonly subtasks?: readonly string[] } = {}): RunEvent => ({
  type: 'plan.proposed', round, attemptId: 'p', text: 't', usage, cost: { usd: 5, estimated: false }, durationMs: 9_000,
  plan: { modelIds: [...workers], subtasks: [...subtasks], accessList: workers.map(() => []) },
  steps: workers.map((worker, index) => ({ worker, subtask: subtasks[index] ?? '', reads: [], readsPreviousRound: false })),
});

export const done = (step: number, usd: number | undefined, durationMs = 1_000, more: Partial<Extract<RunEvent, { type: 'step.completed' }>> = {}): RunEvent => ({
  type: 'step.completed', round: 0, step, attemptId: 'a', output: 'o', finishReason: 'stop', usage, cost: { usd, estimated: false }, durationMs, ...more,
});

export const turned = (step: number, usd: number, durationMs: number): RunEvent => ({
  type: 'step.turned', round: 0, step, attemptId: 'a', text: 't', usage, cost: { usd, estimated: false }, durationMs,
});

export const judged = (outcome: Verdict['outcome'], { round = 0, ...more }: { readonly round?: number } & Partial<Verdict> = {}): RunEvent => ({
  type: 'verify.completed', round,
  verdict: {
    verified: outcome === 'verified', score: 1, outcome, reason: 'r', tests: [], notes: [], command: 'npm test', sandboxed: true, durationMs: 1, ...more,
  },
});

/** The end of a run with a verdict of its first round. */
export const endedBy = (outcome: Verdict['outcome']): RunEvent[] =>
  [judged(outcome), { type: 'run.completed', outcome: outcome === 'verified' ? 'verified' : 'not-verified', round: 0, message: 'm' }];

export function ran(journal: Journal, runId: string, events: readonly RunEvent[], overrides: Record<string, unknown> = {}, request: Record<string, unknown> = {}): void {
  journal.accept(runId, accepted(overrides, request));
  journal.append(runId, events);
}
