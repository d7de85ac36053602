import type {
  Asks, BaseResult, BudgetWarning, ContextPiece, EditSummary, Failure, PolicySnapshot, RunEventOf, RunKind, RunText, Sampled, StoredEvent, Tried, VerifiedCost,
} from './run-events.ts';
import type { Conversation } from './conversation.ts';
import type { Earlier } from './earlier.ts';
import type { FileChange } from './file-change.ts';
import type { LocalRecord, NoTry } from './local-first.ts';
import type { PlanMend } from './plan-mend.ts';
import type { Plan } from './plan.ts';
import type { ProjectFacts } from './project-facts.ts';
import type { FailedBefore, RunRequest } from './run-request.ts';
import { NO_USAGE, addUsage, totalTokens } from './token-counts.ts';
import type { Cost, Usage } from './usage.ts';
import type { CallResult, ToolCall, VerbatimTurn } from './tool-calls.ts';
import type { Verdict } from './verdict.ts';
import type { Budget, StopLimit, WorkerConfig } from './worker-config.ts';
import type { WorkerRecord } from './worker-record.ts';
import type { WorkEstimate } from './work-estimate.ts';

/*
 * The state of a run, folded from its events. The panel, the command line, resuming and the history all use it. Snapshots are immutable,
 * so that a view can compare them by identity.
 */

export type RunState = 'running' | 'waiting' | 'stopped' | 'completed' | 'failed' | 'cancelled';
export type StepState = 'pending' | 'running' | 'completed' | 'failed' | 'skipped';

/** Money and tokens so far. `unpricedTokens` are tokens without a known price. */
export interface Spent {
  readonly usd: number;
  readonly usage: Usage;
  readonly unpricedTokens: number;
  readonly estimated: boolean;
}

/** The current or last model call. */
export interface AttemptView {
  readonly attemptId: string;
  readonly number: number;
  readonly worker: string;
  readonly startedAt: number;
  /** Position among the run's contexts of the one that was sent. */
  readonly context: number;
  /** The text streamed so far. */
  readonly text: string;
  readonly failure?: Failure;
  readonly retryInMs?: number;
  /** When the next attempt begins, milliseconds since 1970. */
  readonly retryAt?: number;
  readonly ended: boolean;
}

/** One turn of a step that takes several, or one act of an agent. */
export interface TurnView {
  readonly reply: string;
  /** The attempt of an agent in which it happened. */
  readonly during?: string;
  /** The tools that it asks for, and the turn as its provider wants it back. */
  readonly calls?: readonly ToolCall[];
  readonly verbatim?: VerbatimTurn;
  /** What each call gave; the observation holds all of them. */
  readonly results?: readonly CallResult[];
  /** What the worker was given for it; absent while that is being worked on. */
  readonly observation?: string;
  /** The pieces of the workspace in the observation. */
  readonly pieces?: readonly ContextPiece[];
  /** The files that it changed in the copy of a step with hands, each compared with the workspace. */
  readonly changes?: readonly FileChange[];
  /** What a person said to the worker, given with the observation. */
  readonly told?: readonly string[];
  /** The reply after it is the output. */
  readonly isLast?: true;
}

/** What was sent of the workspace. */
export interface ContextView {
  readonly pieces: readonly ContextPiece[];
  readonly leftOut: readonly { path: string; reason: string }[];
  readonly tokens: number;
  readonly text: string;
  /** The round that it was gathered for. */
  readonly round: number;
  /** Whether it was known what fails on the code as it is. */
  readonly knowsBase: boolean;
  /** The tests that fail, as models are told; empty if none is known to. */
  readonly failing: string;
}

/** The run of the tests on the code as it is. */
export interface BaseView {
  readonly command: string;
  readonly runner?: string | undefined;
  readonly startedAt: number;
  /** Absent while it runs. */
  readonly result?: BaseResult;
}

/** A worker that failed at a step, which another one then did. */
export interface HandedOn {
  readonly worker: number;
  readonly failure: Failure;
}

