import * as z from 'zod';
import { conversationSchema, converseRequestSchema, converseResultSchema, converseTextSchema } from './conversation.ts';
import { earlierSchema } from './earlier.ts';
import { evaluationBudgetSchema, evaluationRequestSchema } from './evaluation-request.ts';
import {
  evaluationOfferSchema, evaluationSchema, evaluationSummarySchema, samplesRequestSchema, samplesSchema, wholeSampleSchema,
} from './evaluations.ts';
import { foundServersSchema, listedModelsSchema, namedServerSchema } from './found-servers.ts';
import { AGENT_NAMES } from './known-agents.ts';
import {
  localModelsSchema, localModelStatusSchema, modelNameSchema, pulledModelSchema, pullProgressSchema,
} from './local-models.ts';
import { personPythonSchema } from './person-python.ts';
import { editedPlanSchema } from './plan.ts';
import { localFirstSchema } from './local-first.ts';
import { plannerChoiceSchema } from './planner-choice.ts';
import { priceOriginSchema } from './price-origin.ts';
import { outcomesCheckSchema } from './learning.ts';
import { recordsSchema } from './records.ts';
import { contextPieceSchema, leftOutSchema, outcomeSchema, runKindSchema, runTextSchema, storedEventSchema } from './run-events.ts';
import { failedBeforeSchema, runRequestSchema } from './run-request.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { simulationRequestSchema, simulationSchema } from './simulation.ts';
import { MAX_STEP_WORDS } from './step-words.ts';
import { suggestOutcomeSchema, suggestRequestSchema, suggestResultSchema, suggestTextSchema } from './suggestions.ts';
import { foundTestsSchema, likelyCommandSchema, testCommandSchema } from './test-command.ts';
import {
  taskNotesSchema, trainingCheckSchema, trainingConfigSchema, trainingEventSchema, trainingLimitsSchema, trainingSchema, trainingSummarySchema,
  wholeRolloutSchema,
} from './training.ts';
import { costSchema, usageSchema } from './usage.ts';
import { workEstimateSchema } from './work-estimate.ts';
import { budgetOverrideSchema, budgetSchema, handsSchema, localSettingsSchema, providerSchema, workerConfigSchema } from './worker-config.ts';

/*
 * Every message on the socket. Each request has a row with the schemas of its parameters and its result. Both ends validate received
 * messages against it.
 */

const runId = z.string().min(1).max(64);
const runRef = z.object({ runId });
/** A round of a run, or a step of a round, from 0. */
const place = z.number().int().min(0).max(100);
const stepRef = runRef.extend({ round: place, step: place });
const trainingRef = z.object({ trainingId: z.string().min(1).max(64) });
const evaluationRef = z.object({ folder: z.string().min(1).max(4_096) });
const nothing = z.object({});

/** The requests of the backend that a client can answer. */
export const capabilitySchema = z.enum(['secret', 'confirm', 'model', 'python']);
export type Capability = z.infer<typeof capabilitySchema>;

export const clientKindSchema = z.enum(['vscode', 'cli', 'test']);

export const healthSchema = z.object({
  backendVersion: z.string(),
  node: z.string(),
  pid: z.number().int(),
  /** One sentence each, for people; empty when all is well. */
  problems: z.array(z.string()),
  sandbox: z.object({
    available: z.boolean(),
    /** What makes its walls, on Linux. */
    walls: z.enum(['bubblewrap', 'namespaces']).optional(),
    reason: z.string().optional(),
    /** A command for the user that installs what is missing, if one is known. */
    remedy: z.string().optional(),
  }),
});
export type Health = z.infer<typeof healthSchema>;

/** Health with the checks that are repeated for each request. */
export const healthDetailsSchema = healthSchema.extend({
  storage: z.object({
    /** Absolute path of the folder with workers.json and the journal. */
    home: z.string(),
    writable: z.boolean(),
    /** Free space on its disk; absent if the system does not report it. */
    freeBytes: z.number().nonnegative().optional(),
    journalBytes: z.number().nonnegative(),
  }),
  /**
   * Whether the servers of enabled workers answer and have the model. `unlisted`: the server lists no models. `unasked`: only a paid call
   * could tell.
   */
  servers: z.array(z.object({
    worker: z.string(), state: z.enum(['answers', 'unlisted', 'silent', 'unasked']), reason: z.string().optional(),
  })),
  /** The outcome of each enabled worker's last call since the backend started; without `problem` the call succeeded. */
  lastCalls: z.array(z.object({ worker: z.string(), problem: z.string().optional() })).optional(),
  /** Today's cost as counted against the limits, and the limits of workers.json; absent if that file cannot be read. */
  budget: z.object({ today: z.object({ usd: z.number(), tokens: z.number() }), limits: budgetSchema }).optional(),
  /** Why workers.json cannot be read; one sentence. */
  workersFileProblem: z.string().optional(),
});
export type HealthDetails = z.infer<typeof healthDetailsSchema>;

