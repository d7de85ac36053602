import type { RunEventOf } from './run-events.ts';
import { NOTHING_SPENT, type AttemptView, type RoundView, type Spent, type StepView, type TurnView } from './run-snapshot.ts';
import { addUsage, totalTokens } from './token-counts.ts';
import type { Cost, Usage } from './usage.ts';

/*
 * What one event does to a round of a run and to its steps; fold-run.ts says which event does what.
 */

export function spend(spent: Spent, { usage, cost }: { usage: Usage; cost: Cost }): Spent {
  return {
    usd: spent.usd + (cost.usd ?? 0),
    usage: addUsage(spent.usage, usage),
    unpricedTokens: spent.unpricedTokens + (cost.usd === undefined ? totalTokens(usage) : 0),
    estimated: spent.estimated || cost.estimated || usage.estimated,
  };
}

export function pendingSteps({ steps }: Pick<RunEventOf<'plan.proposed'>, 'steps'>): StepView[] {
  return steps.map((step, index) => ({ index, ...step, state: 'pending', spent: NOTHING_SPENT }));
}

/** The round without its plan. What the plan cost stays. */
export function discardPlan(round: RoundView, { wish }: RunEventOf<'plan.discarded'>): RoundView {
  const { plan, planText = '', planMended: _mended, planDurationMs: _duration, sampled: _sampled, hasTokens: _hasTokens, review: _review, planEdited, discarded = [], ...rest } = round;
  if (!plan) return round;
  return {
    ...rest,
    steps: [],
    discarded: [...discarded, { text: planText, plan: planEdited?.planned ?? plan, ...(wish !== undefined && { wish }), rejections: round.rejections.length }],
    // A person asked for more tries.
    ...(round.rejections.length > 0 && { forgivenRejections: round.rejections.length }),
  };
}

export function withOutput({ failure: _failure, ...step }: StepView): StepView {
  return { ...step, state: 'completed' };
}

/** The next worker begins anew. What the one before it cost stays. */
export function handOn({ attempt: _attempt, turnedAt: _turnedAt, failure: _failure, turns = [], told: unread = [], begun: _begun, ...step }: StepView, { from, to, failure }: RunEventOf<'step.reassigned'>): StepView {
  // What a person said holds for whoever does the step.
  const told = [...turns.flatMap((turn) => turn.told ?? []), ...unread];
  return { ...step, worker: to, state: 'pending', ...(told.length > 0 && { told }), handedOn: [...(step.handedOn ?? []), { worker: from, failure }] };
}

export function observedIn({ text, results, pieces = [], changes = [], isLast }: RunEventOf<'step.observed'>): Omit<TurnView, 'reply'> {
  const observation = results ? results.map((result) => result.text).join('\n\n') : text;
  return { observation, ...(results && { results }), ...(pieces.length > 0 && { pieces }), ...(changes.length > 0 && { changes }), ...(isLast && { isLast }) };
}

export function inStep(round: RoundView, index: number, change: (step: StepView) => StepView): RoundView {
  return { ...round, steps: round.steps.map((step) => (step.index === index ? change(step) : step)) };
}

export function startAttempt(round: RoundView, event: RunEventOf<'attempt.started'>, at: number): RoundView {
  const { attemptId, number, worker, purpose, context = 0 } = event;
  const attempt: AttemptView = { attemptId, number, worker, startedAt: at, context, text: '', ended: false };
  if (purpose.kind === 'plan') return { ...round, planAttempt: attempt };
  return inStep(round, purpose.step, ({ failure: _failure, turns = [], ...step }) => {
    // An agent begins anew.
    const kept = turns.filter(({ during }) => during === undefined);
    return { ...step, ...(kept.length > 0 && { turns: kept }), state: 'running', attempt };
  });
}

export function failAttempt(round: RoundView, event: RunEventOf<'attempt.failed'>, at: number): RoundView {
  const fail = (attempt: AttemptView | undefined): AttemptView | undefined =>
    attempt?.attemptId === event.attemptId
      ? {
          ...attempt,
          ended: true,
          failure: event.failure,
          ...(event.retryInMs !== undefined && { retryInMs: event.retryInMs, retryAt: at + event.retryInMs }),
        }
      : attempt;
  const { purpose } = event;
  if (purpose.kind === 'plan') {
    const planAttempt = fail(round.planAttempt);
    return { ...round, planSpent: spend(round.planSpent ?? NOTHING_SPENT, event), ...(planAttempt && { planAttempt }) };
  }
  return inStep(round, purpose.step, (step) => {
    const attempt = fail(step.attempt);
    return { ...step, spent: spend(step.spent, event), ...(attempt && { attempt }) };
  });
}

export function endPlanAttempt({ planAttempt, ...round }: RoundView, bill: { usage: Usage; cost: Cost }): RoundView {
  const planSpent = spend(round.planSpent ?? NOTHING_SPENT, bill);
  return { ...round, planSpent, ...(planAttempt && { planAttempt: { ...planAttempt, ended: true, text: '' } }) };
}

/** Resets interrupted and failed steps to pending when a run resumes. */
export function forgetUnfinished(round: RoundView): RoundView {
  const { verifying: _verifying, ...rest } = round;
  return {
    ...rest,
    // Nothing tells when the tools ended whose results are not there.
    steps: round.steps.map(withoutRunningTrial).map(({ turnedAt: _turnedAt, ...step }): StepView => {
      if (step.state === 'completed' || step.state === 'pending') return step;
      const { attempt: _attempt, failure: _failure, skippedBecause: _because, ...again } = step;
      return { ...again, state: 'pending' };
    }),
  };
}

/** A step that was stopped without an output is asked again. */
export function forgetStops(round: RoundView): RoundView {
  return { ...round, steps: round.steps.map(({ stopped, ...step }) => (stopped && step.output !== undefined ? { ...step, stopped } : step)) };
}

/** A person who resumes a run gives every attempt another chance. */
export function withoutFailure({ failure: _failure, ...round }: RoundView): RoundView {
  return round;
}

/** Nobody waits for the tests any more, or they are run again. */
export function withoutRunningTrial({ trial, ...step }: StepView): StepView {
  return trial?.result ? { ...step, trial } : step;
}

export function forgiveRejections(round: RoundView): RoundView {
  return round.rejections.length > 0 ? { ...round, forgivenRejections: round.rejections.length } : round;
}

export function paused<T extends { readonly pausedMs?: number }>(whole: T, ms: number): T {
  return { ...whole, pausedMs: (whole.pausedMs ?? 0) + ms };
}
