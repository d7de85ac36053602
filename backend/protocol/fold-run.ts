import {
  discardPlan, endPlanAttempt, failAttempt, forgetStops, forgetUnfinished, forgiveRejections, handOn, inStep, observedIn, paused, pendingSteps, spend, startAttempt, withOutput, withoutFailure, withoutRunningTrial,
} from './fold-round.ts';
import type { RunEventOf, RunText, StoredEvent } from './run-events.ts';
import { NOTHING_SPENT, type AttemptView, type RoundView, type RunSnapshot, type TurnView } from './run-snapshot.ts';

/*
 * The state of a run, folded from its events. The panel, the command line, resuming and the history all use it.
 */

const PLAN_WAITS = 'The plan waits for somebody to look at it, before its workers are paid.';
const VERDICT_WAITS = 'The answer fails only for tests that failed before: somebody has to say whether they must pass.';

/** The snapshot of a run from all its events, oldest first. */
export function snapshotOf(events: readonly StoredEvent[]): RunSnapshot {
  const [first, ...rest] = events;
  if (first?.event.type !== 'run.accepted') throw new Error('A run begins with the event run.accepted.');
  return rest.reduce(applyEvent, begin(first, first.event));
}

function begin({ runId, seq, at }: StoredEvent, event: RunEventOf<'run.accepted'>): RunSnapshot {
  const { kind, parentId, retried, taskId, seed, countsAs, request, earlier, conversation, asks, pool, policy, budget, records, recordsOff, leftOut } = event;
  return {
    runId, seq, kind, request, pool, policy, budget,
    ...(parentId !== undefined && { parentId }),
    ...(retried && { retried }),
    ...(earlier && { earlier }),
    ...(conversation && { conversation }),
    ...(asks && { asks }),
    ...(records && { records }),
    ...(recordsOff && { recordsOff }),
    ...(leftOut && { leftOut }),
    ...(taskId !== undefined && { taskId }),
    ...(seed !== undefined && { seed }),
    ...(countsAs && { countsAs }),
    state: 'running',
    acceptedAt: at,
    updatedAt: at,
    contexts: [],
    rounds: [],
    spent: NOTHING_SPENT,
  };
}

