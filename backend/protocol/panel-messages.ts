import * as z from 'zod';
import type { Outcomes } from './learning.ts';
import type { LocalFirst } from './local-first.ts';
import { modelNameSchema, type LocalModelStatus } from './local-models.ts';
import type { ClientRequests, ModelMessage, Result, RunSummary } from './methods.ts';
import { editedPlanSchema } from './plan.ts';
import { MAX_PICTURES } from './pictures.ts';
import type { PlannerChoice } from './planner-choice.ts';
import { failedBeforeSchema, pictureSchema } from './run-request.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { MAX_STEP_WORDS } from './step-words.ts';
import type { Verdict } from './verdict.ts';
import type { TaskNotes, Training, TrainingSummary, WholeRollout } from './training.ts';
import type { WorkEstimate } from './work-estimate.ts';

/*
 * What the extension and its panel say to each other. To the page go whole states, never changes to one: a hidden page misses
 * messages, and the last one has to be enough. Only long texts that it has already are not repeated. What is too much for each state
 * (a prompt, runs of long ago) the page asks for when somebody wants it, and is replied. From the page come commands and questions;
 * the extension checks each against the schema here before it acts, since the page shows text that models wrote. `path`s are shown to
 * the extension as the page got them: whoever opens one still has to check that it lies in the workspace.
 */

/** What a question would be sent with, as the backend worked it out. */
export type ContextPreview = Result<ClientRequests, 'context/preview'>;

/** The pool as the panel needs it. */
export interface PoolSummary {
  /** Id of whose model plays the Conductor: a worker's, or that of the model that is part of Conductor. */
  readonly conductor?: string | undefined;
  /** Why it plans, and what a plan will cost. */
  readonly choice?: PlannerChoice | undefined;
  readonly workers: readonly WorkerSummary[];
}

export interface WorkerSummary {
  readonly id: string;
  readonly model: string;
  readonly simulated: boolean;
  readonly enabled: boolean;
  /** False where it cannot be called; `reason` then says why, in one sentence. */
  readonly ready: boolean;
  readonly reason?: string | undefined;
  /** It is shown the pictures of a question. */
  readonly seesPictures?: boolean | undefined;
}

/** A model of this machine that belongs to what the page shows. */
export interface PanelModel extends LocalModelStatus {
  /** For people: `owner/name`, or the name of its folder. */
  readonly name: string;
  /** Whether it plays the Conductor, and whether it is one of the workers; it is at least one of both. */
  readonly plans: boolean;
  readonly answers: boolean;
}

export interface BackendStatus {
  readonly state: 'starting' | 'connected' | 'unavailable';
  /** For people: why it is unavailable and what to do. */
  readonly message?: string | undefined;
}

/** A question that was asked for outside the page (command palette, editor menu), or whose context is on show. */
export interface QuestionDraft {
  readonly question: string;
  readonly preview?: ContextPreview | undefined;
  /** Why there is no preview. */
  readonly problem?: string | undefined;
}

/** What became of the last "Review and apply". */
export interface ApplyOutcome {
  readonly runId: string;
  readonly state: 'applied' | 'partly' | 'rejected';
  readonly message: string;
}

/** The answer that was applied last in this workspace and can be taken back. */
export interface AppliedAnswer {
  readonly runId: string;
  /** Paths of the files that it left there, relative to the run's folder. */
  readonly files: readonly string[];
}

/** The check of the person's own uncommitted changes; while the tests run, neither a verdict nor a problem. */
export interface Verification {
  /** Counts those of this window. */
  readonly id: number;
  /** Name of the folder. */
  readonly folder: string;
  readonly verdict?: Verdict | undefined;
  readonly commit?: string | undefined;
  /** Why there is no verdict, in one sentence. */
  readonly problem?: string | undefined;
}

/** What the panel shows below its header, with the data that only this kind of view needs. */
export type ShownView =
  | { readonly kind: 'question'; readonly draft?: QuestionDraft | undefined }
  | {
    readonly kind: 'run';
    readonly run: RunSnapshot;
    /** The folder of the run is not open in this window. */
    readonly elsewhere?: true | undefined;
    readonly applied?: ApplyOutcome | undefined;
    readonly undoable?: AppliedAnswer | undefined;
  }
  | { readonly kind: 'verification'; readonly verification: Verification }
  | {
    readonly kind: 'training';
    readonly training: Training;
    /** The first tasks, after the page has asked for them. */
    readonly tasks?: TaskNotes | undefined;
    /** The rollout that the page has asked for. */
    readonly rollout?: WholeRollout | undefined;
  };

export type ViewOf<Kind extends ShownView['kind']> = Extract<ShownView, { readonly kind: Kind }>;

