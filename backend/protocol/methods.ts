import * as z from 'zod';
import { foundServersSchema, listedModelsSchema, namedServerSchema } from './found-servers.ts';
import {
  localModelsSchema, localModelStatusSchema, modelNameSchema, pulledModelSchema, pullProgressSchema,
} from './local-models.ts';
import { contextPieceSchema, leftOutSchema, runKindSchema, runTextSchema, storedEventSchema } from './run-events.ts';
import { runRequestSchema } from './run-request.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { suggestRequestSchema, suggestResultSchema, suggestTextSchema } from './suggestions.ts';
import { foundTestsSchema, testCommandSchema } from './test-command.ts';
import {
  taskNotesSchema, trainingCheckSchema, trainingConfigSchema, trainingEventSchema, trainingLimitsSchema, trainingSchema, trainingSummarySchema,
  wholeRolloutSchema,
} from './training.ts';
import { costSchema, usageSchema } from './usage.ts';
import { budgetOverrideSchema, budgetSchema, localSettingsSchema, providerSchema, workerConfigSchema } from './worker-config.ts';

/*
 * Every message that crosses the socket. A request is a row with the schemas of its parameters and of its result; both ends validate
 * what they receive against the same row.
 */

const runId = z.string().min(1).max(64);
const runRef = z.object({ runId });
/** A round of a run, or a step of a round, from 0. */
const place = z.number().int().min(0).max(100);
const trainingRef = z.object({ trainingId: z.string().min(1).max(64) });
const nothing = z.object({});

/** What a client can do for the backend when asked. */
export const capabilitySchema = z.enum(['secret', 'confirm', 'model']);
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
    reason: z.string().optional(),
    /** A command line for the person that brings what is missing, where one is known. */
    remedy: z.string().optional(),
  }),
});
export type Health = z.infer<typeof healthSchema>;

/** Health with what has to be looked at anew each time. */
export const healthDetailsSchema = healthSchema.extend({
  storage: z.object({
    /** Absolute path of the folder with workers.json and the journal. */
    home: z.string(),
    writable: z.boolean(),
    /** Of its disk; absent where the system does not say. */
    freeBytes: z.number().nonnegative().optional(),
    journalBytes: z.number().nonnegative(),
  }),
  /**
   * Whether the enabled workers' servers answer and have the model: `unlisted` where one does not say which it has, `unasked` where
   * only a call would tell, which may cost something.
   */
  servers: z.array(z.object({
    worker: z.string(), state: z.enum(['answers', 'unlisted', 'silent', 'unasked']), reason: z.string().optional(),
  })),
  /** How the last call of each enabled worker ended, if there was one since the backend began; without `problem` it answered. */
  lastCalls: z.array(z.object({ worker: z.string(), problem: z.string().optional() })).optional(),
  /** What today has cost of what counts, and the limits of workers.json; absent where that cannot be read. */
  budget: z.object({ today: z.object({ usd: z.number(), tokens: z.number() }), limits: budgetSchema }).optional(),
  /** Why workers.json cannot be read; one sentence. */
  workersFileProblem: z.string().optional(),
});
export type HealthDetails = z.infer<typeof healthDetailsSchema>;

/** A worker as clients list it. `ready` is false where its key is missing; `reason` then says so in one sentence. */
export const workerStatusSchema = z.object({
  worker: workerConfigSchema,
  ready: z.boolean(),
  reason: z.string().optional(),
  priced: z.boolean(),
});
export type WorkerStatus = z.infer<typeof workerStatusSchema>;

export const poolSchema = z.object({
  file: z.string(),
  conductor: z.string().optional(),
  /** The model that is part of Conductor: plans where `conductor` names nobody. Absent in a build without one. */
  bundledConductor: workerConfigSchema.optional(),
  workers: z.array(workerStatusSchema),
  /** As workers.json has it. */
  warnAtPercent: budgetSchema.shape.warnAtPercent,
});
export type Pool = z.infer<typeof poolSchema>;