export interface StepView {
  readonly index: number;
  /** Who does it: the plan's choice, or who stands in for it. */
  readonly worker: number;
  /** Those who were to do it before, oldest first. */
  readonly handedOn?: readonly HandedOn[];
  readonly subtask: string;
  readonly reads: readonly number[];
  readonly readsPreviousRound: boolean;
  readonly state: StepState;
  readonly attempt?: AttemptView;
  /** Turns before the output. */
  readonly turns?: readonly TurnView[];
  /** What a person has said to the worker that it has not been given yet. */
  readonly told?: readonly string[];
  /** A person has stopped it. It is at its end, or about to be. */
  readonly stopped?: true;
  readonly output?: string;
  /** What a step with hands changed of the workspace. */
  readonly changes?: readonly FileChange[];
  /** What the copy of a step with hands began with. */
  readonly begun?: { readonly text: string; readonly changes: readonly FileChange[] };
  /** Its first output could not be read. `isAnswered`: the output is what the worker wrote then. */
  readonly returned?: { readonly text: string; readonly isAnswered: boolean };
  readonly finishReason?: RunEventOf<'step.completed'>['finishReason'];
  readonly spent: Spent;
  /** How long it took, with all its turns and what was done between them; of a step that is not over, until its last turn. */
  readonly durationMs?: number;
  /** When the turn came whose tools are at work. */
  readonly turnedAt?: number;
  /** The run that produced and paid for the output, if this run only reuses it. */
  readonly keptFrom?: string;
  readonly failure?: Failure;
  readonly skippedBecause?: string;
  /** The run of the tests on its change, for the steps that read it. `result` is absent while it goes on. */
  readonly trial?: { readonly startedAt: number; readonly result?: Tried };
}

export interface RejectionView {
  readonly reason: string;
  readonly message: string;
  readonly text: string;
}

/** A plan that a person did not want. */
export interface DiscardedPlan {
  /** As the Conductor wrote it. */
  readonly text: string;
  readonly plan: Plan;
  readonly wish?: string;
  /** The number of rejections in the round before it. */
  readonly rejections: number;
}

export interface RoundView {
  readonly index: number;
  /** A worker that costs nothing tries the question, before anybody is paid. The Conductor did not plan it. */
  readonly localTry?: { readonly record: LocalRecord };
  readonly planAttempt?: AttemptView;
  readonly planText?: string;
  readonly plan?: Plan;
  /** Why the plan is not as the Conductor wrote it. */
  readonly planMended?: PlanMend;
  readonly planDurationMs?: number;
  /** What the plan cost, with rejected ones and failed calls; absent until the first reply. */
  readonly planSpent?: Spent;
  /** The run that produced the plan, if this run only reuses it. */
  readonly planKeptFrom?: string;
  /** How a local model sampled the plan. */
  readonly sampled?: Sampled;
  /** The journal has the tokens of the plan, as the local Conductor sampled them (`plan.proposed`). */
  readonly hasTokens?: boolean;
  readonly rejections: readonly RejectionView[];
  /** The number of rejections before the last resume by the user. They no longer count. */
  readonly forgivenRejections?: number;
  /** Plans of the round that a person did not want, oldest first. */
  readonly discarded?: readonly DiscardedPlan[];
  /** The plan waits for a person, or was let run by one. */
  readonly review?: { readonly state: 'waiting' | 'approved'; readonly estimate: WorkEstimate };
  /** A person changed the plan: the Conductor's own, and whether Conductor may learn from the changed one. */
  readonly planEdited?: { readonly planned: Plan; readonly forTraining: boolean };
  /** The Conductor kept the previous round's answer. */
  readonly kept: boolean;
  readonly steps: readonly StepView[];
  readonly answer?: {
    readonly step: number;
    readonly edits: readonly EditSummary[];
    readonly refused: readonly { path: string; reason: string; isUnreadable?: boolean | undefined }[];
    readonly leftOut?: readonly { path: string; reason: string }[];
  };
  readonly verifying?: {
    readonly command: string;
    readonly runner?: string | undefined;
    readonly sandboxed: boolean;
    readonly startedAt: number;
  };
  readonly verdict?: Verdict;
  /** The tests for which alone the answer failed, where they failed before, and what a person says of them. */
  readonly failedBefore?: { readonly tests: readonly string[]; readonly state: 'waiting' | FailedBefore };
  /** Why this attempt did not go on, while others did. */
  readonly failure?: Failure;
  /** Idle milliseconds in this round: from the end or interruption of the run until it was resumed. */
  readonly pausedMs?: number;
}