/** Everything the panel shows. */
export interface PanelState {
  readonly view: ShownView;
  /** Past runs, newest first. */
  readonly runs: readonly RunSummary[];
  /** Past trainings, newest first. */
  readonly trainings: readonly TrainingSummary[];
  /** Absent until the backend has said. */
  readonly pool?: PoolSummary | undefined;
  /** Whether a worker that costs nothing tries first, and how such tries turned out here; absent where none could. */
  readonly localFirst?: { readonly on: boolean } & LocalFirst | undefined;
  /** The plans, by what the tests said, from which the Conductor could learn now; absent where it is not offered. */
  readonly learning?: Outcomes['learned'] | undefined;
  /** Of the run on show, otherwise of the pool. */
  readonly models: readonly PanelModel[];
  readonly backend: BackendStatus;
  /** False in VS Code's Restricted Mode. */
  readonly trusted: boolean;
  /** Why the last command of the page was refused, such as an empty question; one sentence. */
  readonly problem?: string | undefined;
}

/** From the extension to the page. */
export interface StateMessage {
  readonly type: 'state';
  /** By the extension's clock, in milliseconds since 1970: the page may run elsewhere. */
  readonly sentAt: number;
  /** Counts the messages to one page. */
  readonly number: number;
  /** The message before, where long texts of it are named instead of repeated (known-texts.ts). */
  readonly basis?: number;
  /** A `PanelState`, as `packTexts` has made it. */
  readonly state: unknown;
}

/** From the extension to the page that asked: the value, or why there is none, in one sentence. */
export interface ReplyMessage {
  readonly type: 'reply';
  readonly ask: number;
  readonly value?: unknown;
  readonly problem?: string;
}

const runId = z.string().min(1).max(64);
/** By which the page knows the reply. */
const ask = z.number().int().min(1);
const position = z.number().int().min(0).max(1_000);
const trainingId = z.string().min(1).max(64);
const question = z.string().max(32_000);
const place = z.number().int().min(0).max(100);

/** What a person can do about a training. */
export const trainingActionSchema = z.enum(['open', 'pause', 'resume', 'raiseBudget', 'finish', 'cancel', 'adopt', 'goBack', 'remove']);
export type TrainingAction = z.infer<typeof trainingActionSchema>;

const text = z.string().max(4_000_000);