export const runSummarySchema = z.object({
  runId: z.string(),
  kind: runKindSchema,
  question: z.string(),
  workspace: z.string().optional(),
  state: z.enum(['running', 'waiting', 'stopped', 'completed', 'failed', 'cancelled']),
  outcome: z.enum(['verified', 'not-verified', 'unchecked']).optional(),
  acceptedAt: z.number(),
  updatedAt: z.number(),
  usd: z.number(),
  unpricedTokens: z.number(),
  simulated: z.boolean(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** A whole-file edit, worked out against the workspace as it is now. `before` is null for a file that does not exist. */
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
      /** Folders the client has open: it is asked first about runs in them. */
      workspaces: z.array(z.string().max(4_096)).max(32).default([]),
    }),
    result: z.object({ protocol: z.object({ major: z.number(), minor: z.number() }), health: healthSchema }),
  },
  'backend/health': { params: nothing, result: healthSchema },
  /** Health with what is looked at anew: the disk, and the servers of workers on this machine. */
  'backend/healthDetails': { params: nothing, result: healthDetailsSchema },
  /**
   * Ends the process once its answer is sent; runs under way go on at the next start. With `ifIdle` it refuses while another client is
   * connected or a run is under way. Every version answers it, before `initialize` too, so that a newer client can replace an older backend.
   */
  'backend/stop': { params: z.object({ ifIdle: z.boolean().default(false) }), result: nothing },
  'pool/get': { params: nothing, result: poolSchema },
  /** Writes workers.json where there is none yet, with nobody in it. */
  'pool/create': { params: nothing, result: poolSchema },
  /** Adds the worker, or replaces the one with the same id. */
  'worker/save': {
    params: z.object({ worker: workerConfigSchema, conductor: z.boolean().default(false) }),
    result: poolSchema,
  },
  'worker/remove': { params: z.object({ id: z.string() }), result: poolSchema },
  /** Who plans from now on; null: the model that is part of Conductor. */
  'conductor/choose': { params: z.object({ id: z.string().nullable() }), result: poolSchema },
  /** Model servers that answer on this machine, each asked for its list of models and nothing else. */
  'servers/find': { params: nothing, result: foundServersSchema },
  /** The models of a server that somebody named: it is asked for its list and nothing else. */
  'servers/models': { params: z.object({ server: namedServerSchema }), result: listedModelsSchema },
  /** One small real call; `worker` need not be saved yet. `kind`: of the failure, where it is one. */
  'worker/try': {
    params: z.object({ worker: workerConfigSchema }),
    result: z.object({
      ok: z.boolean(), kind: z.string().optional(), message: z.string(), text: z.string(), durationMs: z.number(), usage: usageSchema, cost: costSchema,
    }),
  },
  /** The models of this machine, those that are known to work, and the one that suits this machine. */
  'models/list': { params: nothing, result: localModelsSchema },
  /** Downloads a model. It goes on where an earlier download stopped; `model/pullProgress` tells the client that asked how far it is. */
  'models/pull': {
    params: z.object({
      repo: modelNameSchema,
      revision: z.string().min(1).max(200).optional(),
      /** For a model that is not open to everybody; sent to the hub and kept nowhere. */
      token: z.string().min(1).max(500).optional(),
    }),
    result: pulledModelSchema,
  },
  /** Has a model of this machine play the Conductor, and with `worker` answer, too. Its files are looked at first. */
  'model/choose': { params: z.object({ model: modelNameSchema, worker: z.boolean().default(true) }), result: poolSchema },
  /** Loads a model now instead of with the first question; a cancelled request unloads it. */
  'model/load': { params: z.object({ model: modelNameSchema }), result: localModelStatusSchema },
  /** Frees the memory that a model takes. What it is asked at the moment, and the loading itself, ends with an error. */
  'model/unload': { params: z.object({ model: modelNameSchema }), result: nothing },
  /** Of each model that was used since the backend began; later changes come as notifications. */
  'model/status': { params: nothing, result: z.object({ models: z.array(localModelStatusSchema) }) },
  /** Changes how local models are run and fetched; null takes a setting back. They count from the next load on. */
  'models/configure': {
    params: z.object({
      device: localSettingsSchema.shape.device.unwrap().nullable(),
      precision: localSettingsSchema.shape.precision.unwrap().nullable(),
      packageIndex: localSettingsSchema.shape.packageIndex.unwrap().nullable(),
      hubEndpoint: localSettingsSchema.shape.hubEndpoint.unwrap().nullable(),
    }).partial(),
    result: localSettingsSchema,
  },
  /** What a question would be sent with; nothing leaves the machine. */
  'context/preview': {
    params: z.object({ request: runRequestSchema }),
    result: z.object({
      pieces: z.array(contextPieceSchema),
      leftOut: z.array(leftOutSchema),
      tokens: z.number(),
      text: z.string(),
      /** The test command the answer will be checked with, if one was found. */
      testCommand: z.string().nullable(),
      /** The runner whose report is read then. */
      testRunner: z.string().optional(),
    }),
  },
  /** Every way to run a workspace's tests that its files show, the likeliest first. Nothing is run. */
  'tests/find': {
    params: z.object({ workspace: z.string().min(1).max(4_096) }),
    result: z.object({ found: z.array(foundTestsSchema) }),
  },
  /** The runner whose report of this command would be read; null where nothing could judge by it. Nothing is run. */
  'tests/runner': {
    params: testCommandSchema.extend({ workspace: z.string().min(1).max(4_096) }),
    result: z.object({ runner: z.string().nullable() }),
  },
  /** Answers as soon as the run is in the journal; everything else comes as events. */
  'run/start': { params: z.object({ request: runRequestSchema }), result: runRef },
  /** The same about a sample project, with simulated workers that say so; refused once there is a worker. */
  'run/demonstrate': { params: nothing, result: runRef },
  'run/cancel': { params: runRef, result: nothing },
  /** `budget`: limits instead of those that the run was started with. */
  'run/resume': { params: runRef.extend({ budget: budgetOverrideSchema.optional() }), result: nothing },
  /**
   * Asks one step of a run that is over again, with what came of it: the steps that read it, the tests, later rounds. It is a new run; the
   * rest of the old one is kept in it and not paid for again. `budget`: limits of the new run instead of those of the old one.
   */
  'run/retry': { params: runRef.extend({ round: place, step: place, budget: budgetOverrideSchema.optional() }), result: runRef },
  /** Asks a run's question again in a new run, with the same context. Who is not named is chosen as for a question of its own. */
  'run/again': {
    params: runRef.extend({
      workers: runRequestSchema.shape.workers,
      conductor: runRequestSchema.shape.conductor,
      trusted: runRequestSchema.shape.trusted,
      budget: budgetOverrideSchema.optional(),
    }),
    result: runRef,
  },
  /** Removes a run that is over, for good. What it cost still counts for its day. */
  'run/remove': { params: runRef, result: nothing },
  /** The run as a file for others: a document for people, or all of it for programs. Neither holds a key, or lines that look like one. */
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
  /** The snapshot as of now; from here on the run's events and text come as notifications, without a gap. */
  'run/subscribe': { params: runRef, result: z.object({ run: snapshot }) },
  'run/unsubscribe': { params: runRef, result: nothing },
  /**
   * What the worker of a step was or is sent, or without `step` whoever plays the Conductor, for its last text in the round; refused while
   * what the step reads is not there.
   */
  'run/prompt': {
    params: runRef.extend({ round: place, step: place.optional() }),
    result: z.object({ messages: z.array(modelMessageSchema) }),
  },
  /** The answer's edits against the workspace as it is now. */
  'run/edits': {
    params: runRef,
    result: z.object({ edits: z.array(fileEditSchema), refused: z.array(leftOutSchema) }),
  },
  /**
   * What belongs at a cursor. Its text comes as notifications while it streams; a cancelled request ends the worker's. Whom to ask is
   * decided once for a language in a project, which makes the first request of all take as long as a plan.
   */
  'suggest/complete': { params: suggestRequestSchema, result: suggestResultSchema },
  /** Trains the Conductor of this machine on a project's tests. Answers once the training is on disk; everything else comes as notifications. */
  /** Whether a training could begin; nothing is begun or paid for. */
  'training/check': {
    params: z.object({ workspace: z.string().min(1).max(4_096), config: trainingConfigSchema.prefault({}) }),
    result: trainingCheckSchema,
  },
  'training/start': {
    params: z.object({ workspace: z.string().min(1).max(4_096), config: trainingConfigSchema.prefault({}) }),
    result: trainingSchema,
  },
  /** Newest first. */
  'training/list': { params: z.object({ workspace: z.string().optional() }), result: z.object({ trainings: z.array(trainingSummarySchema) }) },
  'training/get': { params: trainingRef, result: trainingSchema },
  /** The training as of now; from here on its changes come as notifications, without a gap. */
  'training/subscribe': { params: trainingRef, result: trainingSchema },
  'training/unsubscribe': { params: trainingRef, result: nothing },
  /** Its tasks and those that were left out, with the reasons; while they are being made, those that were tried so far. */
  'training/tasks': {
    params: trainingRef.extend({ offset: z.number().int().nonnegative().default(0), limit: z.number().int().min(1).max(500).default(100) }),
    result: taskNotesSchema,
  },
  'training/rollout': { params: trainingRef.extend({ runId }), result: wholeRolloutSchema },
  /** Stops at once, and frees the model; nothing that was paid for is lost. */
  'training/pause': { params: trainingRef, result: nothing },
  /** `budget`: limits that it is held by from now on, what is spent included; one that is under way goes on with them. */
  'training/resume': { params: trainingRef.extend({ budget: trainingLimitsSchema.optional() }), result: nothing },
  /** Ends it after the steps that are done: what it has learned by then is compared and offered. */
  'training/finish': { params: trainingRef, result: nothing },
  'training/cancel': { params: trainingRef, result: nothing },
  /** Has the Conductor plan with what was trained. */
  'training/adopt': { params: trainingRef, result: trainingSchema },
  /** Has it plan with what it planned with before. */
  'training/goBack': { params: trainingRef, result: trainingSchema },
  /** Removes it and its runs for good; refused while it is under way or what it made is planned with. */
  'training/remove': { params: trainingRef, result: nothing },
} as const;

