import type { JudgedStep } from '../protocol/judged-step.ts';
import type { RunEvent, StoredEvent } from '../protocol/run-events.ts';
import { hasAttempts } from '../protocol/run-facts.ts';
import { snapshotOf } from '../protocol/fold-run.ts';
import type { RoundView, RunSnapshot, StepView } from '../protocol/run-snapshot.ts';
import { roleOfStep } from '../protocol/step-role.ts';
import { counts, isRed } from '../protocol/test-changes.ts';
import { totalTokens } from '../protocol/token-counts.ts';
import { isVerified, passesOnly } from '../protocol/verdict-facts.ts';
import { decodeShort } from './event-codec.ts';

/** An event of a run, as it is stored. */
export interface StoredRow {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
}

/**
 * What the tests said of the steps of a run that is over, and who did them. None for a run with simulated workers, and for one that cannot be
 * read: that is told when it is opened.
 * @param rows its events in order, without gaps; their long texts are not needed
 */
export function judgedStepsIn(runId: string, rows: readonly StoredRow[]): JudgedStep[] {
  const events = rows.flatMap(({ seq, at, body }): StoredEvent[] => {
    const event: RunEvent | undefined = decodeShort(body);
    return event ? [{ runId, seq, at, event }] : [];
  });
  if (events.length < rows.length || events[0]?.event.type !== 'run.accepted') return [];
  const run = snapshotOf(events);
  if ([...run.pool, run.policy.worker].some((worker) => worker?.simulated)) return [];
  return run.rounds.flatMap((round) => stepsIn(run, round));
}

function stepsIn(run: RunSnapshot, round: RoundView): JudgedStep[] {
  const judgement = judgementOf(round);
  // Of a plan that a person wrote and that Conductor may not learn from, nothing is counted.
  if (!judgement || round.planEdited?.forTraining === false) return [];
  const { project, kind } = { project: run.request.workspace, kind: run.asks?.kind ?? 'unclear', ...run.countsAs };
  return round.steps.flatMap((step) => {
    const worker = run.pool[step.worker];
    // A step that was kept from another run is counted there, and one that a person stopped says little of its worker.
    if (!worker || step.state !== 'completed' || step.keptFrom !== undefined || step.finishReason === 'stopped') return [];
    const { usd, usage, unpricedTokens } = step.spent;
    return [{
      runId: run.runId, round: round.index, step: step.index, steps: round.steps.length, judgement,
      source: sourceOf(run, round), ...(project !== undefined && { project }), kind, at: run.updatedAt,
      worker: worker.id, model: worker.model, role: roleOfStep(step.subtask),
      tokens: totalTokens(usage), ...(unpricedTokens === 0 && { usd }), ...(step.durationMs && { durationMs: step.durationMs }),
      ...(isRefuted(step, round) && { isRefuted: true }),
    }];
  });
}

/** Undefined where the tests gave no result, or the answer gave them nothing to judge. */
export function judgementOf({ verdict, answer }: RoundView): JudgedStep['judgement'] | undefined {
  if (!verdict || verdict.outcome === 'infrastructure') return undefined;
  if (isVerified(verdict)) return 'verified';
  if (passesOnly(verdict)) return 'passes';
  const isRejected = verdict.outcome === 'failed' || (answer?.refused.length ?? 0) > 0 || verdict.tests.some(isRed);
  return isRejected ? 'failed' : undefined;
}

/**
 * Whether tests rejected a change that was tried before another step read it: some failed with it, while all that count pass with the answer. Where
 * tests were left out or are flaky, the trial may have failed for those alone. That all pass proves nothing, since a trial has no negative control.
 */
function isRefuted({ trial }: StepView, { verdict }: RoundView): boolean {
  const result = trial?.result;
  if (!result || result.problem !== undefined || result.failed === 0 || !verdict) return false;
  return (isVerified(verdict) || passesOnly(verdict)) && verdict.tests.length > 0 && verdict.tests.every((test) => counts(test) && !isRed(test));
}

function sourceOf(run: RunSnapshot, round: RoundView): JudgedStep['source'] {
  if (run.kind !== 'solve') return run.kind;
  if (round.localTry) return 'try';
  return hasAttempts(run) ? 'attempt' : 'question';
}