/** From the page to the extension. */
export const pageMessageSchema = z.discriminatedUnion('type', [
  /** The page listens: send it the state. Comes again after each reload. */
  z.strictObject({ type: z.literal('ready') }),
  /** `continues`: the run under whose answer it was asked. `attempts`: how many plans may be tried; `atOnce`: at the same time. */
  z.strictObject({ type: z.literal('solve'), question, continues: runId.optional(), attempts: z.number().int().min(1).max(5).optional(), atOnce: z.boolean().optional(), pictures: z.array(pictureSchema).max(MAX_PICTURES).optional() }),
  z.strictObject({ type: z.literal('previewContext'), question }),
  /** Lets a worker that costs nothing try first from now on, or not. */
  z.strictObject({ type: z.literal('setLocalFirst'), on: z.boolean() }),
  z.strictObject({ type: z.literal('cancel'), runId }),
  /** Goes on with a run that stopped, failed or was cancelled. */
  z.strictObject({ type: z.literal('resume'), runId }),
  /** Asks one step of a run that is over again, in a new run; `round` and `step` count from 0. */
  z.strictObject({ type: z.literal('retryStep'), runId, round: place, step: place }),
  /** Stops a step that is at work; the run goes on. */
  z.strictObject({ type: z.literal('stopStep'), runId, round: place, step: place }),
  /** Says something to the worker of a step that is at work. */
  z.strictObject({ type: z.literal('tellStep'), runId, round: place, step: place, text: z.string().trim().min(1).max(MAX_STEP_WORDS) }),
  /** Shows what a step changed as a diff against the workspace. */
  z.strictObject({ type: z.literal('showStepChange'), runId, round: place, step: place }),
  /** Asks the run's question again, of workers that the person chooses. */
  z.strictObject({ type: z.literal('again'), runId }),
  z.strictObject({ type: z.literal('exportRun'), runId }),
  z.strictObject({ type: z.literal('open'), runId }),
  /** Begins a training of the Conductor, once its cost is agreed to. */
  z.strictObject({ type: z.literal('fineTune') }),
  /** Has the Conductor learn from what happened, or lets it be for now. */
  z.strictObject({ type: z.literal('learn') }),
  z.strictObject({ type: z.literal('declineLearning') }),
  z.strictObject({ type: z.literal('training'), action: trainingActionSchema, trainingId }),
  /** The first so many tasks of the training on show; they come with the state, again whenever they change. */
  z.strictObject({ type: z.literal('trainingTasks'), trainingId, count: z.number().int().min(1).max(10_000) }),
  /** One of its rollouts as a whole; without `runId`, none any more. */
  z.strictObject({ type: z.literal('rollout'), trainingId, runId: runId.optional() }),
  /** Leaves the run or the training on show (it goes on) for the page that asks; the question to begin with, if any. */
  z.strictObject({ type: z.literal('newQuestion'), question: question.optional() }),
  /** Shows the answer's edits as a diff that the person accepts or rejects. */
  z.strictObject({ type: z.literal('apply'), runId }),
  /** Takes back the answer of this run, which was applied last. */
  z.strictObject({ type: z.literal('undo'), runId }),
  /** Opens the run's folder in a window of its own. */
  z.strictObject({ type: z.literal('openFolder'), runId }),
  z.strictObject({ type: z.literal('copy'), text }),
  /** Puts the text at the cursor of the active editor. */
  z.strictObject({ type: z.literal('insert'), text }),
  z.strictObject({ type: z.literal('openFile'), path: z.string().min(1).max(4_096), line: z.number().int().min(1).optional() }),
  z.strictObject({ type: z.literal('addWorker') }),
  /** Which model plans the next questions. */
  z.strictObject({ type: z.literal('chooseConductor') }),
  /** Solves the bug of a sample project with simulated workers, while there is no worker. */
  z.strictObject({ type: z.literal('demonstrate') }),
  /** Has a model of this machine play the Conductor, downloaded first if need be. */
  z.strictObject({ type: z.literal('chooseModel') }),
  /** Frees its memory, or ends its loading. */
  z.strictObject({ type: z.literal('unloadModel'), model: modelNameSchema }),
  /** Which command runs the tests; the question whose context is on show, if any, is looked at again. */
  z.strictObject({ type: z.literal('chooseTests') }),
  /** Checks the person's own changes with the project's tests. */
  z.strictObject({ type: z.literal('verifyChanges') }),
  /** The settings of the tests. */
  z.strictObject({ type: z.literal('openTestSettings') }),
  z.strictObject({ type: z.literal('showHealth') }),
  /** The panel in an editor's tab, where there is more room. */
  z.strictObject({ type: z.literal('openInEditor') }),
  /** What the worker of a step was sent. */
  z.strictObject({ type: z.literal('stepPrompt'), ask, runId, round: position, step: position }),
  /** What a plan that a person is changing is expected to cost. */
  z.strictObject({ type: z.literal('planEstimate'), ask, runId, round: position, plan: editedPlanSchema }),
  /** Lets the plan run that waits, or the changed one in its place; the reply is that it runs. */
  z.strictObject({
    type: z.literal('approvePlan'), ask, runId, round: position, attemptId: z.string().max(64), plan: editedPlanSchema.optional(), forTraining: z.boolean(),
  }),
  /** Asks the Conductor for another plan instead of the one that waits. */
  z.strictObject({ type: z.literal('replan'), ask, runId, round: position, attemptId: z.string().max(64), wish: z.string().max(4_000).optional() }),
  /** Says of tests that failed before whether they must pass, where the answer of a round fails for them alone. */
  z.strictObject({ type: z.literal('decideFailedBefore'), ask, runId, round: position, failedBefore: failedBeforeSchema }),
  /** Has the tests of the project count again in later questions that a person left out earlier. */
  z.strictObject({ type: z.literal('takeBackLeftOut'), ask, runId }),
  /** Past runs whose question holds the text, newest first, also those that the state does not list; without a text, all. */
  z.strictObject({ type: z.literal('findRuns'), ask, search: z.string().max(200) }),
  /** Removes a run for good, once the person has said so again; the reply is whether it is gone. */
  z.strictObject({ type: z.literal('removeRun'), ask, runId }),
  /** Somebody has read why the last command was refused. */
  z.strictObject({ type: z.literal('dismissProblem') }),
  z.strictObject({ type: z.literal('manageTrust') }),
  z.strictObject({ type: z.literal('showLogs') }),
  z.strictObject({ type: z.literal('retryBackend') }),
]);
export type PageMessage = z.infer<typeof pageMessageSchema>;
/** What is replied to: each with the number by which the page knows the reply. */
export type PageQuestion = Extract<PageMessage, { readonly ask: number }>;
export type PageCommand = Exclude<PageMessage, PageQuestion>;

/** What is replied, by the question's type. */
export interface PageReplies {
  readonly stepPrompt: readonly ModelMessage[];
  readonly findRuns: readonly RunSummary[];
  readonly removeRun: boolean;
  readonly planEstimate: WorkEstimate;
  readonly approvePlan: true;
  readonly replan: true;
  readonly decideFailedBefore: true;
  readonly takeBackLeftOut: true;
}