/** A worker as clients list it. If its key is missing, `ready` is false and `reason` is a sentence. */
export const workerStatusSchema = z.object({
  worker: workerConfigSchema,
  ready: z.boolean(),
  reason: z.string().optional(),
  priced: z.boolean(),
  /** Dollars for a million tokens in and out, and where that is known from; absent for an unknown price. */
  price: z.object({ inputPerMillion: z.number(), outputPerMillion: z.number(), origin: priceOriginSchema }).optional(),
  /** Of a served Conductor: what its server calls the adapter with which it plans; absent without one. */
  serves: z.string().optional(),
  /** The tokens that a call of its model can hold, input and output together; absent where that is not known. */
  contextTokens: z.number().int().positive().optional(),
});
export type WorkerStatus = z.infer<typeof workerStatusSchema>;

export const poolSchema = z.object({
  file: z.string(),
  /** The planner that was chosen; absent if nobody was. */
  conductor: z.string().optional(),
  /** The bundled model. Absent in a build without it, and where it cannot run. */
  bundledConductor: workerConfigSchema.optional(),
  /** Who plans the next question, and why; absent if nobody can. */
  planner: z.object({ worker: workerConfigSchema, choice: plannerChoiceSchema }).optional(),
  workers: z.array(workerStatusSchema),
  /** As in workers.json. */
  warnAtPercent: budgetSchema.shape.warnAtPercent,
  /** The most dollars that a run may cost, as in workers.json. */
  runUsd: z.number().optional(),
});
export type Pool = z.infer<typeof poolSchema>;