/** Notifications of the backend to its clients. */
export const backendNotifications = {
  'run/event': storedEventSchema,
  'run/text': runTextSchema,
  /** A run began or changed its state: for lists. */
  'run/changed': runSummarySchema,
  'run/removed': runRef,
  /** A change of a training that the client has subscribed to. */
  'training/event': trainingEventSchema,
  /** A training began, or a list would show it otherwise. */
  'training/changed': trainingSummarySchema,
  'training/removed': trainingRef,
  /** To the client that asked for the suggestion. */
  'suggest/text': suggestTextSchema,
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
      /** A command line that would make the question needless, for the person to copy. */
      remedy: z.string().optional(),
      /** The run that asks, for clients that answer for one run only. */
      runId: z.string().optional(),
    }),
    result: z.object({ accepted: z.boolean() }),
  },
  /** A call of a model that only the client can reach, such as VS Code's own. Text streams by `client/modelText`. */
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
  /** A key was stored or changed: runs that wait for it go on. */
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

/** What the caller passes (defaults may be left out), what the handler gets, and what comes back. */
export type ParamsInput<M extends RequestMap, K extends keyof M> = z.input<M[K]['params']>;
export type Params<M extends RequestMap, K extends keyof M> = z.output<M[K]['params']>;
export type Result<M extends RequestMap, K extends keyof M> = z.output<M[K]['result']>;

/** JSON-RPC error codes of ours; the rest are JSON-RPC's own. */
export const ERROR_CODES = {
  incompatible: -32_001,
  notInitialized: -32_002,
  notFound: -32_003,
  refused: -32_004,
} as const;

/** The largest message a client may send, in bytes. The backend closes the connection at a larger one. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