export interface RunSnapshot {
  readonly runId: string;
  /** Sequence number of the last folded event. */
  readonly seq: number;
  readonly kind: RunKind;
  /** For a repeated question, the earlier run. For a rollout, its training. */
  readonly parentId?: string;
  /** The step of the earlier run that is retried, if any. */
  readonly retried?: { readonly round: number; readonly step: number };
  readonly taskId?: string;
  readonly seed?: number;
  /** The project and the kind of question that a run of a training counts as. */
  readonly countsAs?: { readonly project: string; readonly kind: string };
  readonly request: RunRequest;
  /** What it continues from, if it continues from anything. */
  readonly earlier?: Earlier;
  /** The conversation of another program in which it speaks. */
  readonly conversation?: Conversation;
  /** What the question asks for; absent in runs of an earlier version. */
  readonly asks?: Asks;
  readonly pool: readonly WorkerConfig[];
  readonly policy: PolicySnapshot;
  readonly budget: Budget;
  /** What tests said of its workers before, as its Conductor is told. */
  readonly records?: readonly WorkerRecord[];
  /** Nobody is chosen by records. */
  readonly recordsOff?: true;
  /** Tests that a person left out in earlier runs of the project. */
  readonly leftOut?: readonly string[];
  readonly state: RunState;
  readonly acceptedAt: number;
  readonly updatedAt: number;
  /** Idle milliseconds between start and end: from each end or interruption until the run was resumed. */
  readonly pausedMs?: number;
  /** The context that the question was first sent with. */
  readonly context?: ContextView;
  /** All contexts, oldest first: those of later rounds hold what was learned. */
  readonly contexts: readonly ContextView[];
  /** What the Conductor is told of the project. */
  readonly project?: ProjectFacts;
  readonly base?: BaseView;
  readonly rounds: readonly RoundView[];
  /** Why nobody tries first, though it was asked for. */
  readonly noTry?: NoTry;
  /** What verified answers cost in this project, at the end of a verified run. */
  readonly verifiedCost?: VerifiedCost;
  /** Workers that failed at a step which was handed on, since the run was started or last resumed by a person. */
  readonly failedWorkers?: readonly (HandedOn & { readonly round: number; readonly step: number })[];
  readonly spent: Spent;
  readonly outcome?: RunEventOf<'run.completed'>['outcome'];
  /** The round whose answer is offered; set once the run has completed. */
  readonly answerRound?: number;
  /** The latest status message: why the run waits, stopped or failed, or how it ended. */
  readonly message?: string;
  /** The limit that the run stopped at. */
  readonly stoppedBy?: StopLimit;
  /** The lowest limit with which it can continue. */
  readonly needed?: number;
  /** Limits that were nearly spent since the run was started or last resumed. */
  readonly warnings?: readonly BudgetWarning[];
  readonly failure?: Failure;
}

const PLAN_WAITS = 'The plan waits for somebody to look at it, before its workers are paid.';
const VERDICT_WAITS = 'The answer fails only for tests that failed before: somebody has to say whether they must pass.';

export const NOTHING_SPENT: Spent = { usd: 0, usage: NO_USAGE, unpricedTokens: 0, estimated: false };

export function isOver(state: RunState): boolean {
  return state !== 'running' && state !== 'waiting';
}

function spend(spent: Spent, { usage, cost }: { usage: Usage; cost: Cost }): Spent {
  return {
    usd: spent.usd + (cost.usd ?? 0),
    usage: addUsage(spent.usage, usage),
    unpricedTokens: spent.unpricedTokens + (cost.usd === undefined ? totalTokens(usage) : 0),
    estimated: spent.estimated || cost.estimated || usage.estimated,
  };
}

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

