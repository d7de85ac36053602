import type {
  Asks, BaseResult, BudgetWarning, ContextPiece, EditSummary, Failure, PolicySnapshot, RunEventOf, RunKind, Sampled, Tried, VerifiedCost,
} from './run-events.ts';
import type { Conversation } from './conversation.ts';
import type { Earlier } from './earlier.ts';
import type { FileChange } from './file-change.ts';
import type { LocalRecord, NoTry } from './local-first.ts';
import type { PlanMend } from './plan-mend.ts';
import type { Plan } from './plan.ts';
import type { ProjectFacts } from './project-facts.ts';
import type { FailedBefore, RunRequest } from './run-request.ts';
import { NO_USAGE } from './token-counts.ts';
import type { Usage } from './usage.ts';
import type { CallResult, ToolCall, VerbatimTurn } from './tool-calls.ts';
import type { Verdict } from './verdict.ts';
import type { Budget, StopLimit, WorkerConfig } from './worker-config.ts';
import type { WorkerRecord } from './worker-record.ts';
import type { WorkEstimate } from './work-estimate.ts';

/*
 * The state of a run, as fold-run.ts makes it of its events. Snapshots are immutable, so that a view can compare them by identity.
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

export const NOTHING_SPENT: Spent = { usd: 0, usage: NO_USAGE, unpricedTokens: 0, estimated: false };

export function isOver(state: RunState): boolean {
  return state !== 'running' && state !== 'waiting';
}