/** The snapshot after one more event. An event that is already folded in changes nothing, so replays are harmless. */
export function applyEvent(run: RunSnapshot, stored: StoredEvent): RunSnapshot {
  if (stored.seq <= run.seq) return run;
  const { event, at } = stored;
  const { message: _message, failure: _failure, stoppedBy: _limit, needed: _needed, ...kept } = run;
  const next: RunSnapshot = { ...kept, seq: stored.seq, updatedAt: at, state: 'running' };
  switch (event.type) {
    case 'run.accepted':
      return { ...next, state: run.state };
    case 'run.resumed': {
      const { outcome: _outcome, answerRound: _answerRound, warnings, ...again } = next;
      const pause = at - run.updatedAt;
      const rounds = next.rounds.map(forgetUnfinished).map((round, index) => (index === next.rounds.length - 1 ? paused(round, pause) : round));
      const resumed = withoutRunningBase(paused({ ...again, budget: event.budget ?? next.budget }, pause));
      // The user saw the cost before resuming, and may have raised the limits or mended a worker.
      if (event.reason === 'user') {
        const { failedWorkers: _failed, ...forgiven } = resumed;
        return { ...forgiven, rounds: rounds.map(forgiveRejections).map(forgetStops).map(withoutFailure) };
      }
      return { ...resumed, rounds, ...(warnings && { warnings }) };
    }
    case 'run.waiting':
      return { ...next, state: 'waiting', message: event.message };
    case 'context.gathered': {
      const { pieces, leftOut, tokens, text, round = 0, knowsBase = false, failing = '', project } = event;
      const context = { pieces, leftOut, tokens, text, round, knowsBase, failing };
      return { ...next, context: next.context ?? context, contexts: [...next.contexts, context], ...(project && { project }) };
    }
    // The tests run beside everything else, so their events do not end a wait for a person.
    case 'base.started':
      return { ...goingOn(run, stored), base: { command: event.command, runner: event.runner, startedAt: at } };
    case 'base.completed': {
      const { type: _type, ...result } = event;
      return { ...goingOn(run, stored), ...(run.base && { base: { ...run.base, result } }) };
    }
    case 'attempt.started':
      return inRound(next, event.round, (round) => startAttempt(round, event, at));
    case 'attempt.failed':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) => failAttempt(round, event, at));
    case 'try.begun':
      return inRound(next, event.round, (round) => ({ ...round, localTry: { record: event.record } }));
    case 'try.omitted':
      return { ...next, noTry: event.because };
    case 'plan.proposed':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) => ({
        ...endPlanAttempt(round, event),
        planText: event.text,
        plan: event.plan,
        ...(event.mended && { planMended: event.mended }),
        planDurationMs: event.durationMs,
        ...(event.keptFrom !== undefined && { planKeptFrom: event.keptFrom }),
        ...(event.sampled && { sampled: event.sampled }),
        ...(event.tokens && { hasTokens: true }),
        steps: pendingSteps(event),
      }));
    case 'plan.held':
      return { ...inRound(next, event.round, (round) => ({ ...round, review: { state: 'waiting', estimate: event.estimate } })), state: 'waiting', message: PLAN_WAITS };
    case 'plan.edited':
      return inRound(next, event.round, (round) => ({
        ...round, plan: event.plan, steps: pendingSteps(event),
        planEdited: { planned: round.planEdited?.planned ?? round.plan ?? event.plan, forTraining: event.forTraining },
      }));
    case 'plan.approved':
      return inRound(next, event.round, (round) => (round.review ? { ...round, review: { ...round.review, state: 'approved' } } : round));
    case 'plan.discarded':
      return inRound(next, event.round, (round) => discardPlan(round, event));
    case 'plan.rejected':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) => ({
        ...endPlanAttempt(round, event),
        rejections: [...round.rejections, { reason: event.reason, message: event.message, text: event.text }],
      }));
    case 'plan.kept':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) => ({
        ...endPlanAttempt(round, event),
        planText: event.text,
        planDurationMs: event.durationMs,
        ...(event.keptFrom !== undefined && { planKeptFrom: event.keptFrom }),
        ...(event.sampled && { sampled: event.sampled }),
        kept: true,
      }));
    case 'step.completed':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) =>
        inStep(round, event.step, (step) => ({
          ...step,
          state: 'completed',
          output: event.output,
          ...(event.changes && { changes: event.changes }),
          ...(step.returned && { returned: { ...step.returned, isAnswered: true } }),
          finishReason: event.finishReason,
          // That of a step that was stopped is the time of all of it.
          durationMs: event.finishReason === 'stopped' ? Math.max(event.durationMs, step.durationMs ?? 0) : (step.durationMs ?? 0) + event.durationMs,
          ...(event.keptFrom !== undefined && { keptFrom: event.keptFrom }),
          spent: spend(step.spent, event),
          ...(step.attempt && { attempt: { ...step.attempt, ended: true, text: '' } }),
        })));
    case 'step.begun':
      return inRound(next, event.round, (round) =>
        inStep(round, event.step, (step) => ({ ...step, begun: { text: event.text, changes: event.changes } })));
    case 'step.turned':
      return inRound({ ...next, spent: spend(next.spent, event) }, event.round, (round) =>
        inStep(round, event.step, (step) => ({
          ...step,
          turns: [...(step.turns ?? []), { reply: event.text, ...(event.calls && { calls: event.calls }), ...(event.verbatim && { verbatim: event.verbatim }) }],
          spent: spend(step.spent, event),
          durationMs: (step.durationMs ?? 0) + event.durationMs,
          turnedAt: at,
          ...(step.attempt && { attempt: { ...step.attempt, ended: true, text: '' } }),
        })));
    case 'step.observed':
      return inRound(next, event.round, (round) =>
        inStep(round, event.step, ({ turns = [], told, turnedAt = at, ...step }) => ({
          ...step, durationMs: (step.durationMs ?? 0) + Math.max(0, at - turnedAt),
          turns: turns.map((turn, index) => (index === turns.length - 1 ? { ...turn, ...observedIn(event), ...(told && { told }) } : turn)),
        })));
    // Others may wait for a person meanwhile.
    case 'step.told':
      return inRound(goingOn(run, stored), event.round, (round) => inStep(round, event.step, (step) => ({ ...step, told: [...(step.told ?? []), event.text] })));
    case 'step.stopped':
      return inRound(goingOn(run, stored), event.round, (round) => inStep(round, event.step, (step) => ({ ...step, stopped: true })));
    case 'step.acted': {
      const { during, text, call, result } = event;
      // Results of commands begin so, too; views take their titles from there.
      const observation = `Result of ${`${call.name} ${call.arguments}`.trim().split('\n', 1)[0] ?? ''}:\n${result}`;
      const turn: TurnView = { reply: text, during, calls: [call], results: [{ callId: call.id, text: observation }], observation };
      return inRound(goingOn(run, stored), event.round, (round) => inStep(round, event.step, (step) => ({ ...step, turns: [...(step.turns ?? []), turn] })));
    }
    case 'step.failed':
      return inRound(next, event.round, (round) =>
        inStep(round, event.step, (step) => ({ ...step, state: 'failed', failure: event.failure })));
    case 'round.failed':
      // One that another attempt ended may have been in the middle of anything.
      return inRound(next, event.round, (round) => ({
        ...(event.failure.kind === 'cancelled' ? forgetUnfinished(round) : { ...round, steps: round.steps.map(withoutRunningTrial) }), failure: event.failure,
      }));
    case 'step.trying':
      return inRound(next, event.round, (round) => inStep(round, event.step, (step) => ({ ...step, trial: { startedAt: at } })));
    case 'step.tried': {
      const { type: _type, round, step: of, ...result } = event;
      return inRound(next, round, (view) => inStep(view, of, (step) => ({ ...step, trial: { startedAt: step.trial?.startedAt ?? at, result } })));
    }
    case 'step.reassigned': {
      const { round, step, from, failure, keptFrom } = event;
      // What failed in another run says nothing of now.
      const failedWorkers = [...(next.failedWorkers ?? []), ...(keptFrom === undefined ? [{ worker: from, failure, round, step }] : [])];
      return inRound({ ...next, ...(failedWorkers.length > 0 && { failedWorkers }) }, round, (view) => inStep(view, step, (one) => handOn(one, event)));
    }
    case 'step.skipped':
      return inRound(next, event.round, (round) =>
        inStep(round, event.step, (step) => ({ ...step, state: 'skipped', skippedBecause: event.reason })));
    case 'answer.returned':
      return inRound(next, event.round, (round) =>
        inStep(round, event.step, (step) => ({
          ...step,
          turns: [...(step.turns ?? []), { reply: step.output ?? '', observation: event.text }],
          returned: { text: event.text, isAnswered: false },
        })));
    case 'answer.ready': {
      const { step, edits, refused, leftOut } = event;
      const answer = { step, edits, refused, ...(leftOut && { leftOut }) };
      const answered = inRound(next, event.round, (round) => ({ ...round, steps: round.steps.map(withoutRunningTrial), answer }));
      // A second call that failed leaves the first output.
      return inRound(answered, event.round, (round) => inStep(round, step, (one) => (one.returned && one.output !== undefined ? withOutput(one) : one)));
    }
    case 'verify.started': {
      const { command, runner, sandboxed } = event;
      return inRound(next, event.round, (round) => ({ ...round, verifying: { command, runner, sandboxed, startedAt: at } }));
    }
    case 'verify.completed':
      return inRound(next, event.round, ({ verifying: _verifying, ...round }) => ({ ...round, verdict: event.verdict }));
    case 'verdict.held':
      return {
        ...inRound(next, event.round, (round) => ({ ...round, failedBefore: { tests: event.tests, state: 'waiting' } })), state: 'waiting', message: VERDICT_WAITS,
      };
    case 'verdict.decided':
      // Without a verdict, the answer is judged again.
      return inRound(next, event.round, ({ verdict, ...round }) => ({
        ...round, failedBefore: { tests: event.tests, state: event.failedBefore }, ...(verdict && event.failedBefore === 'must-pass' && { verdict }),
      }));
    case 'run.stopped':
      return { ...withoutRunningBase(next), state: 'stopped', message: event.message, ...(event.limit && { stoppedBy: event.limit }), ...(event.needed !== undefined && { needed: event.needed }) };
    case 'budget.warned': {
      const { limit, spent, of } = event;
      return { ...next, warnings: [...(next.warnings ?? []), { limit, spent, of }] };
    }
    case 'run.completed':
      return {
        ...withoutRunningBase(next), state: 'completed', outcome: event.outcome, answerRound: event.round, message: event.message,
        ...(event.verifiedCost && { verifiedCost: event.verifiedCost }),
      };
    case 'run.failed':
      return { ...withoutRunningBase(next), state: 'failed', failure: event.failure, message: event.failure.message };
    case 'run.cancelled':
      return { ...withoutRunningBase(next), state: 'cancelled', rounds: next.rounds.map(forgetUnfinished), message: 'Cancelled.' };
  }
}