function pendingSteps({ steps }: Pick<RunEventOf<'plan.proposed'>, 'steps'>): StepView[] {
  return steps.map((step, index) => ({ index, ...step, state: 'pending', spent: NOTHING_SPENT }));
}

/** The round without its plan. What the plan cost stays. */
function discardPlan(round: RoundView, { wish }: RunEventOf<'plan.discarded'>): RoundView {
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

/** The run in its state and with its message after an event that concerns neither. */
function goingOn(run: RunSnapshot, { seq, at }: StoredEvent): RunSnapshot {
  return { ...run, seq, updatedAt: at };
}

/** Tests on the code as it is end with their run; nothing is known then. */
function withoutRunningBase({ base, ...run }: RunSnapshot): RunSnapshot {
  return base?.result ? { ...run, base } : run;
}

function withOutput({ failure: _failure, ...step }: StepView): StepView {
  return { ...step, state: 'completed' };
}

/** The next worker begins anew. What the one before it cost stays. */
function handOn({ attempt: _attempt, turnedAt: _turnedAt, failure: _failure, turns = [], told: unread = [], begun: _begun, ...step }: StepView, { from, to, failure }: RunEventOf<'step.reassigned'>): StepView {
  // What a person said holds for whoever does the step.
  const told = [...turns.flatMap((turn) => turn.told ?? []), ...unread];
  return { ...step, worker: to, state: 'pending', ...(told.length > 0 && { told }), handedOn: [...(step.handedOn ?? []), { worker: from, failure }] };
}

function observedIn({ text, results, pieces = [], changes = [], isLast }: RunEventOf<'step.observed'>): Omit<TurnView, 'reply'> {
  const observation = results ? results.map((result) => result.text).join('\n\n') : text;
  return { observation, ...(results && { results }), ...(pieces.length > 0 && { pieces }), ...(changes.length > 0 && { changes }), ...(isLast && { isLast }) };
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

function inStep(round: RoundView, index: number, change: (step: StepView) => StepView): RoundView {
  return { ...round, steps: round.steps.map((step) => (step.index === index ? change(step) : step)) };
}

function startAttempt(round: RoundView, event: RunEventOf<'attempt.started'>, at: number): RoundView {
  const { attemptId, number, worker, purpose, context = 0 } = event;
  const attempt: AttemptView = { attemptId, number, worker, startedAt: at, context, text: '', ended: false };
  if (purpose.kind === 'plan') return { ...round, planAttempt: attempt };
  return inStep(round, purpose.step, ({ failure: _failure, turns = [], ...step }) => {
    // An agent begins anew.
    const kept = turns.filter(({ during }) => during === undefined);
    return { ...step, ...(kept.length > 0 && { turns: kept }), state: 'running', attempt };
  });
}

function failAttempt(round: RoundView, event: RunEventOf<'attempt.failed'>, at: number): RoundView {
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

function endPlanAttempt({ planAttempt, ...round }: RoundView, bill: { usage: Usage; cost: Cost }): RoundView {
  const planSpent = spend(round.planSpent ?? NOTHING_SPENT, bill);
  return { ...round, planSpent, ...(planAttempt && { planAttempt: { ...planAttempt, ended: true, text: '' } }) };
}

/** Resets interrupted and failed steps to pending when a run resumes. */
function forgetUnfinished(round: RoundView): RoundView {
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
function forgetStops(round: RoundView): RoundView {
  return { ...round, steps: round.steps.map(({ stopped, ...step }) => (stopped && step.output !== undefined ? { ...step, stopped } : step)) };
}

/** A person who resumes a run gives every attempt another chance. */
function withoutFailure({ failure: _failure, ...round }: RoundView): RoundView {
  return round;
}

/** Nobody waits for the tests any more, or they are run again. */
function withoutRunningTrial({ trial, ...step }: StepView): StepView {
  return trial?.result ? { ...step, trial } : step;
}

function paused<T extends { readonly pausedMs?: number }>(whole: T, ms: number): T {
  return { ...whole, pausedMs: (whole.pausedMs ?? 0) + ms };
}

function forgiveRejections(round: RoundView): RoundView {
  return round.rejections.length > 0 ? { ...round, forgivenRejections: round.rejections.length } : round;
}
