import type { Conversation } from '../protocol/conversation.ts';
import type { Earlier } from '../protocol/earlier.ts';
import type { FileEdit, ModelMessage, RunFileFormat, RunSummary } from '../protocol/methods.ts';
import type { ContextPiece, RunText, StoredEvent } from '../protocol/run-events.ts';
import type { LocalFirst } from '../protocol/local-first.ts';
import type { FailedBefore, RunRequest } from '../protocol/run-request.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { FoundTests, LikelyCommand, TestCommand } from '../protocol/test-command.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import type { RawPlan } from '../workflow/validate-plan.ts';
import type { StepPlace } from './kept-events.ts';

export interface RunListener {
  onEvent(event: StoredEvent): void;
  onText(text: RunText): void;
  /** After an event that changes a list of runs: started, waiting, over. The summary is read for it, so who lists no runs has none. */
  onChanged?(summary: RunSummary): void;
  onRemoved(runId: string): void;
}

export interface ContextPreview {
  readonly pieces: readonly ContextPiece[];
  readonly leftOut: readonly { path: string; reason: string }[];
  readonly tokens: number;
  readonly text: string;
  readonly testCommand: string | null;
  /** The runner that reads its report. */
  readonly testRunner?: string | undefined;
  /** What may be a test command where none was found or named. */
  readonly likelyTests?: LikelyCommand[];
  /** The conversation that goes with the question, as models are told of it. */
  readonly earlier?: Earlier | undefined;
}

/** A plan that a person was shown, by its round and the attempt that wrote it. */
interface ShownPlan {
  readonly round: number;
  readonly attemptId: string;
}

export interface PlanApproval extends ShownPlan {
  /** The changed plan; the shown one where absent. */
  readonly plan?: RawPlan | undefined;
  /** Whether Conductor may learn from the changed plan. */
  readonly forTraining: boolean;
}

export interface PlanRefusal extends ShownPlan {
  /** What should be different. */
  readonly wish?: string | undefined;
}

/** Whether the tests must pass for which alone the answer of a round fails, where they failed before. */
export interface FailedBeforeDecision {
  readonly round: number;
  readonly failedBefore: FailedBefore;
}

/** The differences to the earlier run. Workers that are not named are chosen as for any question. */
export type AgainRequest = Pick<RunRequest, 'workers' | 'conductor' | 'trusted' | 'reviewPlan' | 'budget'>;

/** What a client can ask about runs and workspaces. @throws RunNotFoundError, RunRefusedError: both carry a sentence for people. */
export interface RunQuestions {
  /** The messages that a step's worker is sent, or the Conductor without a step. @throws RunRefusedError before they are settled */
  prompt(runId: string, round: number, step: number | undefined): ModelMessage[];
  /** The run as a file to share, with a name for the file. */
  export(runId: string, format: RunFileFormat): Promise<{ text: string; fileName: string }>;
  edits(runId: string, how?: { readonly takeBack?: boolean | undefined }): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }>;
  /** What a step changes of the workspace as it is now; of one that is at work, so far. */
  stepEdits(runId: string, place: StepPlace): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }>;
  previewContext(request: RunRequest, signal: AbortSignal): Promise<ContextPreview>;
  /** Which of the enabled workers would try first at no cost, and how such tries turned out in the workspace. */
  localFirst(workspace: string | undefined): Promise<LocalFirst>;
  /** The ways to run the workspace's tests that its files suggest, the most likely first. */
  findTests(workspace: string): Promise<readonly FoundTests[]>;
  /** The commands that may be one where none is found. */
  likelyTests(workspace: string | undefined): Promise<readonly LikelyCommand[]>;
  /** The runner that reads the results of a command, or undefined where no runner can. */
  runnerOf(test: TestCommand, workspace: string): Promise<string | undefined>;
}

/** What a client can do with runs. @throws RunNotFoundError, RunRefusedError: both carry a sentence for people. */
export interface RunService {
  readonly questions: RunQuestions;
  /** Resolves with the run's id as soon as `run.accepted` is committed. */
  start(request: RunRequest): Promise<string>;
  /**
   * Starts a run whose last step speaks in a conversation of another program.
   * @param isPlanned false where the request names one worker, which answers without a plan
   */
  converse(request: RunRequest, conversation: Conversation, how: { readonly isPlanned: boolean }): Promise<string>;
  /** Starts a run about a sample project with simulated workers. @throws RunRefusedError once there is a worker. */
  demonstrate(): Promise<string>;
  cancel(runId: string): void;
  /** Stops a step that is at work; it hands on what it has, and the run goes on. */
  stopStep(runId: string, place: StepPlace): void;
  /** Says something to the worker of a step, which reads it at its next turn. */
  tellStep(runId: string, place: StepPlace, text: string): void;
  /** Continues a run that stopped, failed or was cancelled; finished parts are not paid for again. A running one is left alone. */
  resume(runId: string, budget?: RunRequest['budget']): Promise<void>;
  /**
   * Starts a run that repeats one step of an earlier one and the steps that depend on it; see `keptOnRetry`.
   * @returns the new run's id
   */
  retry(runId: string, place: StepPlace, budget?: RunRequest['budget']): Promise<string>;
  /** Starts a run with the question and context of an earlier one and other workers. @returns the new run's id */
  again(runId: string, cast: AgainRequest): Promise<string>;
  /** What the steps of a plan for this round are expected to take. @throws RunRefusedError for a plan that cannot run */
  estimatePlan(runId: string, round: number, plan: RawPlan): WorkEstimate;
  /** Lets the plan that waits for a person run, or the changed one in its place. @throws RunRefusedError also if another plan waits by now */
  approvePlan(runId: string, decision: PlanApproval): void;
  /** Has the Conductor write another plan instead of the one that waits for a person. */
  replan(runId: string, decision: PlanRefusal): void;
  /** Says of tests that failed before whether they must pass, where a run waits for that; if not, the same answer is judged again. @throws RunRefusedError */
  decideFailedBefore(runId: string, decision: FailedBeforeDecision): void;
  /** The tests of a project that a person left out of verdicts while they fail. */
  leftOutTests(workspace: string): readonly string[];
  /** Has left-out tests count again, in later questions. @param tests undefined: all. @returns how many do */
  takeBackLeftOut(workspace: string, tests?: readonly string[]): number;
  /** Deletes a run that is over. Its cost still counts for its day. */
  remove(runId: string): Promise<void>;
  /** With the text that is streaming at the moment. */
  snapshot(runId: string): RunSnapshot;
  events(runId: string, afterSeq: number): StoredEvent[];
  /** Newest first; only runs of kind `solve`. */
  list(filter: { workspace?: string | undefined; search?: string | undefined; limit: number }): RunSummary[];
  /** @returns a function that ends the subscription. */
  listen(listener: RunListener): () => void;
  /** Running runs of this process. A run that waits for a client does not count: the journal keeps it. */
  readonly activeRuns: number;
}