/** The run in its state and with its message after an event that concerns neither. */
function goingOn(run: RunSnapshot, { seq, at }: StoredEvent): RunSnapshot {
  return { ...run, seq, updatedAt: at };
}

/** Tests on the code as it is end with their run; nothing is known then. */
function withoutRunningBase({ base, ...run }: RunSnapshot): RunSnapshot {
  return base?.result ? { ...run, base } : run;
}

/** Adds streamed text. Text of an inactive attempt, or after a gap, is dropped. */
export function applyText(run: RunSnapshot, { round: index, purpose, attemptId, offset, text }: RunText): RunSnapshot {
  const grow = (attempt: AttemptView | undefined): AttemptView | undefined =>
    attempt?.attemptId === attemptId && !attempt.ended && attempt.text.length >= offset
      ? { ...attempt, text: attempt.text.slice(0, offset) + text }
      : attempt;
  return inRound(run, index, (round) => {
    if (purpose.kind === 'plan') {
      const planAttempt = grow(round.planAttempt);
      return planAttempt ? { ...round, planAttempt } : round;
    }
    return inStep(round, purpose.step, (step) => {
      const attempt = grow(step.attempt);
      return attempt ? { ...step, attempt } : step;
    });
  });
}

function inRound(run: RunSnapshot, index: number, change: (round: RoundView) => RoundView): RunSnapshot {
  const rounds = [...run.rounds];
  while (rounds.length <= index) rounds.push({ index: rounds.length, rejections: [], kept: false, steps: [] });
  rounds[index] = change(rounds[index] as RoundView);
  return { ...run, rounds };
}