export const runSummarySchema = z.object({
  runId: z.string(),
  kind: runKindSchema,
  question: z.string(),
  /** The first run of its conversation; absent in that run itself. */
  thread: z.string().optional(),
  workspace: z.string().optional(),
  state: z.enum(['running', 'waiting', 'stopped', 'completed', 'failed', 'cancelled']),
  outcome: outcomeSchema.optional(),
  acceptedAt: z.number(),
  updatedAt: z.number(),
  usd: z.number(),
  unpricedTokens: z.number(),
  simulated: z.boolean(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** A whole-file edit against the current workspace. `before` is null for a file that does not exist. */
export const fileEditSchema = z.object({
  path: z.string(),
  kind: z.enum(['create', 'modify', 'delete']),
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type FileEdit = z.infer<typeof fileEditSchema>;

export const modelMessageSchema = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type ModelMessage = z.infer<typeof modelMessageSchema>;

export const runFileFormatSchema = z.enum(['markdown', 'json']);
export type RunFileFormat = z.infer<typeof runFileFormatSchema>;

const snapshot = z.custom<RunSnapshot>((value) => typeof value === 'object' && value !== null && 'runId' in value);

/** Requests of a client to the backend. */
export const clientRequests = {
  initialize: {
    params: z.object({
      protocol: z.object({ major: z.number().int(), minor: z.number().int() }),
      client: z.object({ kind: clientKindSchema, version: z.string().max(64) }),
      capabilities: z.array(capabilitySchema),
      /** Folders open in the client. Questions about runs in them go to this client first. */
      workspaces: z.array(z.string().max(4_096)).max(32).default([]),
      /** False for a client without a list of runs: it is not told which runs change. */
      listsRuns: z.boolean().default(true),
    }),
    result: z.object({ protocol: z.object({ major: z.number(), minor: z.number() }), health: healthSchema }),
  },
  'backend/health': { params: nothing, result: healthSchema },
  /** Health with fresh checks: the disk, and local workers' servers. */
  'backend/healthDetails': { params: nothing, result: healthDetailsSchema },
  /**
   * Ends the process after replying. Active runs resume at the next start. With `ifIdle` it refuses while another client is connected or a
   * run is active. Every version answers it, even before `initialize`, so that a newer client can replace an older backend.
   */
  'backend/stop': { params: z.object({ ifIdle: z.boolean().default(false) }), result: nothing },
  'pool/get': { params: nothing, result: poolSchema },
  /** Creates an empty workers.json if there is none. */
  'pool/create': { params: nothing, result: poolSchema },
  /** Adds the worker, or replaces the one with the same id. */
  'worker/save': {
    params: z.object({ worker: workerConfigSchema, conductor: z.boolean().default(false) }),
    result: poolSchema,
  },
  'worker/remove': { params: z.object({ id: z.string() }), result: poolSchema },
  /** Chooses who plans: a worker, or the bundled model; null: nobody, and then the worker that plans best for its price does. */
  'conductor/choose': { params: z.object({ id: z.string().nullable() }), result: poolSchema },
  /** Finds model servers on this machine. Each is sent only a request for its list of models. */
  'servers/find': { params: nothing, result: foundServersSchema },
  /** The known agents whose program is installed here. Starts none. */
  'agents/find': { params: nothing, result: z.object({ agents: z.array(z.enum(AGENT_NAMES)) }) },
  /** Lists the models of a named server. Sends no other request. */
  'servers/models': { params: z.object({ server: namedServerSchema }), result: listedModelsSchema },
  /**
   * Tests a worker with up to three small real calls. The worker need not be saved yet. `kind` classifies a failure. `hands` says how it can
   * use tools; absent if it cannot. `pictures` says whether it sees pictures; absent if it was not asked.
   */
  'worker/try': {
    params: z.object({ worker: workerConfigSchema }),
    result: z.object({
      ok: z.boolean(), kind: z.string().optional(), message: z.string(), text: z.string(), hands: handsSchema.optional(), pictures: z.boolean().optional(),
      durationMs: z.number(), usage: usageSchema, cost: costSchema,
    }),
  },
  /** The installed models, the models known to work, and the one recommended for this machine. */
  'models/list': { params: nothing, result: localModelsSchema },
  /** Downloads a model, or resumes its download. The requesting client gets `model/pullProgress`. */
  'models/pull': {
    params: z.object({
      repo: modelNameSchema,
      revision: z.string().min(1).max(200).optional(),
      /** Access token for a gated model; sent to the hub and never stored. */
      token: z.string().min(1).max(500).optional(),
    }),
    result: pulledModelSchema,
  },
  /** Makes a local model the Conductor, and with `worker` also a worker. Checks its files first. */
  'model/choose': { params: z.object({ model: modelNameSchema, worker: z.boolean().default(true) }), result: poolSchema },
  /** Loads a model before its first request. Cancelling unloads it. */
  'model/load': { params: z.object({ model: modelNameSchema }), result: localModelStatusSchema },
  /** Unloads a model. Its active requests, and a load in progress, fail. */
  'model/unload': { params: z.object({ model: modelNameSchema }), result: nothing },
  /** The state of each model used since the backend started; changes follow as notifications. */
  'model/status': { params: nothing, result: z.object({ models: z.array(localModelStatusSchema) }) },
  /** Changes the settings for running and downloading local models; null resets one. They apply from the next load on. */
  'models/configure': {
    params: z.object({
      device: localSettingsSchema.shape.device.unwrap().nullable(),
      precision: localSettingsSchema.shape.precision.unwrap().nullable(),
      packageIndex: localSettingsSchema.shape.packageIndex.unwrap().nullable(),
      hubEndpoint: localSettingsSchema.shape.hubEndpoint.unwrap().nullable(),
    }).partial(),
    result: localSettingsSchema,
  },
  /** Previews the context of a question. Nothing leaves the machine. */
  'context/preview': {
    params: z.object({ request: runRequestSchema }),
    result: z.object({
      pieces: z.array(contextPieceSchema),
      leftOut: z.array(leftOutSchema),
      tokens: z.number(),
      text: z.string(),
      /** The test command the answer will be checked with, if one was found. */
      testCommand: z.string().nullable(),
      /** The runner whose report is read. */
      testRunner: z.string().optional(),
      /** What may be one where none was found or named. */
      likelyTests: z.array(likelyCommandSchema).optional(),
      /** The conversation that goes with the question, as models are told of it. */
      earlier: earlierSchema.optional(),
    }),
  },
  /** Who would try first at no cost, and how such tries turned out in the project. */
  'localFirst/get': { params: z.object({ workspace: z.string().max(4_096).optional() }), result: localFirstSchema },
  /** What tests said of each worker, in a project or in all. Nothing leaves the machine. */
  'records/get': { params: z.object({ workspace: z.string().max(4_096).optional() }), result: recordsSchema },
  /** Forgets what tests said of workers, in a project or in all; the runs stay. Returns the number of steps that were forgotten. */
  'records/forget': { params: z.object({ workspace: z.string().max(4_096).optional() }), result: z.object({ steps: z.number().int().nonnegative() }) },
  /** Whether workers are chosen by records, and Conductors told of them. */
  'records/use': { params: z.object({ used: z.boolean() }), result: nothing },
  /** The tests of a project that a person left out of verdicts while they fail. */
  'leftOut/get': { params: z.object({ workspace: z.string().min(1).max(4_096) }), result: z.object({ tests: z.array(z.string()) }) },
  /** Has left-out tests count again in later questions, or all of them. Returns how many do. */
  'leftOut/takeBack': {
    params: z.object({ workspace: z.string().min(1).max(4_096), tests: runRequestSchema.shape.tests }), result: z.object({ tests: z.number().int().nonnegative() }),
  },
  /** Detects the ways to run a workspace's tests, the likeliest first. Runs nothing. */
  'tests/find': {
    params: z.object({ workspace: z.string().min(1).max(4_096) }),
    /** `likely`: what may be one where none is found, to choose from. */
    result: z.object({ found: z.array(foundTestsSchema), likely: z.array(likelyCommandSchema).default([]) }),
  },
  /** The runner of a command; null if no runner can read its results. Runs nothing. */
  'tests/runner': {
    params: testCommandSchema.extend({ workspace: z.string().min(1).max(4_096) }),
    result: z.object({ runner: z.string().nullable() }),
  },
  /**
   * Replies as soon as the run is in the journal. The rest follows as events. A request that continues from a run is refused if there is no
   * such run, if it is not over, or if it is about another project.
   */
  'run/start': { params: z.object({ request: runRequestSchema }), result: runRef },
  /** Starts a run on a sample project with workers marked as simulated. Refused once a real worker exists. */
  'run/demonstrate': { params: nothing, result: runRef },
  'run/cancel': { params: runRef, result: nothing },
  /**
   * Stops a step that is at work; the run goes on. The step hands on what it has: its last words, and its change if it has hands. If it has
   * nothing, its readers are told so, and a run whose answer it was to give fails. Refused for a step that is not at work.
   */
  'run/stopStep': { params: stepRef, result: nothing },
  /** Says something to the worker of a step that is at work. It reads it at its next turn. Refused for a step without hands, and at its last turn. */
  'run/tellStep': { params: stepRef.extend({ text: z.string().trim().min(1).max(MAX_STEP_WORDS) }), result: nothing },
  /** `budget` replaces the run's limits. */
  'run/resume': { params: runRef.extend({ budget: budgetOverrideSchema.optional() }), result: nothing },
  /**
   * Retries one step of a finished run, and everything that depends on it: later steps, tests, rounds. Starts a new run that reuses the rest
   * at no cost. `budget` replaces the limits of the old run.
   */
  'run/retry': { params: runRef.extend({ round: place, step: place, budget: budgetOverrideSchema.optional() }), result: runRef },
  /** Asks a run's question again in a new run, with the same context. Workers and Conductor default as for a new question. */
  'run/again': {
    params: runRef.extend({
      workers: runRequestSchema.shape.workers,
      conductor: runRequestSchema.shape.conductor,
      trusted: runRequestSchema.shape.trusted,
      reviewPlan: runRequestSchema.shape.reviewPlan,
      budget: budgetOverrideSchema.optional(),
    }),
    result: runRef,
  },
  /** What the steps of a plan are expected to cost, such as of one that a person is changing. Refused for a plan that cannot run. */
  'run/estimatePlan': { params: runRef.extend({ round: place, plan: editedPlanSchema }), result: z.object({ estimate: workEstimateSchema }) },
  /**
   * Lets the plan run that waits for a person, or the changed `plan` in its place. `attemptId` names the plan that was shown: refused if another
   * one waits by now. `forTraining`: whether Conductor may learn from the changed plan.
   */
  'run/approvePlan': {
    params: runRef.extend({ round: place, attemptId: z.string().max(64), plan: editedPlanSchema.optional(), forTraining: z.boolean().default(false) }),
    result: nothing,
  },
  /** Asks the Conductor for another plan instead of the one that waits for a person. `wish`: what should be different. */
  'run/replan': {
    params: runRef.extend({ round: place, attemptId: z.string().max(64), wish: z.string().trim().max(4_000).optional() }), result: nothing,
  },
  /** Says whether the tests must pass that failed before, and for which alone the answer of a round fails. If they are left out, the same answer is judged again. */
  'run/decideFailedBefore': { params: runRef.extend({ round: place, failedBefore: failedBeforeSchema }), result: nothing },
  /** Deletes a finished run permanently. Its cost still counts against its day. */
  'run/remove': { params: runRef, result: nothing },
  /** Exports a run as a readable document or as complete JSON. Keys, and lines that look like secrets, are left out. */
  'run/export': {
    params: runRef.extend({ format: runFileFormatSchema }),
    result: z.object({ text: z.string(), fileName: z.string() }),
  },
  'run/get': { params: runRef, result: z.object({ run: snapshot }) },
  'run/list': {
    params: z.object({
      workspace: z.string().optional(), limit: z.number().int().min(1).max(500).default(50), search: z.string().max(200).optional(),
    }),
    result: z.object({ runs: z.array(runSummarySchema) }),
  },
  'run/events': {
    params: z.object({ runId, afterSeq: z.number().int().nonnegative().default(0) }),
    result: z.object({ events: z.array(storedEventSchema) }),
  },
  /** Returns the current snapshot. All later events and text of the run follow as notifications, without a gap. */
  'run/subscribe': { params: runRef, result: z.object({ run: snapshot }) },
  'run/unsubscribe': { params: runRef, result: nothing },
  /**
   * The prompt of a step's worker; without `step`, the Conductor's last prompt of the round. Refused while outputs that the step reads are
   * missing.
   */
  'run/prompt': {
    params: runRef.extend({ round: place, step: place.optional() }),
    result: z.object({ messages: z.array(modelMessageSchema) }),
  },
  /** The answer's edits against the workspace as it is now. */
  'run/edits': {
    /** `takeBack`: what takes the change back from the workspace, where it has it. */
    params: runRef.extend({ takeBack: z.boolean().optional() }),
    result: z.object({ edits: z.array(fileEditSchema), refused: z.array(leftOutSchema) }),
  },
  /** What a step changes of the workspace, against it as it is now: of one that is at work, so far. */
  'run/stepEdits': {
    params: stepRef,
    result: z.object({ edits: z.array(fileEditSchema), refused: z.array(leftOutSchema) }),
  },
  /**
   * Suggests text at a cursor. Text streams as notifications. Cancelling also cancels the worker's request. The worker is chosen once for
   * each language and project, so the first request takes as long as a plan.
   */
  'suggest/complete': { params: suggestRequestSchema, result: suggestResultSchema },
  /** Counts a suggestion that was shown, and whether it was accepted. Only the count is kept, on this machine. */
  'suggest/outcome': { params: suggestOutcomeSchema, result: z.object({}) },
  /** Forgets all such counts. */
  'suggest/forget': { params: z.object({}), result: z.object({}) },
  /**
   * The next turn of a conversation that the client holds. A person's message begins a run; what the client's tools returned goes to the same
   * speaker. Text streams as notifications. Cancelling cancels the run; the same request again takes it up without paying again.
   */
  'converse/turn': { params: converseRequestSchema, result: converseResultSchema },
  /** About how many tokens a request holds. Costs nothing. */
  'converse/count': { params: conversationSchema.pick({ messages: true, tools: true }), result: z.object({ tokens: z.number().int().nonnegative() }) },
  /**
   * Opens the endpoint for other programs at a port of 127.0.0.1, 0 for a free one, until the client's connection ends. What goes wrong there comes
   * as `serve/said`. Refused with `port-taken`.
   */
  'serve/open': { params: z.object({ port: z.number().int().min(0).max(65_535) }), result: z.object({ port: z.number().int() }) },
  /** Whether a training could start. Starts nothing and costs nothing. */
  'training/check': {
    params: z.object({ workspace: z.string().min(1).max(4_096), config: trainingConfigSchema.prefault({}) }),
    result: trainingCheckSchema,
  },
  /** Starts a training on a project's tests. Replies once it is on disk; the rest follows as notifications. */
  'training/start': {
    params: z.object({ workspace: z.string().min(1).max(4_096), config: trainingConfigSchema.prefault({}) }),
    result: trainingSchema,
  },
  /** What the journal has to learn from, of a project or of all. Starts nothing and costs nothing. */
  'training/outcomes': { params: z.object({ workspace: z.string().min(1).max(4_096).optional() }), result: outcomesCheckSchema },
  /** Starts a training that learns from it. Nobody is paid. Replies once it is on disk; the rest follows as notifications. */
  'training/learn': { params: z.object({ workspace: z.string().min(1).max(4_096).optional() }), result: trainingSchema },
  /** Newest first. */
  'training/list': { params: z.object({ workspace: z.string().optional() }), result: z.object({ trainings: z.array(trainingSummarySchema) }) },
  'training/get': { params: trainingRef, result: trainingSchema },
  /** Returns the current training. All later changes follow as notifications, without a gap. */
  'training/subscribe': { params: trainingRef, result: trainingSchema },
  'training/unsubscribe': { params: trainingRef, result: nothing },
  /** The admitted and rejected tasks, with reasons; while tasks are made, those tried so far. */
  'training/tasks': {
    params: trainingRef.extend({ offset: z.number().int().nonnegative().default(0), limit: z.number().int().min(1).max(500).default(100) }),
    result: taskNotesSchema,
  },
  'training/rollout': { params: trainingRef.extend({ runId }), result: wholeRolloutSchema },
  /** Pauses immediately and unloads the model. Paid results are kept. */
  'training/pause': { params: trainingRef, result: nothing },
  /** `budget`: the new total limits, including what is already spent. They also apply to an active training. */
  'training/resume': { params: trainingRef.extend({ budget: trainingLimitsSchema.optional() }), result: nothing },
  /** Ends the training after the completed steps, then compares and offers the result. */
  'training/finish': { params: trainingRef, result: nothing },
  'training/cancel': { params: trainingRef, result: nothing },
  /** Makes the Conductor plan with the trained adapter. */
  'training/adopt': { params: trainingRef, result: trainingSchema },
  /** Restores the previous adapter. */
  'training/goBack': { params: trainingRef, result: trainingSchema },
  /** Deletes the training and its runs permanently. Refused while it is active or its adapter is in use. */
  'training/remove': { params: trainingRef, result: nothing },
  /** What an evaluation would cost; no worker is called. Tasks of a project are made for it, which takes minutes and is told. */
  'evaluation/estimate': { params: evaluationRequestSchema, result: evaluationOfferSchema },
  /** Runs it in the background. One of the same tasks goes on. */
  'evaluation/start': { params: evaluationRequestSchema, result: evaluationRef },
  /** Newest first. */
  'evaluation/list': { params: nothing, result: z.object({ evaluations: z.array(evaluationSummarySchema) }) },
  /** Of any folder that has one. */
  'evaluation/get': { params: evaluationRef, result: evaluationSchema },
  'evaluation/samples': { params: samplesRequestSchema, result: samplesSchema },
  'evaluation/sample': { params: evaluationRef.extend({ contestant: z.string().max(1_000), task: z.string().max(10_000), seed: z.number().int() }), result: wholeSampleSchema },
  /** What was paid for is kept. */
  'evaluation/stop': { params: evaluationRef, result: nothing },
  /** Goes on with one that is not under way; with another budget, if one is given. */
  'evaluation/resume': { params: evaluationRef.extend({ budget: evaluationBudgetSchema.optional() }), result: nothing },
  /** Deletes it with the answers that were paid for. Refused while it is under way. */
  'evaluation/remove': { params: evaluationRef, result: nothing },
  /** The simulated pool that stands in for that of workers.json; null if there is none. */
  'simulation/get': { params: nothing, result: z.object({ simulation: simulationSchema.nullable() }) },
  /** Starts a simulated pool. It ends with this connection. Refused while another one runs. */
  'simulation/begin': { params: simulationRequestSchema, result: simulationSchema },
  /** Ends the simulated pool, whoever began it. */
  'simulation/end': { params: nothing, result: nothing },
} as const;

/** Notifications of the backend to its clients. */
export const backendNotifications = {
  'run/event': storedEventSchema,
  'run/text': runTextSchema,
  /** A run started or changed its state; for lists. */
  'run/changed': runSummarySchema,
  'run/removed': runRef,
  /** A change of a training that the client has subscribed to. */
  'training/event': trainingEventSchema,
  /** A training started, or its list entry changed. */
  'training/changed': trainingSummarySchema,
  'training/removed': trainingRef,
  /** To all clients. The table and the samples are read with `evaluation/get`. */
  'evaluation/changed': evaluationSummarySchema,
  'evaluation/removed': evaluationRef,
  /** To the client that asked for the estimate: candidates for tasks of a project are tried. */
  'evaluation/preparing': z.object({ tried: z.number().int(), candidates: z.number().int(), admitted: z.number().int() }),
  /** To the client that asked for the suggestion. */
  'suggest/text': suggestTextSchema,
  /** To the client that asked for the turn. */
  'converse/text': converseTextSchema,
  /** To the client that opened the endpoint, for the person who runs it. */
  'serve/said': z.object({ line: z.string() }),
  /** A simulated pool has begun or ended. */
  'pool/changed': z.object({}),
  'model/status': localModelStatusSchema,
  'model/pullProgress': pullProgressSchema,
} as const;

/** Requests of the backend to its clients. */
export const backendRequests = {
  /** `value` is null where the client has no such key. */
  'client/secret': { params: z.object({ name: z.string() }), result: z.object({ value: z.string().nullable() }) },
  'client/confirm': {
    params: z.object({
      title: z.string(), detail: z.string(), accept: z.string(),
      /** A command that makes the question unnecessary, for the user to copy. */
      remedy: z.string().optional(),
      /** The run that needs the answer, for clients that serve a single run. */
      runId: z.string().optional(),
    }),
    result: z.object({ accepted: z.boolean() }),
  },
  /** Which Python environment the person uses for a project (an absolute folder); null if the client knows of none. */
  'client/python': { params: z.object({ workspace: z.string() }), result: z.object({ python: personPythonSchema.nullable() }) },
  /** Calls a model that only the client can reach, such as VS Code's own. Text streams as `client/modelText`. */
  'client/model': {
    params: z.object({
      callId: z.string(),
      provider: providerSchema,
      model: z.string(),
      messages: z.array(modelMessageSchema),
      maxOutputTokens: z.number().int(),
    }),
    result: z.object({
      text: z.string(), inputTokens: z.number().int().nonnegative(), outputTokens: z.number().int().nonnegative(),
    }),
  },
} as const;

/** Notifications of a client to the backend. */
export const clientNotifications = {
  'client/modelText': z.object({ callId: z.string(), text: z.string() }),
  /** A key was stored or changed. Runs that wait for it continue. */
  'client/secretChanged': z.object({ name: z.string() }),
} as const;

interface RequestRow {
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}
export type RequestMap = Readonly<Record<string, RequestRow>>;
export type NotificationMap = Readonly<Record<string, z.ZodType>>;

export type ClientRequests = typeof clientRequests;
export type BackendRequests = typeof backendRequests;
export type BackendNotifications = typeof backendNotifications;
export type ClientNotifications = typeof clientNotifications;

/** The caller's parameters (defaults optional), the handler's parameters, and the result. */
export type ParamsInput<M extends RequestMap, K extends keyof M> = z.input<M[K]['params']>;
export type Params<M extends RequestMap, K extends keyof M> = z.output<M[K]['params']>;
export type Result<M extends RequestMap, K extends keyof M> = z.output<M[K]['result']>;

/** Application error codes; all others are defined by JSON-RPC. */
export const ERROR_CODES = {
  incompatible: -32_001,
  notInitialized: -32_002,
  notFound: -32_003,
  refused: -32_004,
} as const;

/** The largest message a client may send, in bytes: a question with its pictures in base64, and room for the rest. The backend closes the connection at a larger one. */
export const MAX_MESSAGE_BYTES = 12 * 1024 * 1024;
